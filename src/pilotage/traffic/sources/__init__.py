"""The room of the sources that tell which servers exist, one file each."""
