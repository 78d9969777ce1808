"""Figures: drawing only, every number comes from elsewhere. Matplotlib is imported when something is drawn."""
