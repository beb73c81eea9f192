"""Names of sessions: made safe for every file system, and resolved from a path, a citation or a bare name.

A name is `<channel>-<peer>-<date>`, from the session key. Where a part of the key cannot be in it as it is (capitals,
signs, too long) eight digits of the key's hash tell it from the others; where the name is taken, by an earlier session
of the day or by a key that differs in agent or chat type alone, a number does. The session itself holds its key.
"""

import re
import unicodedata
from collections.abc import Callable
from datetime import date, datetime, timedelta
from hashlib import sha256
from itertools import count

from memoryd.domain.documents import (
    Citation,
    RelativePath,
    SessionId,
    is_conversation,
    parse,
    transcript_path,
    turns_path,
)
from memoryd.domain.expressions import expression
from memoryd.domain.text.sanitizing import harmless_text

_SUFFIX = ".jsonl"


def meant_paths(name: str, agent: str) -> tuple[RelativePath, ...]:
    """Return the paths that a name may stand for, of one agent; a citation is taken for the whole conversation."""
    path = cited_lines(name).path
    if is_conversation(path):
        return (RelativePath(path),)
    if "/" in path or not path:
        return ()
    file = path if path.endswith(_SUFFIX) else f"{path}{_SUFFIX}"
    return turns_path(safe_id(path)), transcript_path(agent, file)


def cited_lines(text: str) -> Citation:
    """Return the citation that a text is, the text as a path where it is none."""
    try:
        return parse(text.strip())
    except ValueError:
        return Citation(text.strip())


def is_of(path: str, agent: str) -> bool:
    """Tell whether a conversation may be this agent's, by its path alone."""
    return not path.startswith("sessions/") or path.split("/")[1] == agent


IDLE = timedelta(hours=6)
"""A session ends after so long a rest."""
MANY_TURNS = 400
HALVING_TURNS = 50
"""For each so many beyond MANY_TURNS half the rest is enough for what follows to begin another session."""
MAX_BYTES = 160
"""Of a name in UTF-8: file systems allow 255, and suffixes and temporary names stand behind it."""

_AGENT = expression(r"agent:[^:]*:(?=.)", re.DOTALL)
_CHAT_TYPES = frozenset({"direct", "dm", "group", "channel"})
_RESERVED = expression(r"(?:con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])\Z")
"""Names of devices on Windows, which reach their folders through network disks, too."""
_DIGEST = 8


def is_over(last_activity: datetime, now: datetime, idle: timedelta = IDLE) -> bool:
    """Tell whether a session has ended; never where the clock went back."""
    return now - last_activity >= idle


def belongs(begun: datetime, last_activity: datetime, at: datetime, idle: timedelta = IDLE) -> bool:
    """Tell whether what was said at a time is of a session, which may have told of it late; else it begins another."""
    return not is_earlier(at, begun, idle) and not is_over(last_activity, at, idle)


def is_earlier(at: datetime, begun: datetime, idle: timedelta = IDLE) -> bool:
    """Tell whether what was said at a time was said too long before a session to be of it."""
    return begun - at >= idle


def rest_behind(turns: int) -> timedelta:
    """Return after how long a rest a turn is of another session than the turns before it.

    The file of a session is written whole at each turn, so that a day of talk without a pause is to be of several.
    """
    return IDLE * 0.5 ** max(0, (turns - MANY_TURNS) // HALVING_TURNS)


def safe_id(name: str) -> SessionId:
    """Return a name as it may stand in a file system, the name itself if it may; the same for the same name always.

    It holds small letters of any script, digits, `_` and `-`, no more than 160 bytes of UTF-8, and is no reserved name.
    """
    slug = _slug(name, MAX_BYTES)
    is_same = slug == name != "" and _RESERVED.match(slug) is None
    return SessionId(slug if is_same else _with_hash(slug, name))


def named_id(name: str) -> SessionId:
    """Return the name of a session as a caller tells it: as `safe_id`, with no secret that stands in it."""
    return safe_id(harmless_text(name))


def session_id(key: str, day: date, is_free: Callable[[SessionId], bool]) -> SessionId:
    """Return the name of a new session with a session key on a day.

    `is_free` tells whether a name is of no session yet; the second session of a day gets `-2`, and so on.
    """
    # channel and peer: what a person knows of the key
    parts = [part for part in _AGENT.sub("", unicodedata.normalize("NFC", key), count=1).split(":") if part]
    if len(parts) > 2 and parts[1] in _CHAT_TYPES:
        del parts[1]
    plain = "-".join(parts)
    slug = _slug(plain, MAX_BYTES - 24)
    # without the hash only if each part stands in the name as it is
    name = f"{slug if slug == plain and slug else _with_hash(slug, key)}-{day:%Y%m%d}"
    candidates = (safe_id(f"{name}-{number}" if number > 1 else name) for number in count(1))
    return next(filter(is_free, candidates))


def _slug(name: str, max_bytes: int) -> str:
    small = unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).lower())
    signs = (sign if sign in "_-" or unicodedata.category(sign)[0] in "LNM" else "-" for sign in small)
    # a cut may leave a hyphen at the end
    return _cut(re.sub("-{2,}", "-", "".join(signs)).strip("-_"), max_bytes).strip("-_")


def _cut(text: str, max_bytes: int) -> str:
    return text.encode("utf-8", "replace")[:max_bytes].decode("utf-8", "ignore")


def _with_hash(slug: str, name: str) -> str:
    """Return a slug with the hash of what it was made from."""
    digest = sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGEST]
    return "-".join(filter(None, (_cut(slug, MAX_BYTES - _DIGEST - 1).strip("-_"), digest)))
