"""Checks of doctor for the configuration, whether the daemon has read it, and for a team.

For a team: the program git and its author, whether the repository answers, and which notes of others are not shown.
"""

import asyncio
import shlex
import time
from contextlib import suppress
from datetime import datetime
from pathlib import Path

from memoryd.cli.checks.finding import CheckContext, Finding, Findings, check, chmod, with_part
from memoryd.cli.terminal import count, duration
from memoryd.config.loading.exposure import exposures
from memoryd.config.paths import config_file
from memoryd.config.team import TeamSection, without_credentials
from memoryd.domain.expressions import expression
from memoryd.domain.memories.sharing import TEAM_FILE, TeamPeople
from memoryd.errors import InvalidRequest, MemorydError
from memoryd.team.carrier import NOT_IN, NOT_IN_HINT
from memoryd.team.git import Git, address_of, check_git
from memoryd.team.repository import LOCAL, TeamRepository
from memoryd.team.sharing import UNSHAREABLE

MASKED = expression(r"MEMORYD_MASKED_\d+")
"""Placeholder that a backup writes in place of a key."""
_STARTING_SECONDS = 1.0
"""Time at start between reading the file and the moment that `uptimeSeconds` counts from."""


@check(
    "config.valid",
    "configuration",
    advice="correct each key that is named: `memoryctl config check` has the line of each",
    needs_config=False,
)
def valid(examination: CheckContext) -> Findings:
    """Check the configuration file and `MEMORYD_*` variables as the daemon reads them: all problems at once."""
    if examination.loaded is not None:
        yield Finding("ok", str(examination.loaded.source or "no file, the defaults hold"))
    for problem in examination.problems:
        yield Finding("wrong", problem, "correct it; memoryctl config check names the line")


@check(
    "config.notices",
    "configuration",
    advice="take the key out, or write it as the notice says",
)
def notices(examination: CheckContext) -> Findings:
    """Check for keys that are valid but have no effect here, or another effect than they seem to have."""
    loaded = examination.loaded
    if loaded is not None:
        open_to_others = {str(exposure) for exposure in exposures(loaded.config, loaded.source)}
        for notice in loaded.notices:
            if notice not in open_to_others:
                yield Finding("look", notice, "docs/reference/configuration.md says what each key does")


@check(
    "config.masked",
    "configuration",
    advice="write the key, or a reference to it, in its place, then `memoryctl reload`",
    needs_config=False,
)
def masked(examination: CheckContext) -> Findings:
    """Check for keys that a backup left out and a restore could not fill in: the file has `MEMORYD_MASKED_1` there."""
    source = examination.loaded.source if examination.loaded is not None else config_file()
    try:
        lines = source.read_text(encoding="utf-8", errors="replace").splitlines() if source is not None else []
    except OSError:
        return
    for number, line in enumerate(lines, 1):
        for name in MASKED.findall(line):
            message = f"{source}:{number}: {name} is in the place of a key, which the backup did not include"
            yield Finding("wrong", message, "write the key, or a reference to it, in its place; memoryctl reload")


@check(
    "config.exposure",
    "privacy",
    advice="close the file (`chmod 600`), use `https://`",
)
def exposed(examination: CheckContext) -> Findings:
    """Check for keys in files that other users can read, and notes that are sent to a provider unencrypted."""
    loaded = examination.loaded
    if loaded is not None:
        for exposure in exposures(loaded.config, loaded.source):
            # --fix closes the configuration file only: other files are left to the user
            closes = f"chmod 600 {shlex.quote(str(loaded.source))}"
            is_ours = exposure.hint.partition(", or ")[0] == closes
            remedy = chmod(loaded.source, 0o600) if loaded.source and is_ours else None
            yield Finding("open", exposure.message, exposure.hint, remedy)


@check(
    "config.loaded",
    "configuration",
    advice="let the daemon read it again: `memoryctl reload`; what that names: `memoryctl service restart`",
)
def loaded(examination: CheckContext) -> Findings:
    """Check whether the running daemon has read this file in its present version, and which keys need a restart."""
    status = examination.status
    if status is None or examination.loaded is None:
        return
    here, used = examination.loaded.source, status["config"]["source"]
    if used not in (None, str(here), str(here and here.absolute())) or (used is None and here is not None):
        message = f"the daemon runs with {used or 'the defaults'}, but memoryctl reads {here or 'the defaults'}"
        yield Finding("look", message, "name the same file in MEMORYD_CONFIG, for memoryctl and for the daemon")
    elif used is not None:
        at = status["config"].get("loadedAt")
        # an older daemon does not say when it read the file: it did so at its start
        loaded_at = datetime.fromisoformat(at).timestamp() if at else time.time() - status["uptimeSeconds"]
        if (late := Path(used).stat().st_mtime - loaded_at) > _STARTING_SECONDS:
            message = f"{used} was changed {duration(late)} after memoryd had read it"
            yield Finding("look", message, "have it read again: memoryctl reload")
    # an older daemon has neither of these keys
    config = status["config"]
    for problem in config.get("problems", ()):
        message = f"the last reload failed, and the previous configuration is in use: {problem}"
        yield Finding("look", message, "correct it, then: memoryctl reload")
    if keys := config.get("needsRestart"):
        message = f"changed, and in effect when memoryd is started again: {', '.join(keys)}"
        yield Finding("look", message, "memoryctl service restart, or stop and start memoryd")


LATE_SECONDS = 24 * 3600
"""Time that files may wait to be sent before this counts as wrong."""
REACH_HINT = "try `git ls-remote` with the same address; memoryd gets the same answer"
SEND_HINT = "the owner of the repository decides who may push to its branch main"
SEEN_HINT = "see the repository of the team"
SERVER_HINT = "try `psql` with the same address; `memoryctl team status` says what waits"
SERVER_SEEN_HINT = "ask the owner of the team or of the server to correct it; `memoryctl team status` lists all of it"
OWN_HINT = "correct that note, or remove it from team.share"


@check("team.git", "git", advice="install git 2.30 or later, and say who you are by `git config --global`")
def git(examination: CheckContext) -> Findings:
    """Check whether git is installed, recent enough for the memory of a team, and has the author the team knows."""
    section = examination.config.team
    if not section.is_joined or section.is_on_server:
        yield Finding("off", "no repository carries the memory of a team")
        return
    try:
        yield Finding("ok", f"you are {section.person} of {section.name}, {asyncio.run(_git_author(section))} for git")
    except MemorydError as exc:
        yield Finding("wrong", str(exc), exc.hint, part="author")


async def _git_author(section: TeamSection) -> str:
    """Return the mail address of the git author; raise InvalidRequest if the team does not know it, SidecarError."""
    folder = section.checkout_folder
    repository = TeamRepository(folder, is_own=section.checkout is None)
    await check_git(folder)
    mail = await repository.author()
    local = await repository.commit_of(LOCAL) if folder.exists() else None
    file = (await repository.tree(local, ())).get(TEAM_FILE)
    # a team file that cannot be read is reported by the check of the exchange
    with suppress(ValueError):
        people = TeamPeople.read((await repository.blobs([file.blob]))[file.blob]) if file is not None else None
        if people is not None and not people.has_address(section.person or "", mail):
            raise InvalidRequest(NOT_IN.format(section.person, mail), hint=NOT_IN_HINT)
    return mail


@check(
    "team.exchange",
    "team",
    advice="`memoryctl team status` says what waits, `memoryctl team sync` tries again",
    seconds=60,
)
def exchange(examination: CheckContext) -> Findings:
    """Check whether the repository of the team can be reached and accepts pushes, and which notes are not shown."""
    section = examination.config.team
    if not section.is_joined:
        yield Finding("off", "you are in no team")
        return
    if examination.status is None and section.is_on_server:
        yield Finding("off", "memoryd is not running, and only memoryd asks the server")
        return
    if examination.status is None:
        yield from with_part("repository of the team", _repository_finding(section))
        return
    reach, send, seen = REACH_HINT, SEND_HINT, SEEN_HINT
    if section.is_on_server:
        reach, send, seen = SERVER_HINT, SERVER_HINT, SERVER_SEEN_HINT
    for agent in examination.status["agents"]:
        if (team := agent["team"]) is None:
            continue
        published, people = team["published"], count(len(team["people"]), "person", "people")
        if team["offline"]:
            is_late = published["behindSeconds"] > LATE_SECONDS
            yield Finding("wrong" if is_late else "look", team["offline"], reach)
        elif published["pending"]:
            waits = f"{count(published['pending'], 'file')} to be sent for {published['behindSeconds']:,} s"
            yield Finding("look", waits, send)
        else:
            yield Finding("ok", f"{people}, all is sent")
        own = UNSHAREABLE.partition("{}")[2].partition("{}")[0]
        yield from (Finding("look", problem, OWN_HINT if own in problem else seen) for problem in team["trouble"])


def _repository_finding(section: TeamSection) -> Finding:
    """Ask the repository directly, without the daemon; nothing is changed."""
    listing = Git(section.checkout_folder).attempt(
        "ls-remote", "--heads", "--end-of-options", address_of(section.remote or ""), seconds=30
    )
    try:
        result = asyncio.run(listing)
    except MemorydError as exc:
        return Finding("wrong", str(exc), REACH_HINT)
    if result.code:
        return Finding("wrong", f"it cannot be reached: {result.reason}", REACH_HINT)
    return Finding("ok", f"{without_credentials(section.remote or '')} answers")
