"""Teams for tests: a bare repository on disk, and people who share by it, with the real git."""

import asyncio
import atexit
import os
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from datetime import date
from pathlib import Path

from memoryd.domain.memories.line import RetainedLine, parse_line
from memoryd.domain.memories.sharing import TeamPeople, promoted
from memoryd.team.carrier import GitCarrier
from memoryd.team.protocol import Carrier, TeamPlace
from memoryd.team.sharing import SharedNotes, TeamSharing

DAY = date(2026, 11, 2)


def git(folder: Path, *arguments: str, who: str = "mallory", check: bool = True) -> str:
    """Run git as a person does, without any of the guards of the product; return what it prints."""
    mail = f"{who}@example.org"
    names = {f"GIT_{role}_{part}": value for role in ("AUTHOR", "COMMITTER") for part, value in
             (("NAME", who), ("EMAIL", mail))}  # fmt: skip
    done = subprocess.run(
        ["git", "-C", str(folder), *arguments],
        env={**os.environ, **names},
        capture_output=True,
        check=False,
        timeout=120,
    )
    if check and done.returncode:
        raise AssertionError(f"git {arguments}: {done.stderr.decode()}")
    return done.stdout.decode(errors="replace")


def line(text: str) -> RetainedLine:
    """Return a memory as it is shared."""
    parsed = parse_line(text)
    assert isinstance(parsed, RetainedLine)
    return promoted(parsed)


def objects_of(repository: Path) -> bytes:
    """Return the bytes of every object of a repository, also of those that no commit leads to."""
    told = git(repository, "cat-file", "--batch-all-objects", "--batch-check=%(objectname) %(objecttype)")
    found = b""
    for row in told.splitlines():
        name, kind = row.split()
        done = subprocess.run(
            ["git", "-C", str(repository), "cat-file", kind, name], capture_output=True, check=True, timeout=60
        )
        found += done.stdout
    return found


class Member:
    """A person of a team, with a machine of their own."""

    def __init__(self, folder: Path, remote: Path | str, person: str) -> None:
        self.person = person
        self.notes = folder / "notes"
        self.checkout = folder / "checkout"
        place = TeamPlace(remote=str(remote), person=person, checkout=self.checkout, is_own=True, notes=self.notes)
        self.carrier = self.carrier_of(place)
        self.shared: SharedNotes | None = None
        self.published = folder / "shared-notes.json"
        self.sharing = TeamSharing(self.carrier, person, notes=self._shared_notes, published=self.published, minutes=0)

    def carrier_of(self, place: TeamPlace) -> Carrier:
        """Return what carries what is shared."""
        self.git = GitCarrier(place)
        return self.git

    def beside(self, folder: Path, person: str) -> "Member":
        """Return somebody else, or the same person, on another machine."""
        return Member(folder, self.git.place.remote, person)

    async def again(self) -> "Member":
        """Return the same person on the same machine after a restart."""
        return await self.beside(self.notes.parent, self.person).open()

    async def _shared_notes(self) -> SharedNotes | None:
        return self.shared

    async def open(self) -> "Member":
        """Make the repository of the machine, and have git know its person there."""
        await self.git.open()
        git(self.checkout, "config", "user.name", self.person)
        git(self.checkout, "config", "user.email", f"{self.person}@example.org")
        return self

    async def promote(self, text: str, day: date = DAY) -> RetainedLine:
        """Share a memory, without sending it."""
        shared = line(text)
        await self.sharing.promote(shared, day)
        return shared

    async def exchange(self) -> None:
        """Exchange, and have it succeed."""
        await self.carrier.exchange()
        health = self.carrier.health()
        assert (health.offline, health.refused, health.broken, health.pending) == ("", "", "", 0), health

    def seen(self, path: str) -> str | None:
        """Return a file of the team as it is shown here."""
        file = self.notes / path
        return file.read_text("utf-8") if file.exists() else None

    def all_seen(self) -> set[str]:
        """Return the files that are shown here."""
        return {str(path.relative_to(self.notes)) for path in self.notes.rglob("*") if path.is_file()}


def bare_repository(folder: Path) -> Path:
    """Return the bare repository `team.git` in a folder."""
    bare = folder / "team.git"
    if not bare.exists():
        subprocess.run(["git", "init", "--quiet", "--bare", "--initial-branch=main", str(bare)], check=True, timeout=60)
    return bare


_BEGUN: dict[tuple[str, ...], Path] = {}
"""Folders with a team that is begun, by its people and what was said: dozens of tests begin with the same one."""


async def team(folder: Path, *people: str, said: str = "") -> list[Member]:
    """Begin a team in a bare repository, `team.git` in the folder, and have all of them in it.

    What is `said` the first of them has shared, and all have seen.
    """
    if (key := (*people, said)) not in _BEGUN:
        begun = Path(tempfile.mkdtemp(prefix="team-"))
        atexit.register(shutil.rmtree, begun, ignore_errors=True)
        await _begin(begun, people, said)
        _BEGUN[key] = begun
    # no repository knows where it lies
    shutil.copytree(_BEGUN[key], folder, symlinks=True, dirs_exist_ok=True)
    return [Member(folder / one, bare_repository(folder), one) for one in people]


async def _begin(folder: Path, people: Sequence[str], said: str) -> None:
    members = [await Member(folder / one, bare_repository(folder), one).open() for one in people]
    await members[0].git.create_team(TeamPeople("acme", {one: (f"{one}@example.org",) for one in people}), "begin")
    for one in members:
        await one.exchange()
    if said:
        await members[0].promote(said)
        for one in members:
            await one.exchange()


def team_of(state: Path, folder: Path, person: str, **more: object) -> dict[str, object]:
    """Begin a team for the daemon of a state folder, with its repository in a folder; return the section `team`."""

    async def begin() -> None:
        member = await Member(state / "teams" / "acme", bare_repository(folder), person).open()
        await member.git.create_team(TeamPeople("acme", {person: (f"{person}@example.org",)}), "begin")
        await member.exchange()

    asyncio.run(begin())
    remote = str(bare_repository(folder))
    return {"remote": remote, "name": "acme", "person": person, "intervalMinutes": 0, **more}
