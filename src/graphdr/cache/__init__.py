"""Cached files: parquet with declared schemas and hashes, the manifest, fingerprints of code, and paths.

May import core.
"""
