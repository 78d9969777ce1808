"""One peer as a process: service, operator's socket, metrics, logs, reading the private value."""
