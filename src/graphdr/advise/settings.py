"""What advice takes of a configuration: that of a project, or the one that comes with the package."""

import json
from pathlib import Path

from graphdr.advise.paper import block

SHIPPED = Path(__file__).with_name("settings.json")  # written from config.yaml by `make docs`


def of(config: dict) -> dict:
    """Return what advice takes of a project's configuration, with the defaults of its methods written out."""
    from graphdr.plan.blocks import Method  # which needs the workflow's packages
    from graphdr.plan.plays import KNOBS

    methods = {name: Method(**entry).model_dump(include=KNOBS) for name, entry in block.methods(config).items()}
    return {key: config[key] for key in ("seed", "protocol", "observed")} | {"methods": methods}


def shipped() -> dict:
    """Return the settings that come with the package, for those who have no project."""
    return json.loads(SHIPPED.read_text(encoding="utf-8"))
