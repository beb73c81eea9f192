"""The part of `memoryctl doctor` about the log below the state folder: it has a bound, which nothing may pass."""

from collections.abc import Iterator
from typing import Final

from memoryd.cli.checks.examination import Examination
from memoryd.cli.checks.finding import Finding, Looks
from memoryd.cli.terminal import size
from memoryd.config.paths import state_dir

MOST_BYTES: Final = 21 * 10**6
"""What memoryd keeps there, and a line that may come before the next one is rotated."""


def log_size(_examination: Examination) -> Iterator[Finding]:
    """Add up what lies there."""
    folder = state_dir() / "log"
    if not folder.is_dir():
        yield Finding("log", "off", f"there is no {folder}: the log goes to standard error, or to the journal")
        return
    taken = sum(one.lstat().st_size for one in folder.iterdir() if one.is_file())
    found = f"{size(taken)} in {folder}"
    if taken > MOST_BYTES:
        yield Finding("log", "look", found, "delete what memoryd did not put there, or all of it while it is stopped")
    else:
        yield Finding("log", "ok", found)


LOOKS: Looks = {"log.size": log_size}
