"""A served policy in the shapes of other packages: coba, river and the Open Bandit Pipeline. May import serve."""
