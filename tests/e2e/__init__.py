"""Real processes and a real browser."""
