"""The asyncio shell around the protocol: it moves messages and time."""
