"""Facts about a problem that need no bandit run, and the registry of all of them.

May import bandit and what is below it, but no files: neither cache nor raw.
"""
