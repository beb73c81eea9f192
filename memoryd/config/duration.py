"""Durations as people write them: `"5m"`, `"90s"`, `"1h30m"`."""

import re
from datetime import timedelta
from typing import Annotated, Final

from pydantic import BeforeValidator, PlainSerializer, WithJsonSchema

UNIT_SECONDS: Final = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
PART: Final = re.compile(r"(\d+(?:\.\d+)?)\s*(ms|s|m|h|d)\s*")
WHOLE: Final = re.compile(rf"(?:{PART.pattern})+")
LONGEST: Final = timedelta(days=365)
EXPECTED: Final = 'must be a duration such as "30s", "5m" or "1h30m"'


def parse_duration(value: object) -> timedelta:
    """Read a duration; a bare number counts minutes, as OpenClaw has it, and 0 means never.

    Raises ValueError for anything else, and for more than a year.
    """
    if isinstance(value, timedelta):
        duration = value
    elif isinstance(value, str):
        duration = _from_text(value.strip().lower())
    elif isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < LONGEST.total_seconds():
        duration = timedelta(minutes=value)
    else:
        raise ValueError(EXPECTED)
    if not timedelta(0) <= duration <= LONGEST:
        raise ValueError("must lie between 0 and a year")
    return duration


def format_duration(duration: timedelta) -> str:
    """Write a duration in the largest unit that leaves a whole number, or in seconds."""
    seconds = duration.total_seconds()
    for unit in ("h", "m", "s"):
        if seconds and seconds % UNIT_SECONDS[unit] == 0:
            return f"{int(seconds / UNIT_SECONDS[unit])}{unit}"
    return f"{seconds:g}s"


def _from_text(text: str) -> timedelta:
    if re.fullmatch(r"\d{1,9}(\.\d{1,9})?", text):
        return timedelta(minutes=float(text))
    if len(text) > 40 or not WHOLE.fullmatch(text):
        raise ValueError(EXPECTED)
    seconds = sum(float(number) * UNIT_SECONDS[unit] for number, unit in PART.findall(text))
    return timedelta(seconds=min(seconds, LONGEST.total_seconds() + 1))


Duration = Annotated[
    timedelta,
    BeforeValidator(parse_duration),
    PlainSerializer(format_duration, return_type=str),
    WithJsonSchema({"type": ["string", "number"], "description": EXPECTED}),
]
