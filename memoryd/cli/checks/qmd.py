"""The part of `memoryctl doctor` about qmd: is it there, is it one that can be used, and does it open its database."""

import asyncio
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path

from memoryd.cli.checks.examination import Examination
from memoryd.cli.checks.finding import Finding, Looks
from memoryd.errors import SidecarError
from memoryd.qmd.program import QmdHome, QmdInstallation
from memoryd.qmd.query import first_error

SECONDS = 30.0


def qmd(examination: Examination) -> Sequence[Finding]:
    """Look at the configured qmd; with the builtin backend there is nothing to look at."""
    config = examination.config
    if config.memory.backend != "qmd":
        return [Finding("qmd", "off", "memory.backend is builtin")]
    with tempfile.TemporaryDirectory(prefix="memoryd-doctor-") as folder:
        home = QmdHome(Path(folder))
        return asyncio.run(_of(QmdInstallation(command=config.memory.qmd.command, home=home, query_seconds=4)))


async def _of(installation: QmdInstallation) -> list[Finding]:
    try:
        program = await installation.resolve()
    except SidecarError as exc:
        return [Finding("qmd", "wrong", str(exc), exc.hint)]
    found = Finding("qmd", "ok", f"{program.version} at {program.path}, run as {' '.join(program.command)}")
    installation.home.prepare()
    try:
        outcome = await installation.run("status", seconds=SECONDS)
    except SidecarError as exc:
        return [found, Finding("qmd database", "wrong", str(exc))]
    if outcome.code != 0:
        why = first_error(outcome.stderr) or outcome.ending
        hint = f"a Node that is too old crashes here: {os.environ.get('PATH', '')} is searched for node"
        return [found, Finding("qmd database", "wrong", f"qmd status failed: {why}", hint)]
    return [found, Finding("qmd database", "ok", "can be made and opened")]


LOOKS: Looks = {"qmd.usable": qmd}
