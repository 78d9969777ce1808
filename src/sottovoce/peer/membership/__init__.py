"""Who belongs to a network: keys and cards, the signed roster, founding, configuration."""
