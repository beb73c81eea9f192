"""`reference/troubleshooting.md`: the checks of `memoryctl doctor`, from their descriptions."""

from memoryd.cli.local.doctor import DEEP_SECONDS, SECTIONS, checks
from tests.docs.tables import table

HEAD = """# What doctor looks at

`memoryctl doctor` goes through these checks, beside a running daemon or without one, and says of each that is not well
what to do. `memoryctl doctor --section NAME` looks at one section alone; `--json` names each check by its id, which
stays. [When something is wrong](../how-to/when-something-is-wrong.md) begins with what you see instead.

| state | it means |
|---|---|
| `ok` | well |
| `off` | not in use, not made yet, or not asked |
| `open` | works, and others can see what they should not |
| `look` | works, and may not be what you meant |
| `wrong` | does not work; the exit code is 1 |

Beside a daemon no database is opened for writing. A check that hangs, or fails itself, is one finding and keeps no
other from being made: each has its time, in seconds, and {deep:.0f} with `--deep`. `--fix` does what is safe and says
what it did: it takes rights away from others, removes a dead socket of ours, has a damaged index set aside and made
anew, has notes read again, mends a hook whose program is gone, and, after asking, fetches a spoilt model again.
`--fix --dry-run` says what it would do. For all else the command to type is given.
"""


def page() -> str:
    """Return the page."""
    parts = [HEAD.format(deep=DEEP_SECONDS)]
    for section in SECTIONS:
        rows = [(f"`{check.id}`", check.subject, check.advice, f"{check.seconds:.0f}") for check in checks([section])]
        parts.append(f"## {section}\n\n" + table(("check", "looks at", "what to do", "time"), rows))
    return "\n".join(parts)
