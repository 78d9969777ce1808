"""What follows from a view, one module for each description of what a method releases."""
