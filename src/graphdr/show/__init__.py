"""What a reader sees: tables, figures and the report.

May import paper, panels and what is below them.
"""
