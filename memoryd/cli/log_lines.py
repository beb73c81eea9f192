"""The lines of the log of memoryd: read, chosen, and shown to a person."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from memoryd.cli.terminal import harmless, harmless_line, styled
from memoryd.config.section import parse_duration

COLOURS = {"warning": "yellow", "error": "red", "critical": "red"}
GRAVEST = ("critical", "exception")
"""Shown whatever level is asked for."""
SHOWN_FIRST = ("timestamp", "level", "event", "exception")


@dataclass(frozen=True, slots=True)
class LogLine:
    """One line; `fields` is empty where it is no event, as the lines of a traceback that ended the process."""

    text: str
    fields: Mapping[str, object]

    @property
    def level(self) -> str:
        return str(self.fields.get("level", ""))

    @property
    def at(self) -> datetime | None:
        """When it was said; None if it does not say."""
        try:
            moment = datetime.fromisoformat(str(self.fields.get("timestamp", "")))
        except ValueError:
            return None
        return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class LogFilter:
    """Which lines are wanted; those that are no events are, unless a time is asked for."""

    levels: Sequence[str]
    since: datetime | None = None

    def takes(self, line: LogLine) -> bool:
        """Tell whether a line is wanted."""
        if self.since is not None and (line.at is None or line.at < self.since):
            return False
        return not line.level or line.level in self.levels or line.level in GRAVEST


def log_line(text: str) -> LogLine:
    """Take a line apart; raises nothing."""
    try:
        fields = json.loads(text)
    except (ValueError, RecursionError):
        fields = {}
    return LogLine(text, fields if isinstance(fields, dict) and "event" in fields else {})


def since_time(text: str | None, now: datetime) -> datetime | None:
    """Read `10m`, `2h`, `1d`, or a time of the local clock; raises ValueError."""
    if not text:
        return None
    try:
        return now - parse_duration(text.strip())
    except ValueError:
        # aware, as a time without a zone is one of the local clock
        return datetime.fromisoformat(text.strip()).astimezone()


def shown_line(line: LogLine) -> str:
    """Return a line for a person: local time, level, event, and the rest as `name=value`."""
    if not line.fields:
        return harmless(line.text)
    at = line.at.astimezone().strftime("%m-%d %H:%M:%S") if line.at else "-"
    level = styled(f"{line.level:<7}", colour=COLOURS.get(line.level))
    rest = {name: value for name, value in line.fields.items() if name not in SHOWN_FIRST}
    details = " ".join(f"{name}={_value(value)}" for name, value in rest.items())
    stack = "".join(f"\n    {harmless(one)}" for one in str(line.fields.get("exception", "")).splitlines())
    return f"{at}  {level} {harmless_line(str(line.fields['event']))}  {harmless_line(details)}".rstrip() + stack


def _value(value: object) -> str:
    return value if isinstance(value, str) and value and " " not in value else json.dumps(value, ensure_ascii=False)
