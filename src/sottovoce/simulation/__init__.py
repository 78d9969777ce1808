"""Running a method on a graph."""
