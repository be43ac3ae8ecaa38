"""Graphs, random or from data, their spectra, and the bases and arm features made of them: arrays in, arrays out.

May import core; never touches files.
"""
