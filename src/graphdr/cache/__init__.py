"""Cached files: parquet with declared schemas and hashes, the manifest, fingerprints of code, and where files live.

May import core.
"""
