"""Names and bounds that both ends of the socket share: paths, error codes, exit codes. Imports nothing of ours."""

from enum import IntEnum, StrEnum
from typing import Literal

API = "/v1"
SOCKET_NAME = "memoryd.sock"
SUN_PATH_MAX = 107
"""Bytes of a Unix socket path that Linux accepts (macOS: 103)."""
RESULTS_MAX = 200
DEADLINE_MS_MAX = 600_000
LINES_MAX = 5_000
POSITION_MAX = 2**31
"""What a request may ask for at most: hits, time for the answer, lines at once, and the number of a line or column."""
QUESTION_CHARS_MAX = 20_000
ANSWER_CHARS_MAX = 100_000
TOPICS_MAX = 8
TOPIC_CHARS_MAX = 64
"""Of a turn that is added: how long its question, its answer and a topic may be, and how many topics it may have."""
TURNS_MAX = 100
SESSIONS_MAX = 200
LISTED_MAX = 1_000
NEIGHBOURS_MAX = 200
SEQUENCE_MAX = 50
SEQUENCE_TOKENS_MAX = 100_000
PROPOSALS_MAX = 1_000
TOLD_MAX = 200
"""What a reply has at most: turns of a session, sessions or topics of a list, lines around cited ones, turns and
tokens of a sequence, proposals, and questions with what was told for them."""

MEMORY_CHARS_MAX = 4_000
MEMORIES_CHARS_MAX = 100_000
MEMORIES_MAX = 100
ENTITIES_MAX = 64
ENTITY_CHARS_MAX = 200
TAGS_MAX = 32
"""Of what is retained: how long one memory and all of a call may be, how many they may be, and the entities and tags of
one."""

CORE_CHARS_MAX = 20_000
"""Of a text that goes into the core file, or out of it, in one edit."""
CHANGES_MAX = 1_000
"""How many changes of a workspace a list may have."""


class ErrorCode(StrEnum):
    """The closed list of `error.code` in a reply; `memoryd.errors` says which exception has which."""

    INVALID_REQUEST = "invalid_request"
    """A value is malformed or out of range."""
    TOO_LARGE = "too_large"
    """The request is larger than a limit allows."""
    NOT_FOUND = "not_found"
    """No such document, line or call."""
    UNKNOWN_AGENT = "unknown_agent"
    """No agent of that id is configured."""
    DISABLED = "disabled"
    """The agent has `memorySearch.enabled: false`, or for questions and answers `memory.qa.enabled: false`."""
    DENIED = "denied"
    """The access rules do not let this session, or this socket, ask."""
    UNAUTHORIZED = "unauthorized"
    """On the loopback port: the token is missing or wrong."""
    TOO_MANY_TRIES = "too_many_tries"
    """On the loopback port: too many wrong tokens; the right one is still let in."""
    UNAVAILABLE = "unavailable"
    """Not now: loading, backing off, out of room; the same request may succeed later."""
    OVERLOADED = "overloaded"
    """Too many requests are at work; the same one may succeed in a second."""
    SHUTTING_DOWN = "shutting_down"
    """Memoryd is stopping."""
    TIMEOUT = "timeout"
    """The request, or the answer, did not come in the time allowed."""
    INTERNAL = "internal"
    """An unexpected error; the log has more."""


class Exit(IntEnum):
    """Exit codes of `memoryctl` and `memoryd`."""

    DONE = 0
    """Done."""
    ERROR = 1
    """Error, also a question that no part of the search could answer."""
    USAGE = 2
    """Wrong usage."""
    NOTHING_FOUND = 3
    """Nothing found that answers (hits may be shown all the same), or no such document or line."""
    INCOMPLETE = 4
    """With `--strict`: a configured part was missing from the answer."""
    NOT_RUNNING = 69
    """Memoryd is not running."""
    STALLED = 70
    """Memoryd ended itself, because a part of it was stuck and no service manager watched over it."""
    NO_MEMORY = 71
    """The system gave memoryd no more memory, or no thread."""
    CANNOT_CREATE = 73
    """A file or folder cannot be created."""
    ALREADY_RUNNING = 75
    """Another memoryd is running already, or has taken the place of this one."""
    NOT_PERMITTED = 77
    """A path or socket belongs to somebody else or is open to others."""
    CONFIG = 78
    """The configuration is wrong; all problems are listed."""


class Event(StrEnum):
    """Names of the server-sent events on `/v1/events`; `dropped` in the data counts those a slow reader lost."""

    SYNC = "sync"
    """`{"agent", "state", "pendingFiles"}`: started or finished; at a mass removal `{"state", "files", "left"}`."""
    EMBEDDING = "embedding"
    """`{"agent", "pending", "done"}`: passages without a vector, and those that got one since the work began."""
    MODEL = "model"
    """`{"agent", "state", "reason", "doneBytes", "totalBytes", "step"}`: it is fetched, loaded, ready or failed."""
    DEGRADED = "degraded"
    """`{"agent", "part", "reason"}`: a part fails."""
    RECOVERED = "recovered"
    """`{"agent", "part", "since"}`: it works again."""
    REFLECT = "reflect"
    """`{"agent", "step", "count"}`: a run plans, writes pages, or makes proposals, and of how many."""


EncodingName = Literal["text", "rsclaw", "openai", "anthropic", "gemini"]
"""How a bundle is written: as text, or in the message shape of an API."""
SyncGoal = Literal["none", "indexed", "embedded"]
"""What a sync waits for: nothing, that all is found by words, or also by meaning."""
