"""One file per basis: how it is computed, its features, data, controls and citation (``arm_features.BasisSpec``).

Functions import what loads SciPy themselves, because a bandit run reads the declarations only.
"""
