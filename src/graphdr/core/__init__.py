"""Errors, named randomness, compiled functions, atomic writes and the terminal. Imports no other subpackage."""
