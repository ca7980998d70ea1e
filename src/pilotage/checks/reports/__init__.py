"""The forms in which a report is written out, one file each."""
