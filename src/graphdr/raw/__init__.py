"""Raw data: fetching and checking archives, strict text, and an adapter per format.

May import cache and what is below it.
"""
