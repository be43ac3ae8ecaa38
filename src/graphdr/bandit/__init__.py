"""Bandits: rewards, candidates and noise, LinUCB kernels, radius rules, pilots and methods.

May import theory, graphs and core; never touches files.
"""
