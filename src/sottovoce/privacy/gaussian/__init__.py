"""Gaussian tools: posteriors, differential privacy arithmetic, the account a node keeps. Light: a peer imports them."""
