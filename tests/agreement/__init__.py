"""Independent ways to one number agree: kernel and reference, closed form and solver, prediction and attack."""
