"""``graphdr advise``: files of a user to blocks of a configuration, a build of its own, and advice.

May import plan and what is below it.
"""
