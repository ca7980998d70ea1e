"""The only doors outside: databases, processes, networks. Nothing else opens one."""
