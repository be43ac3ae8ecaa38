"""``graphdr advise``: read a user's files, simulate methods on held-out rewards, and say whether the graph helps.

May import serve and what is below it.
"""
