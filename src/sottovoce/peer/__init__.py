"""The networked node: private averaging between real machines, exact under failure."""
