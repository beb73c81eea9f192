"""`reference/codes.md`: what exit codes and error codes mean."""

from memoryd.errors import error_of
from memoryd.wire import ErrorCode, Exit
from tests.docs.meanings import meanings
from tests.docs.tables import table

HEAD = """# Exit and error codes

## Exit codes

"""
MIDDLE = """
## Error codes of the API

Errors are `{"error": {"code", "message", "hint"}}`: a code of this list, a sentence, and what to do about it.

"""


def page() -> str:
    """Return the page."""
    exits_mean, errors_mean = meanings(Exit), meanings(ErrorCode)
    codes = [(f"{code:d}", f"`{code.name}`", exits_mean[code.name]) for code in Exit]
    rows = [(f"`{code}`", str(error_of(code, "").http_status), errors_mean[code.name]) for code in ErrorCode]
    return HEAD + table(("code", "name", "meaning"), codes) + MIDDLE + table(("code", "HTTP status", "meaning"), rows)
