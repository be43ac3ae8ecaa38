"""One module per rule: read, compute, write."""
