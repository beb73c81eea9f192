"""`reference/troubleshooting.md`: the checks of `memoryctl doctor`, from their descriptions."""

from memoryd.cli.local.doctor import DEEP_SECONDS, SECTIONS, checks
from tests.docs.tables import table

HEAD = """# What doctor looks at

`memoryctl doctor` runs these checks, with or without a running daemon, and says what to do about each problem.
`memoryctl doctor --section NAME` runs only one section; `--json` names each check by its id, which never changes.
To begin with a symptom, read [when something is wrong](../how-to/when-something-is-wrong.md).

| state | it means |
|---|---|
| `ok` | well |
| `off` | not in use, not made yet, or not asked |
| `open` | works, but others can see what they should not |
| `look` | works, but may not be what you meant |
| `wrong` | does not work; the exit code is 1 |

While a daemon runs, doctor opens no database for writing. A check that hangs or fails is reported, and the others still
run: each has a time limit in seconds, {deep:.0f} with `--deep`. `--fix` makes the safe repairs and says what it did: it
removes the rights of others, removes a dead socket of ours, sets a damaged index aside, has notes read again, writes
outdated files of the service, corrects a hook whose program is gone and, after asking, fetches a damaged model again.
`--fix --dry-run` only says what it would do.
"""


def page() -> str:
    """Return the page."""
    parts = [HEAD.format(deep=DEEP_SECONDS)]
    for section in SECTIONS:
        rows = [(f"`{check.id}`", check.subject, check.advice, f"{check.seconds:.0f}") for check in checks([section])]
        parts.append(f"## {section}\n\n" + table(("check", "looks at", "what to do", "time"), rows))
    return "\n".join(parts)
