"""From config.yaml to jobs: the configuration, the design that it expands into, and a job for every rule.

May import stages and what is below them.
"""
