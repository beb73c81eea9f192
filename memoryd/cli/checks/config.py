"""What doctor checks of the configuration: its problems, whether the daemon has read it; and the size of the log."""

import time
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Final

from memoryd.cli.checks.finding import Examination, Finding, check, chmod
from memoryd.cli.terminal import duration, size
from memoryd.config.loading.exposure import exposures
from memoryd.config.paths import config_file, state_dir
from memoryd.domain.expressions import expression

MASKED: Final = expression(r"MEMORYD_MASKED_\d+")
"""What a backup puts where a key was."""
_STARTING_SECONDS: Final = 1.0
"""Between reading the file and what counts as the start."""


@check(
    "config.valid",
    "configuration",
    advice="correct each key that is named: `memoryctl config check` has the line of each",
    needs_config=False,
)
def valid(examination: Examination) -> Iterator[Finding]:
    """Look at the configuration file and `MEMORYD_*` variables, as the daemon reads them: all problems at once."""
    if examination.loaded is not None:
        yield Finding("ok", str(examination.loaded.source or "no file, the defaults hold"))
    for problem in examination.problems:
        yield Finding("wrong", problem, "correct it; memoryctl config check names the line")


@check(
    "config.notices",
    "configuration",
    advice="take the key out, or write it as the notice says",
)
def notices(examination: Examination) -> Iterator[Finding]:
    """Look at keys that are understood and do not do what they seem to: without effect here, or read in another way."""
    loaded = examination.loaded
    if loaded is not None:
        open_to_others = {str(one) for one in exposures(loaded.config, loaded.source)}
        for notice in loaded.notices:
            if notice not in open_to_others:
                yield Finding("look", notice, "docs/reference/configuration.md says what each key does")


@check(
    "config.masked",
    "configuration",
    advice="write the key, or a reference to it, in its stead, then `memoryctl reload`",
    needs_config=False,
)
def masked(examination: Examination) -> Iterator[Finding]:
    """Look at places of keys that a backup left out and a restore could not fill: `MEMORYD_MASKED_1` stands there."""
    source = examination.loaded.source if examination.loaded is not None else config_file()
    try:
        lines = source.read_text(encoding="utf-8", errors="replace").splitlines() if source is not None else []
    except OSError:
        return
    for number, line in enumerate(lines, 1):
        for name in MASKED.findall(line):
            message = f"{source}:{number}: {name} stands where a key was, which the backup did not hold"
            yield Finding("wrong", message, "write the key, or a reference to it, in its stead; memoryctl reload")


@check(
    "config.exposure",
    "privacy",
    advice="close the file (`chmod 600`), use `https://`",
)
def exposure(examination: Examination) -> Iterator[Finding]:
    """Look at keys in files that other users can read, and notes that go to a provider unencrypted."""
    loaded = examination.loaded
    if loaded is not None:
        for one in exposures(loaded.config, loaded.source):
            # other files are their owner's
            is_ours = loaded.source is not None and one.hint.startswith(f"chmod 600 {loaded.source},")
            yield Finding(
                "open", one.message, one.hint, chmod(loaded.source, 0o600) if loaded.source and is_ours else None
            )


@check(
    "config.loaded",
    "configuration",
    advice="let the daemon read it again: `memoryctl reload`; what that names: `memoryctl service restart`",
)
def loaded(examination: Examination) -> Iterator[Finding]:
    """Look at whether the running daemon has read this very file, as it is now, and what of it holds only after a
    restart."""
    status = examination.status
    if status is None or examination.loaded is None:
        return
    here, used = examination.loaded.source, status["config"]["source"]
    if used not in (None, str(here), str(here and here.absolute())) or (used is None and here is not None):
        message = f"the daemon runs with {used or 'the defaults'}, and this is {here or 'the defaults'}"
        hint = "name the same file in MEMORYD_CONFIG, for memoryctl and for the daemon"
        yield Finding("look", message, hint)
    elif used is not None:
        at = status["config"].get("loadedAt")
        # an older daemon does not say when it read the file, and did so at its start
        loaded_at = datetime.fromisoformat(at).timestamp() if at else time.time() - status["uptimeSeconds"]
        if (late := Path(used).stat().st_mtime - loaded_at) > _STARTING_SECONDS:
            message = f"{used} was changed {duration(late)} after memoryd had read it"
            yield Finding("look", message, "have it read again: memoryctl reload")
    # an older daemon says neither of what follows
    config = status["config"]
    for problem in config.get("problems", ()):
        message = f"the last reload took nothing, and what was before holds: {problem}"
        yield Finding("look", message, "correct it, then: memoryctl reload")
    if keys := config.get("needsRestart"):
        message = f"changed, and in effect when memoryd is started again: {', '.join(keys)}"
        yield Finding("look", message, "memoryctl service restart, or stop and start memoryd")


MAX_BYTES: Final = 21 * 10**6
"""What memoryd keeps there, and a line that may come before the next one is rotated."""


@check(
    "log.size",
    "log",
    advice="delete old files there; memoryd makes new ones",
    needs_config=False,
)
def log_size(_examination: Examination) -> Iterator[Finding]:
    """Look at how much the log below the state folder takes."""
    folder = state_dir() / "log"
    if not folder.is_dir():
        yield Finding("off", f"there is no {folder}: the log goes to standard error, or to the journal")
        return
    taken = sum(one.lstat().st_size for one in folder.iterdir() if one.is_file())
    found = f"{size(taken)} in {folder}"
    if taken > MAX_BYTES:
        yield Finding("look", found, "delete what memoryd did not put there, or all of it while it is stopped")
    else:
        yield Finding("ok", found)
