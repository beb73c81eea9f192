"""The part of `memoryctl doctor` about what a restore has replaced: copies that nobody removes but their owner."""

import os
import shlex
import time
from collections.abc import Iterator
from pathlib import Path

from memoryd.cli.checks.examination import Examination
from memoryd.cli.checks.finding import Finding, Looks
from memoryd.cli.terminal import count, duration, size
from memoryd.config.paths import replaced_dir


def kept(_examination: Examination) -> Iterator[Finding]:
    """Tell how much lies there, since when, and how it is removed."""
    folder = replaced_dir()
    copies = sorted(one for one in folder.iterdir() if one.is_dir()) if folder.is_dir() else []
    if not copies:
        yield Finding("replaced", "off", "no restore has left anything behind")
        return
    oldest = duration(max(0.0, time.time() - min(one.stat().st_mtime for one in copies)))
    message = (
        f"{folder} holds {count(len(copies), 'copy', 'copies')} of what a restore replaced, {size(_bytes(folder))}, "
        f"the oldest {oldest} old; text that was forgotten since may be in them"
    )
    hint = f"memoryctl restore --undo takes the last one back; if all is well: rm -r {shlex.quote(str(folder))}"
    yield Finding("replaced", "look", message, hint)


def _bytes(folder: Path) -> int:
    inside = (Path(here) / name for here, _, names in os.walk(folder) for name in names)
    return sum(path.lstat().st_size for path in inside)


LOOKS: Looks = {"replaced.kept": kept}
