"""`reference/codes.md`: what exit codes and error codes mean."""

from memoryd.errors import error_of
from memoryd.wire import ErrorCode, Exit
from tests.docs.tables import table

HEAD = """# Exit and error codes

## Exit codes

"""
MIDDLE = """
## Error codes of the API

Errors are `{"error": {"code", "message", "hint"}}`: a code of this list, a sentence, and what to do about it.

"""
EXITS = {
    Exit.DONE: "done",
    Exit.ERROR: "error, also a question that no part of the search could answer",
    Exit.USAGE: "wrong usage",
    Exit.NOTHING_FOUND: "nothing found, or no such document or line",
    Exit.INCOMPLETE: "with `--strict`: a configured part was missing from the answer",
    Exit.NOT_RUNNING: "memoryd is not running",
    Exit.CANNOT_CREATE: "a file or folder cannot be created",
    Exit.ALREADY_RUNNING: "another memoryd is running already, or has taken the place of this one",
    Exit.NOT_PERMITTED: "a path or socket belongs to somebody else or is open to others",
    Exit.CONFIG: "the configuration is wrong; all problems are listed",
}
ERRORS = {
    ErrorCode.INVALID_REQUEST: "a value is malformed or out of range",
    ErrorCode.TOO_LARGE: "the request is larger than a limit allows",
    ErrorCode.NOT_FOUND: "no such document, line or call",
    ErrorCode.UNKNOWN_AGENT: "no agent of that id is configured",
    ErrorCode.DISABLED: "the agent has `memorySearch.enabled: false`",
    ErrorCode.DENIED: "the access rules do not let this session, or this socket, ask",
    ErrorCode.UNAVAILABLE: "not now: loading, backing off, out of room; the same request may succeed later",
    ErrorCode.SHUTTING_DOWN: "memoryd is stopping",
    ErrorCode.TIMEOUT: "the answer did not come in the time allowed",
    ErrorCode.INTERNAL: "an unexpected error; the log has more",
}


def page() -> str:
    """Return the page."""
    exits = table(("code", "name", "meaning"), [(f"{code:d}", f"`{code.name}`", EXITS[code]) for code in Exit])
    rows = [(f"`{code}`", str(error_of(code, "").http_status), ERRORS[code]) for code in ErrorCode]
    return HEAD + exits + MIDDLE + table(("code", "HTTP status", "meaning"), rows)
