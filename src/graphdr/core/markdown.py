"""Tables in Markdown."""


def escape(text: str) -> str:
    """Escape a text for a cell of a table."""
    return text.replace("\\", "\\\\").replace("|", "\\|")


def pipe_table(head: list[str], body: list[list[str]]) -> list[str]:
    """Return the lines of a table, the first column left and the others right."""
    rule = ["---", *["---:"] * (len(head) - 1)]
    return [f"| {' | '.join(texts)} |" for texts in (head, rule, *body)]
