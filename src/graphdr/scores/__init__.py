"""What is made of runs: measures, scores of predictors, off-policy estimates, and the grammar of a table's cell.

May import facts and what is below it, but no files: neither cache nor raw.
"""
