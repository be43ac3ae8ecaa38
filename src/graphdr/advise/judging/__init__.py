"""Policies judged by a log: its reading, the policies, what they play in its rounds, the estimates, and their words."""
