"""``plan``: a frozen question, one search for each unknown, a frozen plan, and the sentences that explain it."""
