"""`reference/codes.md`: exit codes, error codes, and reasons for leaving out."""

from memoryd.domain.skips import SkipReason
from memoryd.errors import error_for_code
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
REASONS = """
## Reasons for leaving out

Why something was not found, recalled, captured or indexed. The reasons appear in explained answers (`explain`), in the
receipt of a bundle, in the verdict of capture and in `skipped` of status. `{}` is a value that varies. Replies contain
the reason; the code is its name in the program.

"""


def page() -> str:
    """Return the page."""
    exits_mean, errors_mean = meanings(Exit), meanings(ErrorCode)
    codes = [(f"{code:d}", f"`{code.name}`", exits_mean[code.name]) for code in Exit]
    rows = [(f"`{code}`", str(error_for_code(code, "").http_status), errors_mean[code.name]) for code in ErrorCode]
    errors = MIDDLE + table(("code", "HTTP status", "meaning"), rows)
    skips = [(f"`{reason.code}`", reason.stage, reason) for reason in SkipReason]
    return (
        HEAD + table(("code", "name", "meaning"), codes) + errors + REASONS + table(("code", "part", "reason"), skips)
    )
