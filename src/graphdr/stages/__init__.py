"""One module per rule: what it reads, writes and takes, and ``main``, which reads, computes and writes.

May import every subpackage below plan.
"""
