"""Templates, and notes as HTML; imported at the first request for a page.

Notes are not trusted: HTML in Markdown is escaped (`html=False`), and the rendered HTML is sanitised again.
"""

import re
from collections.abc import Iterable
from datetime import UTC, date, datetime
from functools import cache
from importlib.resources import files
from typing import Any

import nh3
from jinja2 import Environment, PackageLoader, StrictUndefined
from markdown_it import MarkdownIt
from markupsafe import Markup

from memoryd.domain.text.sanitizing import SURPLUS, UNSEEN
from memoryd.web.pages import is_of_day, url_of

SHOWN_CHARS = 1_200
"""Characters of one text on a page that lists several."""
_BLOCKS = ("p", "br", "hr", "pre", "ul", "ol", "li", "blockquote", "h1", "h2", "h3", "h4", "h5", "h6")
_TAGS = {*_BLOCKS, "em", "strong", "s", "code", "a", "table", "thead", "tbody", "tr", "th", "td"}
_HIDDEN = re.compile(f"(?![\u200c\u200d])(?:{UNSEEN.pattern}|{SURPLUS.pattern})")
"""Invisible characters, and marks that change the direction of text. Joiners stay: emoji and some scripts need them."""
_CRLF = re.compile(r"\r(?=\n|\Z)")
_UNITS = ((31_536_000, "year"), (2_592_000, "month"), (86_400, "day"), (3_600, "hour"), (60, "minute"))
_LONG_DAYS = 60
_MANY_DAYS = 150 * 365
"""Older dates are shown as a date, not as a number of years."""
_STATIC = {"page.css": "text/css", "page.js": "text/javascript", "icon.svg": "image/svg+xml"}


def reveal_hidden(text: str) -> str:
    """Return a text with invisible characters replaced by their names, and Windows line ends by newlines."""
    return _HIDDEN.sub(lambda match: f"[U+{ord(match[0]):04X}]", _CRLF.sub("", text))


def clip(text: str, most: int = SHOWN_CHARS) -> str:
    """Return a text, or the beginning of a longer text and the number of characters left out."""
    return reveal_hidden(text if len(text) <= most else f"{text[:most]} … ({len(text) - most:,} more characters)")


def note(text: str, most: int = SHOWN_CHARS) -> Markup:
    """Render the Markdown of a note as HTML, without pictures, and with links to http and https only."""
    return Markup(_clean(_markdown().render(clip(text, most))))  # cleaned


def note_line(text: str, most: int = SHOWN_CHARS) -> Markup:
    """Render the Markdown of one paragraph as HTML, with the same restrictions as `note`."""
    return Markup(_clean(_markdown().renderInline(clip(text, most))))  # cleaned


@cache
def _markdown() -> MarkdownIt:
    return MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"]).disable(["image", "reference"])


def _clean(html: str) -> str:
    cleaned = nh3.clean(
        html,
        tags=_TAGS,
        attributes={"a": {"href"}},
        attribute_filter=lambda _tag, name, value: (
            value if name != "href" or value.startswith(("https://", "http://")) else None
        ),
        link_rel="noopener noreferrer",
    )
    # a numeric character reference of Markdown may have become an invisible character
    return reveal_hidden(cleaned)


def ago(value: str | float | None) -> Markup:
    """Return how long ago a time was, ISO 8601 or Unix seconds, as HTML that shows the exact time on hover."""
    if value is None or value == "":
        return Markup("never")
    if isinstance(value, str) and len(value) == len("2026-11-20"):
        return _days_ago(date.fromisoformat(value))
    at = _moment(value)
    exact = at.astimezone().isoformat(sep=" ", timespec="seconds")
    return Markup('<time datetime="{}" title="{}">{}</time>').format(at.isoformat(), exact, ago_in_words(value))


def ago_in_words(value: str | float | None) -> str:
    """Return how long ago a time was, as text; `never` without one."""
    if not value:
        return "never"
    seconds = (datetime.now(UTC) - _moment(value)).total_seconds()
    size, unit = next(((size, unit) for size, unit in _UNITS if abs(seconds) >= size), (0, ""))
    count = int(abs(seconds) // size) if size else 0
    amount = f"{count} {unit}{'s' * (count != 1)}"
    return "just now" if not size else f"{amount} ago" if seconds > 0 else f"in {amount}"


def _moment(value: str | float) -> datetime:
    return datetime.fromtimestamp(value, UTC) if isinstance(value, int | float) else datetime.fromisoformat(value)


def _days_ago(day: date) -> Markup:
    days = (date.today() - day).days  # noqa: DTZ011  # in the local time zone of the machine
    words = {-1: "tomorrow", 0: "today", 1: "yesterday"}.get(
        days, f"{days} days ago" if days > 0 else f"in {-days} days"
    )
    if days > _LONG_DAYS:
        words = f"{days // 365} years ago" if days >= 2 * 365 else f"{days // 30} months ago"
    if days > _MANY_DAYS:
        words = day.isoformat()
    return Markup('<time datetime="{0}" title="{0}">{1}</time>').format(day.isoformat(), words)


def is_dated(citations: Iterable[str]) -> bool:
    """Return whether one of these citations is in a note of a day."""
    return any(map(is_of_day, citations))


def size(count: float) -> str:
    """Return a number of bytes in decimal units, such as `12.3 MB`."""
    for unit in ("B", "kB", "MB"):
        if count < 1000:
            return f"{count:.0f} {unit}" if unit == "B" or count >= 10 else f"{count:.1f} {unit}"
        count /= 1000
    return f"{count:.1f} GB"


@cache
def templates() -> Environment:
    """Return the templates; using an undefined variable in a template is an error."""
    environment = Environment(
        loader=PackageLoader("memoryd.web"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "clip": clip,
        "seen": reveal_hidden,
        "note": note,
        "noteline": note_line,
        "ago": ago,
        "size": size,
    }
    environment.tests["dated"] = is_dated
    environment.globals["url"] = url_of
    return environment


def prepare() -> None:
    """Compile all templates, which takes longer than rendering a page."""
    for name in templates().list_templates(extensions=["html"]):
        templates().get_template(name)
    _clean(_markdown().render(""))


def render(template: str, values: dict[str, Any]) -> str:
    """Render a template as HTML."""
    return templates().get_template(template).render(values)


@cache
def static_file(name: str) -> tuple[bytes, str] | None:
    """Return the content and media type of a file that pages load, None for an unknown name."""
    if name not in _STATIC:
        return None
    return (files("memoryd.web") / "static" / name).read_bytes(), _STATIC[name]
