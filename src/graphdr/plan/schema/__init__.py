"""The blocks of config.yaml as types with their defaults, one module per group of blocks."""
