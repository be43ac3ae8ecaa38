"""GraphDR-LinUCB: graph dimensionality reduction for contextual bandits."""

__version__ = "0.4.0"
