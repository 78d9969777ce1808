"""The command ``sottovoce``: :mod:`.main` and one module per command."""
