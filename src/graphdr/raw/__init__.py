"""Raw data: download and check archives, read tables and graphs of users and of published data sets within bounds.

May import cache and the layers below it.
"""
