"""The commands of `pilotage library`."""
