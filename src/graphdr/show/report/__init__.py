"""The report: everything that was built, as one self-contained page."""
