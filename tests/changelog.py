"""The changelog as releases see it: a heading for each, the newest first, `## 1.2.3 (2026-01-31)`."""

import re
from pathlib import Path
from typing import NamedTuple

CHANGELOG = Path(__file__).parents[1] / "CHANGELOG.md"
_HEADING = re.compile(r"^## (?P<version>\d\S*)(?: \((?P<date>\d{4}-\d{2}-\d{2}|unreleased)\))?$", re.MULTILINE)


class Release(NamedTuple):
    """A version, and the day it came out; no day while it is being worked on."""

    version: str
    date: str


def releases(text: str | None = None) -> list[Release]:
    """Return the releases that the changelog tells of, in its order."""
    found = _HEADING.finditer(CHANGELOG.read_text(encoding="utf-8") if text is None else text)
    return [Release(one["version"], "" if one["date"] == "unreleased" else one["date"] or "") for one in found]


def newest_release() -> Release:
    """Return the one at the top."""
    return releases()[0]
