"""Write what ``graphdr advise`` takes of config.yaml, which comes with the package; ``make docs`` runs it."""

import json
from pathlib import Path

from graphdr.advise import settings
from graphdr.plan import config

CONFIG = Path(__file__).parents[1] / "config.yaml"


def text() -> str:
    """Return the settings of config.yaml as JSON."""
    return json.dumps(settings.of(config.load(CONFIG).plain()), indent=1) + "\n"


if __name__ == "__main__":
    settings.SHIPPED.write_text(text(), encoding="utf-8")
    print(f"Wrote {settings.SHIPPED.relative_to(CONFIG.parent)}")
