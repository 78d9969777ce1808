"""The kinds of method, one module each: the compiled driver, the plain runner, the replay."""
