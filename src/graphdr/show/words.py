"""Labels and explanations for readers, from words.toml: verdicts, factors, symbols and terms."""

import tomllib
from importlib.resources import files

TEXTS = tomllib.loads((files("graphdr.show") / "words.toml").read_text(encoding="utf-8"))
NUMBERS, CLAIMS, FACTORS, SYMBOLS, WORDS = (TEXTS[k] for k in ("numbers", "claims", "factors", "symbols", "words"))
ON_THE_PAGE = ("instance", "panel", "seed", "basis", "SBM", "RGG", "LinUCB", "leaderboard", "s.e.m.")  # explained there


def glossary() -> dict[str, str]:
    """Return the meaning of every term and symbol of the page, in all its spellings."""
    symbols = {form: entry["meaning"] for entry in SYMBOLS for form in entry.get("forms", [entry["symbol"]])}
    words = {word: WORDS[word] for word in ON_THE_PAGE}
    plural = {f"{word}s": words[word] for word in ("instance", "seed")}
    return {form: meaning.replace("`", "") for form, meaning in (symbols | words | plural).items()}


def meanings() -> dict[str, str]:
    """Return the meaning of the columns of tables, by quantity."""
    return {name: entry["meaning"].replace("`", "") for entry in SYMBOLS for name in entry.get("quantities", [])}
