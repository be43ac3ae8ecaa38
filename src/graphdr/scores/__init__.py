"""Analysis of runs: measures, settings, scores of predictors, ranks, off-policy estimates, and the cells of tables.

Reads no files. May import facts and the layers below it.
"""
