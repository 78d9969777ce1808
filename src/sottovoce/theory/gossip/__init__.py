"""Algorithm 1 and standard gossip: bounds, the exact expectation, rates, duality."""
