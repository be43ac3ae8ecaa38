"""Everything that a reader sees: tables, figures and the report.

Draws from frames and arrays, never from files. May import paper and the layers below it.
"""
