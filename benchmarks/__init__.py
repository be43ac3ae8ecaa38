"""Benchmarks: what the kernels, the solvers and the whole method cost, against peers and the machine's limit."""
