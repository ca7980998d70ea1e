"""What turns files, folders and clusters into the objects of a scene."""
