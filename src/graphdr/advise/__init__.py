"""``graphdr advise``: files of a user to a simulation on held-out rewards, or to the paper's build, and advice.

May import plan and what is below it.
"""
