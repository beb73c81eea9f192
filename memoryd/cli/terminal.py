"""Output for people: text made safe for a terminal, notes on stderr, sizes and times in words."""

import json
import os
import sys
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path
from typing import TextIO

import click

from memoryd.domain.expressions import expression

# ECMA-48: CSI; OSC, DCS, SOS, PM and APC with their string; other two-byte escapes; the 8-bit forms of the same
_ESCAPES = expression(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]?"
    r"|(?:\x1b[\]PX^_]|[\x9d\x90\x98\x9e\x9f])[^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c)?"
    r"|\x1b[ -/]*[0-~]?"
)
# the other C0 and C1 characters except tab and newline, and the marks that reorder a line (U+202A…, U+2066…)
_CONTROLS = expression("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
_C1 = expression("[\x7f-\x9f]")


def harmless(text: str) -> str:
    """Remove escape sequences and control characters, so that a hostile note cannot drive the terminal."""
    return _CONTROLS.sub("", _ESCAPES.sub("", text.replace("\r\n", "\n")))


def harmless_line(text: str) -> str:
    """Return harmless text as one line; each run of white space becomes a blank."""
    return " ".join(harmless(text).split())


def about(entities: Iterable[str], text: str) -> str:
    """Return a text after the entities that it is about: `@Peter: …`."""
    names = " ".join(f"@{harmless_line(name)}" for name in entities)
    return f"{names}: {text}" if names else text


def is_terminal(stream: TextIO) -> bool:
    return stream is not None and stream.isatty()


def is_coloured(stream: TextIO) -> bool:
    """Return True for a terminal unless `NO_COLOR` (https://no-color.org) is set or it understands no colour."""
    return is_terminal(stream) and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def style(text: str, *, bold: bool = False, dim: bool = False, colour: str | None = None) -> str:
    """Return text styled for stdout, or unchanged if stdout has no colours."""
    if not is_coloured(sys.stdout):
        return text
    # None, not False: for False click would write a code that turns bold or dim off
    return click.style(text, fg=colour, bold=bold or None, dim=dim or None)


def bold(text: str) -> str:
    """Return harmless text as one line, in bold if stdout has colours."""
    return style(harmless_line(text), bold=True)


def in_columns(*parts: str) -> str:
    """Join the parts that are not empty with two blanks."""
    return "  ".join(filter(None, parts))


def dotted(*parts: str | None) -> str:
    """Join the parts that are not empty with a centred dot."""
    return " · ".join(filter(None, parts))


def with_gutter(line: str, *, is_marked: bool) -> str:
    """Return a harmless line after a gutter of three characters; a line that answers the question is marked and bold.

    So `grep '^ > '` finds the lines that answer.
    """
    text = harmless(line)
    return (f" > {style(text, bold=True)}" if is_marked else f"   {text}").rstrip()


def discard_output() -> None:
    """Redirect standard output to the null device, because Python would try to write the rest again at exit."""
    with Path(os.devnull).open("wb") as null:
        os.dup2(null.fileno(), sys.stdout.fileno())


def note(text: str) -> None:
    """Print one line to stderr."""
    click.echo(f"note: {harmless_line(text)}", err=True)


def to_json(value: object, *, indent: int | None = 2) -> str:
    """Return JSON with readable letters, as far as stdout can encode them, but without terminal control characters."""
    is_unicode = (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"
    text = json.dumps(value, ensure_ascii=not is_unicode, indent=indent)
    return _C1.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def count(number: int, noun: str, plural: str = "") -> str:
    """Return a number with its noun: `1 file`, `1,203 files`, or `2 memories` with the given plural."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def size(content: float) -> str:
    """Return bytes in decimal units: `980 B`, `12.3 MB`."""
    for unit in ("B", "kB", "MB", "GB"):
        if content < 1000:
            return f"{content:.0f} {unit}" if unit == "B" or content >= 100 else f"{content:.1f} {unit}"
        content /= 1000
    return f"{content:.1f} TB"


def percent(part: int, total: int) -> str:
    """Return a share rounded down, so that 100 % means all; for a total of 0 it is 100 %."""
    return f"{100 * part // total if total else 100} %"


def duration(seconds: float) -> str:
    """Return seconds in the two largest units: `3 s`, `2 min 5 s`, `4 h 10 min`, `3 d 2 h`."""
    rest = max(0, int(seconds))
    parts = []
    for unit, length in (("d", 86400), ("h", 3600), ("min", 60), ("s", 1)):
        amount, rest = divmod(rest, length)
        parts.append((amount, unit))
    first = next((index for index, (amount, _) in enumerate(parts) if amount), len(parts) - 1)
    return " ".join(f"{amount} {unit}" for amount, unit in parts[first : first + 2] if amount) or "0 s"


def minute(moment: str) -> str:
    """Return an ISO 8601 time in local time, to the minute; return other text unchanged but harmless."""
    try:
        return f"{datetime.fromisoformat(moment).astimezone():%Y-%m-%d %H:%M}"
    except (ValueError, OverflowError):
        return harmless_line(moment)


def ago(moment: str | None, now: datetime) -> str:
    """Return how long ago an ISO 8601 time was; `never` for None, other text unchanged."""
    if not moment:
        return "never"
    try:
        then = datetime.fromisoformat(moment)
    except ValueError:
        return moment
    return f"{duration((now - (then if then.tzinfo else then.astimezone())).total_seconds())} ago"
