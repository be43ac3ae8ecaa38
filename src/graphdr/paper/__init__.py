"""The paper's numbers and claims: compare them with ours and judge them.

May import scores and the layers below it.
"""
