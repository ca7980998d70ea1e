"""What the incidents say together: related ones with reasons, topics, statistics."""
