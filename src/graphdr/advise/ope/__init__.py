"""Off-policy evaluation on a log: read it, replay policies on its rounds, estimate their rewards, and report."""
