"""The paper's theory: constants, radii's ingredients, regret bounds and rotations, and runs set against them.

May import graphs and core; never touches files.
"""
