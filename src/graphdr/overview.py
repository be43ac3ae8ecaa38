"""The overview picture."""
