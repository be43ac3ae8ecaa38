"""The paper's numbers and claims, set beside ours and judged.

May import scores and what is below it.
"""
