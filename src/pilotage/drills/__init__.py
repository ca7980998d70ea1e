"""The room of the drills: failures reproduced on real components; empty until they are built."""
