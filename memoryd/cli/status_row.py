"""A row of the status: a name, and what is told of it."""

from datetime import datetime

from rich.text import Text

from memoryd.cli.terminal import ago, harmless_line

StatusRow = tuple[str, Text]
"""A name and what is told of it; a row without a name goes on with the one before."""


def row_text(*parts: str, style: str = "") -> Text:
    """Join what is not empty; names of files and reasons may hold anything."""
    return Text(" · ".join(harmless_line(part) for part in parts if part), style=style)


def time_since(moment: str | None, now: datetime) -> str:
    """Return how long it is that way, in words."""
    return ago(moment, now).removesuffix(" ago") if moment else "an unknown time"


def warning(is_bad: bool) -> str:
    """Return the style of what may be bad."""
    return "yellow" if is_bad else ""
