"""The part of `memoryctl doctor` about qmd: is it there, is it one that can be used, and does it open its database."""

import os
import tempfile
from collections.abc import Sequence
from pathlib import Path

from memoryd.cli.doctor import Finding
from memoryd.config.root import Config
from memoryd.errors import SidecarError
from memoryd.qmd.home import QmdHome
from memoryd.qmd.installation import QmdInstallation
from memoryd.qmd.output import first_error

SECONDS = 30.0


async def checks(config: Config) -> Sequence[Finding]:
    """Look at the configured qmd; with the builtin backend there is nothing to look at."""
    if config.memory.backend != "qmd":
        return [Finding("qmd", "off", "memory.backend is builtin")]
    with tempfile.TemporaryDirectory(prefix="memoryd-doctor-") as folder:
        return await _of(
            QmdInstallation(command=config.memory.qmd.command, home=QmdHome(Path(folder)), query_seconds=4)
        )


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
