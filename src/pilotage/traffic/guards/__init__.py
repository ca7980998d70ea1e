"""The room of the guards that hold back a dangerous snapshot; pure."""
