"""Step-addressed randomness: its definition, its compiled form, and edges that are not equally likely."""
