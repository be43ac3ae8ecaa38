"""Graphs, bases, rewards and facts of all instances, in and out of cached tables.

May import the compute subpackages and cache.
"""
