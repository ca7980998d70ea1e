"""The room of the check families, one file each; a family imports no client."""
