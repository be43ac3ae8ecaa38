"""A policy to serve: fit, recommend, update, save. May import bandit, graphs, cache and core."""
