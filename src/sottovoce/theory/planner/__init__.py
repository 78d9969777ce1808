"""``plan``: steps, decay and noise for a wanted accuracy and privacy."""
