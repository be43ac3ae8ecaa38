"""Raw data: download and check archives, read delimited text and Parquet strictly, one adapter per format.

May import cache and the layers below it.
"""
