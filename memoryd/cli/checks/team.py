"""What doctor checks of a team: the program git, who git says that you are, whether the repository answers, and what
of the others is not shown."""

import asyncio
from collections.abc import Iterator

from memoryd.cli.checks.finding import Examination, Finding, check, with_part
from memoryd.cli.terminal import count
from memoryd.config.team import TeamSection
from memoryd.errors import InvalidRequest, MemorydError
from memoryd.team.git import Git, address_of, check_git
from memoryd.team.repository import TeamRepository

LATE_SECONDS = 24 * 3600
"""So long something may wait to be sent before it is to be looked at."""
REACH_HINT = "try `git ls-remote` with the same address; what it says, memoryd is told"
SEND_HINT = "who looks after the repository says who may push to its branch main"


@check("team.git", "git", advice="install git 2.30 or later, and say who you are by `git config --global`")
def git(examination: Examination) -> Iterator[Finding]:
    """Look at whether git is there and recent enough for the memory of a team, and knows who you are."""
    section = examination.config.team
    if not section.is_joined or section.is_on_server:
        yield Finding("off", "no repository carries the memory of a team")
        return
    repository = TeamRepository(section.checkout_folder, is_own=section.checkout is None)
    try:
        asyncio.run(check_git(section.checkout_folder))
        yield Finding("ok", f"you are {section.person} of {section.name}, {asyncio.run(repository.author())} for git")
    except InvalidRequest as exc:
        yield Finding("wrong", str(exc), exc.hint, part="author")


@check(
    "team.exchange",
    "team",
    advice="`memoryctl team status` says what waits, `memoryctl team sync` tries again",
    seconds=60,
)
def exchange(examination: Examination) -> Iterator[Finding]:
    """Look at whether the repository of the team can be reached and takes what is sent, and what of it is not shown."""
    section = examination.config.team
    if not section.is_joined:
        yield Finding("off", "you are in no team")
        return
    if examination.status is None and section.is_on_server:
        yield Finding("off", "memoryd is not running, which alone asks the server")
        return
    if examination.status is None:
        yield from with_part("repository of the team", _reached(section))
        return
    for agent in examination.status["agents"]:
        if (team := agent["team"]) is None:
            continue
        published, people = team["published"], count(len(team["people"]), "person", "people")
        if team["offline"]:
            is_late = published["behindSeconds"] > LATE_SECONDS
            yield Finding("wrong" if is_late else "look", team["offline"], REACH_HINT)
        elif published["pending"]:
            waits = f"{count(published['pending'], 'file')} to be sent for {published['behindSeconds']:,} s"
            yield Finding("look", waits, SEND_HINT)
        else:
            yield Finding("ok", f"{people}, all is sent")
        yield from (Finding("look", one, "see the repository of the team") for one in team["trouble"])


def _reached(section: TeamSection) -> Finding:
    """Ask the repository without a daemon, and change nothing."""
    asked = Git(section.checkout_folder).attempt(
        "ls-remote", "--heads", "--end-of-options", address_of(section.remote or ""), seconds=30
    )
    try:
        result = asyncio.run(asked)
    except MemorydError as exc:
        return Finding("wrong", str(exc), REACH_HINT)
    if result.code:
        return Finding("wrong", f"it cannot be reached: {result.reason}", REACH_HINT)
    return Finding("ok", f"{section.remote} answers")
