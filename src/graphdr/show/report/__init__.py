"""The report: one self-contained page of everything that was built."""
