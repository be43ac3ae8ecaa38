"""Interactions that do not fit in memory, read with Dask."""
