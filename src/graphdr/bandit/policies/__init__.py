"""Policies, one module each, which ``bandit.registry`` collects; docs/rivals.md explains those of other papers."""
