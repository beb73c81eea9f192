"""Names and bounds that daemon and clients share: paths, error codes, exit codes. Imports no other memoryd module."""

from enum import IntEnum, StrEnum
from typing import Literal

API = "/v1"
SOCKET_NAME = "memoryd.sock"
SUN_PATH_MAX = 107
"""Longest Unix socket path that Linux accepts, in bytes (macOS: 103)."""
RESULTS_MAX = 200
DEADLINE_MS_MAX = 600_000
LINES_MAX = 5_000
POSITION_MAX = 2**31
"""Upper bounds in a request: hits, deadline, lines per call, and a line or column number."""
QUESTION_CHARS_MAX = 20_000
ANSWER_CHARS_MAX = 100_000
TOPICS_MAX = 8
TOPIC_CHARS_MAX = 64
"""Bounds of an added turn: characters of the question, the answer and a topic, and the number of topics."""
TURNS_MAX = 100
SESSIONS_MAX = 200
LISTED_MAX = 1_000
NEIGHBOURS_MAX = 200
SEQUENCE_MAX = 50
SEQUENCE_TOKENS_MAX = 100_000
PROPOSALS_MAX = 1_000
TOLD_MAX = 200
FLAGGED_SHOWN = 50
"""Bounds of a reply: turns of a session, sessions or topics of a list, lines around cited lines, turns and tokens of a
sequence, proposals, questions with the memories that were given for them, and flagged notes of a status."""

MEMORY_CHARS_MAX = 4_000
MEMORIES_CHARS_MAX = 100_000
MEMORIES_MAX = 100
ENTITIES_MAX = 64
ENTITY_CHARS_MAX = 200
TAGS_MAX = 32
"""Bounds of a retain call: characters of one memory and of all memories, number of memories, and the entities and tags
of one memory."""

CORE_CHARS_MAX = 20_000
"""Longest text that one edit may add to, or remove from, the core file."""
CHANGES_MAX = 1_000
"""Longest list of changes of a workspace."""


class ErrorCode(StrEnum):
    """The values of `error.code` in a reply; `memoryd.errors` defines the exception of each."""

    INVALID_REQUEST = "invalid_request"
    """A value is malformed or out of range."""
    TOO_LARGE = "too_large"
    """The request is larger than a limit allows."""
    NOT_FOUND = "not_found"
    """No such document, line or call."""
    UNKNOWN_AGENT = "unknown_agent"
    """No agent with that id is configured."""
    DISABLED = "disabled"
    """The agent has `memorySearch.enabled: false`, or for questions and answers `memory.qa.enabled: false`."""
    DENIED = "denied"
    """The access rules do not let this session, or this socket, ask."""
    UNAUTHORIZED = "unauthorized"
    """On the loopback port: the token is missing or wrong."""
    TOO_MANY_TRIES = "too_many_tries"
    """On the loopback port: too many wrong tokens; the right one is still let in."""
    UNAVAILABLE = "unavailable"
    """Not now: loading, backing off, disk full; the same request may succeed later."""
    OVERLOADED = "overloaded"
    """Too many requests are at work; the same request may succeed in a second."""
    SHUTTING_DOWN = "shutting_down"
    """Memoryd is stopping."""
    TIMEOUT = "timeout"
    """The request or the answer was not complete in the time allowed."""
    INTERNAL = "internal"
    """An unexpected error; the log has more."""


class Exit(IntEnum):
    """Exit codes of `memoryctl` and `memoryd`."""

    DONE = 0
    """Done."""
    ERROR = 1
    """Error; also a query that no part of the search could answer."""
    USAGE = 2
    """Wrong usage."""
    NOTHING_FOUND = 3
    """No answer found (weak hits may still be shown), or no such document or line."""
    INCOMPLETE = 4
    """With `--strict`: a configured part was missing from the answer."""
    NOT_RUNNING = 69
    """Memoryd is not running."""
    STALLED = 70
    """Memoryd ended itself, because a part of it hung and no service manager supervised it."""
    NO_MEMORY = 71
    """The system refused memoryd memory or a thread."""
    CANNOT_CREATE = 73
    """A file or folder cannot be created."""
    ALREADY_RUNNING = 75
    """Another memoryd is already running, or has replaced this process."""
    NOT_PERMITTED = 77
    """A path or socket belongs to another user or is open to others."""
    CONFIG = 78
    """The configuration is wrong; all problems are listed."""


class Event(StrEnum):
    """Names of the server-sent events on `/v1/events`; `dropped` in the data counts events a slow reader missed."""

    SYNC = "sync"
    """`{"agent", "state", "pendingFiles"}`: sync started or done; at a mass removal `{"state", "files", "left"}`."""
    EMBEDDING = "embedding"
    """`{"agent", "pending", "done"}`: passages without a vector, and passages embedded since the work began."""
    MODEL = "model"
    """`{"agent", "state", "reason", "doneBytes", "totalBytes", "step"}`: model is fetched, loaded, ready or failed."""
    DEGRADED = "degraded"
    """`{"agent", "part", "reason"}`: a part fails."""
    RECOVERED = "recovered"
    """`{"agent", "part", "since"}`: a part works again."""
    REFLECT = "reflect"
    """`{"agent", "step", "count"}`: a run plans, writes pages or makes proposals, and how many."""


EncodingName = Literal["text", "rsclaw", "openai", "anthropic", "gemini"]
"""Format of a bundle: text, or the message shape of an API."""
SyncGoal = Literal["none", "indexed", "embedded"]
"""What a sync waits for: nothing, full-text search over all files, or also their vectors."""
