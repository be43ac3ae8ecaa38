"""Bandits: rewards, rounds, policies, the simulator, LinUCB kernels, radius rules and pilots.

May import theory, graphs and core; never touches files.
"""
