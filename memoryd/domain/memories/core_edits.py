"""Explicit edits of the core file: each leaves every other line as it was, or raises ValueError that says why not."""

from typing import Final

_SHOWN: Final = 80


def appended(text: str, added: str) -> str:
    """Return a text with lines at its end, which has a line break behind it if it had one, or was empty."""
    body = text.removesuffix("\n")
    end = "\n" if not text or text.endswith("\n") else ""
    return (f"{body}\n" if body else "") + _lines(added) + end


def replaced(text: str, old: str, new: str) -> str:
    """Return a text with `new` for its only `old`; where nothing is left of a line, it goes."""
    old = _plain(old)
    if not old.strip():
        raise ValueError("nothing is named that is to be replaced")
    count = text.count(old)
    if count != 1:
        told = "does not stand there" if not count else f"stands there {count} times"
        raise ValueError(f"{_quoted(old)} {told}; give a text that stands there once")
    at = text.index(old)
    before, behind = text[:at], text[at + len(old) :]
    is_whole_line = (not before or before.endswith("\n")) and behind.startswith("\n")
    return before + (behind[1:] if not new and is_whole_line else _plain(new) + behind)


def inserted(text: str, added: str, *, after: str) -> str:
    """Return a text with lines below the only line that reads `after`, blanks around it aside."""
    wanted = _plain(after).strip()
    lines = text.split("\n")
    places = [at for at, line in enumerate(lines) if line.strip() == wanted]
    if not wanted or len(places) != 1:
        told = f"stands there {len(places)} times" if places else "does not stand there"
        raise ValueError(f"the line {_quoted(wanted)} {told}; give a line that stands there once")
    return "\n".join([*lines[: places[0] + 1], *_lines(added).split("\n"), *lines[places[0] + 1 :]])


def _lines(added: str) -> str:
    kept = _plain(added).strip("\n")
    if not kept.strip():
        raise ValueError("nothing is given that is to be added")
    return kept


def _plain(text: str) -> str:
    if "\0" in text:
        raise ValueError("the text holds a byte that no text has")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _quoted(text: str) -> str:
    first = text.strip().split("\n")[0]
    return repr(first if len(first) <= _SHOWN else f"{first[:_SHOWN]}…")
