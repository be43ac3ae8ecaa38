"""Advice before deployment: does a graph help on a user's own data, and how many dimensions of it."""
