"""The commands of `pilotage check`."""
