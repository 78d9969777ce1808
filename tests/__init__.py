"""The tests: a mirror of the package, and the folders below."""
