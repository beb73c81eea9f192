"""The files that units are made of; they come with the package, and stand beside it in a checkout."""

from pathlib import Path
from typing import Final

PLACES: Final = (Path(__file__).parent, Path(__file__).parents[2])


def unit_template(name: str) -> str:
    """Return a file such as `systemd/memoryd.service`; raises FileNotFoundError."""
    for place in PLACES:
        if (place / name).is_file():
            return (place / name).read_text(encoding="utf-8")
    raise FileNotFoundError(name)
