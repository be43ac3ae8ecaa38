"""Simulate methods on a user's data: rewards are held out from the users behind the graph, and methods are tuned."""
