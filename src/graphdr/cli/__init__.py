"""The command ``graphdr``: list, show, explain and verify what was built.

May import every other subpackage.
"""
