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


class ErrorCode(StrEnum):
    """The closed list of `error.code` in a reply; `memoryd.errors` says which exception has which."""

    INVALID_REQUEST = "invalid_request"
    TOO_LARGE = "too_large"
    NOT_FOUND = "not_found"
    UNKNOWN_AGENT = "unknown_agent"
    DISABLED = "disabled"
    DENIED = "denied"
    UNAVAILABLE = "unavailable"
    SHUTTING_DOWN = "shutting_down"
    TIMEOUT = "timeout"
    INTERNAL = "internal"


class Exit(IntEnum):
    """Exit codes of `memoryctl` and `memoryd`."""

    DONE = 0
    ERROR = 1
    USAGE = 2
    NOTHING_FOUND = 3
    INCOMPLETE = 4
    NOT_RUNNING = 69
    CANNOT_CREATE = 73
    ALREADY_RUNNING = 75
    NOT_PERMITTED = 77
    CONFIG = 78


class Event(StrEnum):
    """Names of the server-sent events on `/v1/events`."""

    SYNC = "sync"
    EMBEDDING = "embedding"
    MODEL = "model"
    DEGRADED = "degraded"
    RECOVERED = "recovered"


SyncGoal = Literal["none", "indexed", "embedded"]
"""What a sync waits for: nothing, that all is found by words, or also by meaning."""
