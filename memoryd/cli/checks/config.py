"""The part of `memoryctl doctor` about the configuration: every problem of it, and whether the daemon knows it."""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from memoryd.cli.checks.examination import Examination
from memoryd.cli.checks.finding import Finding, Looks
from memoryd.cli.terminal import duration
from memoryd.config.loading.exposure import exposures

PART: Final = "configuration"


def valid(examination: Examination) -> Iterator[Finding]:
    """Tell all problems of the file, or where it lies."""
    if examination.loaded is not None:
        yield Finding(PART, "ok", str(examination.loaded.source or "no file, the defaults hold"))
    for problem in examination.problems:
        yield Finding(PART, "wrong", problem, "correct it: a daemon that runs keeps what it has, a start is refused")


def notices(examination: Examination) -> Iterator[Finding]:
    """Tell what the file says in vain, or otherwise than it seems."""
    loaded = examination.loaded
    if loaded is not None:
        open_to_others = {str(one) for one in exposures(loaded.config, loaded.source)}
        for notice in loaded.notices:
            if notice not in open_to_others:
                yield Finding(PART, "look", notice, "docs/reference/configuration.md says what each key does")


def exposure(examination: Examination) -> Iterator[Finding]:
    """Tell what others can read."""
    loaded = examination.loaded
    if loaded is not None:
        for one in exposures(loaded.config, loaded.source):
            yield Finding("privacy", "open", one.message, one.hint)


def loaded(examination: Examination) -> Iterator[Finding]:
    """Compare the file with the one that the daemon has read, and when."""
    status = examination.status
    source = examination.loaded.source if examination.loaded else None
    if status is None:
        return
    used = status["config"]["source"]
    if used != (str(source.absolute()) if source else None) and used != (str(source) if source else None):
        here, there = source or "the defaults", used or "the defaults"
        hint = "name the same file in MEMORYD_CONFIG, for memoryctl and for the daemon"
        yield Finding(PART, "look", f"the daemon runs with {there}, and this is {here}", hint)
    elif used is not None and (age := _changed_after_start(Path(used), status["uptimeSeconds"])) is not None:
        message = f"{used} was changed {duration(age)} after memoryd had started"
        yield Finding(PART, "look", message, "have it read again: memoryctl reload, or restart memoryd")


def _changed_after_start(path: Path, uptime: float) -> float | None:
    """Return how many seconds after its start; None if before, or within the second that starting takes."""
    after = path.stat().st_mtime - (time.time() - uptime)
    return after if after > 1 else None


LOOKS: Looks = {
    "config.valid": valid,
    "config.notices": notices,
    "config.exposure": exposure,
    "config.loaded": loaded,
}
