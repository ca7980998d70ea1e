"""What `pilotage.toml` says about checks: which run, how severe they are, what a team lives with."""
