"""Names of sessions: safe on every file system, and resolved from a path, a citation or a bare name.

A name is `<channel>-<peer>-<date>`, from the session key. If a part of the key has to be changed for that (capitals,
signs, length), eight digits of the key's hash are appended. If the name is in use, by an earlier session of the day or
by a key with another agent or chat type, a number is appended. The session file has the key itself.
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


def possible_paths(name: str, agent: str) -> tuple[RelativePath, ...]:
    """Return the possible paths of a conversation of an agent, by name, path or citation (its lines are ignored)."""
    path = cited_lines(name).path
    if is_conversation(path):
        return (RelativePath(path),)
    if "/" in path or not path:
        return ()
    file = path if path.endswith(_SUFFIX) else f"{path}{_SUFFIX}"
    return turns_path(safe_id(path)), transcript_path(agent, file)


def cited_lines(text: str) -> Citation:
    """Parse a citation; a text that is none is taken as a path."""
    try:
        return parse(text.strip())
    except ValueError:
        return Citation(text.strip())


def may_belong_to(path: str, agent: str) -> bool:
    """Return whether a conversation may belong to this agent, judged by its path only."""
    return not path.startswith("sessions/") or path.split("/")[1] == agent


IDLE = timedelta(hours=6)
"""A session ends after this time without a message."""
MANY_TURNS = 400
HALVING_TURNS = 50
"""Each time a session has this many turns more than MANY_TURNS, the pause that ends it is halved."""
MAX_BYTES = 160
"""Most bytes of a name in UTF-8: file systems allow 255, and suffixes and temporary names are appended."""

_AGENT = expression(r"agent:[^:]*:(?=.)", re.DOTALL)
_CHAT_TYPES = frozenset({"direct", "dm", "group", "channel"})
_RESERVED = expression(r"(?:con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])\Z")
"""Device names on Windows. Windows may see our folders through network disks."""
_DIGEST = 8


def is_over(last_activity: datetime, now: datetime, idle: timedelta = IDLE) -> bool:
    """Return whether a session has ended. False if the clock was set back."""
    return now - last_activity >= idle


def belongs(begun: datetime, last_activity: datetime, at: datetime, idle: timedelta = IDLE) -> bool:
    """Return whether a message of this time belongs to a session, even if it came late; else it begins a new one."""
    return not is_earlier(at, begun, idle) and not is_over(last_activity, at, idle)


def is_earlier(at: datetime, begun: datetime, idle: timedelta = IDLE) -> bool:
    """Return whether a message was sent too long before a session began to belong to it."""
    return begun - at >= idle


def rest_behind(turns: int) -> timedelta:
    """Return the pause after which a turn begins a new session.

    Each turn rewrites the complete file of its session, so a day of talk without a pause is split into several
    sessions.
    """
    return IDLE * 0.5 ** max(0, (turns - MANY_TURNS) // HALVING_TURNS)


def safe_id(name: str) -> SessionId:
    """Return a name that is safe on every file system, unchanged if it is safe already. The result is deterministic.

    It has lower-case letters of any script, digits, `_` and `-`, at most 160 bytes of UTF-8, and is no reserved name.
    """
    slug = _slug(name, MAX_BYTES)
    is_same = slug == name != "" and _RESERVED.match(slug) is None
    return SessionId(slug if is_same else _with_hash(slug, name))


def named_id(name: str) -> SessionId:
    """Return the `safe_id` of a session name given by a caller, with secrets removed."""
    return safe_id(harmless_text(name))


def session_id(key: str, day: date, is_free: Callable[[SessionId], bool]) -> SessionId:
    """Return the name of a new session with a session key on a day.

    `is_free` returns whether no session has the name. The second session of a day gets `-2`, and so on.
    """
    # keep channel and peer, the parts that a person recognises
    parts = [part for part in _AGENT.sub("", unicodedata.normalize("NFC", key), count=1).split(":") if part]
    if len(parts) > 2 and parts[1] in _CHAT_TYPES:
        del parts[1]
    plain = "-".join(parts)
    slug = _slug(plain, MAX_BYTES - 24)
    # no hash if each part is in the name unchanged
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
    """Return a slug with the hash of the name it was made from."""
    digest = sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGEST]
    return "-".join(filter(None, (_cut(slug, MAX_BYTES - _DIGEST - 1).strip("-_"), digest)))
