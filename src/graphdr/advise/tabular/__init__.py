"""Read a user's tables and graphs in any usual format, and name all mistakes with their places."""
