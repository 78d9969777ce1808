"""``python -m sottovoce`` is the command ``sottovoce``."""

from .cli.main import main

main()
