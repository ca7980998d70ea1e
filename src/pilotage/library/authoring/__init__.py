"""For those who write records: skeleton, validation, editorial rules."""
