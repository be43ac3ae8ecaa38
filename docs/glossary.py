"""Write the terms and verdicts of docs/glossary.md and docs/verdicts.md from the words of the report; ``make docs``."""

import sys
from pathlib import Path

from docs.markers import between_markers
from graphdr.core import atomic
from graphdr.show import words

DOCS = Path(__file__).parent


def table(head: list[str], rows: list[list[str]]) -> str:
    """Return a markdown table whose columns are all aligned to the left."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |".replace("| --- ", "|---").replace("--- |", "---|") for line in lines)


def parts() -> dict[str, dict[str, str]]:
    """Return what stands between the markers of every page."""
    symbols = [[entry[key] for key in ("symbol", "meaning", "name", "function")] for entry in words.SYMBOLS]

    def verdicts(meanings: dict[str, str]) -> str:
        return table(["verdict", "meaning"], [[f"`{word}`", meaning] for word, meaning in meanings.items()])

    return {
        "glossary.md": {
            "symbols": table(["symbol", "meaning", "name in config and results", "function"], symbols),
            "words": table(["word", "meaning"], [[word, meaning] for word, meaning in words.WORDS.items()]),
        },
        "verdicts.md": {"numbers": verdicts(words.NUMBERS), "claims": verdicts(words.CLAIMS)},
    }


def refreshed(page: str) -> str:
    """Return a page with its tables as the words are now."""
    text = (DOCS / page).read_text(encoding="utf-8")
    for marker, inner in parts()[page].items():
        text = between_markers(text, marker, inner, f"docs/{page}")
    return text


def main() -> int:
    """Write the tables."""
    for page in parts():
        atomic.write_text(refreshed(page), str(DOCS / page))
    print(f"Wrote the tables of {' and '.join(f'docs/{page}' for page in parts())}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
