"""Hostile repositories, gits that hang or die, and remotes that refuse: what a team cannot do to its people."""

import asyncio
import base64
import json
import os
import shutil
import subprocess
import sys
from contextlib import suppress
from datetime import date
from pathlib import Path

import pytest
from msgspec.structs import replace

from memoryd.domain.memories.sharing import log_path
from memoryd.errors import InvalidRequest, SidecarError
from memoryd.team import attribution
from memoryd.team import carrier as carriers
from memoryd.team import repository as repositories
from memoryd.team import sharing as sharings
from memoryd.team.git import Git, GitResult, git_environment
from memoryd.team.protocol import SharedChanges, TeamPlace
from memoryd.team.sharing import SharedNotes, TeamSharing
from tests.sweeps import swept, whole_or
from tests.teams import Member, bare_repository, git, line, objects_of, team
from tests.waiting import SECONDS, eventually_async

TOKEN = "ghp_" + "a8Kq2ZxV7mN4pR9tYw3LcD6fHj1BsE5gUoXi"
ANAS_FILE = "memory/2026-11-02-ana.md"
SHOWN = "ana/memory/2026-11-02.md"


@pytest.fixture
async def members(tmp_path: Path) -> list[Member]:
    return await team(tmp_path, "ana", "ben", said="- W @Peter: the key is under the mat")


class Clone:
    """A working tree of the repository, in which somebody does as they like."""

    def __init__(self, folder: Path, remote: Path | str, who: str = "mallory") -> None:
        self.folder, self.who = folder, who
        git(folder.parent, "clone", "--quiet", str(remote), str(folder))

    def push(self, why: str = "mischief", *, force: bool = False) -> None:
        git(self.folder, "add", "--all", who=self.who)
        git(self.folder, "commit", "--quiet", "--allow-empty", "-m", why, who=self.who)
        git(self.folder, "push", "--quiet", *(["--force"] if force else []), "origin", "HEAD:main", who=self.who)


@pytest.fixture
def mallory(members: list[Member], tmp_path: Path) -> Clone:
    return Clone(tmp_path / "mallory", members[0].git.place.remote)


async def test_line_of_somebody_else_is_not_shown_as_a_persons(members: list[Member], mallory: Clone) -> None:
    _, ben = members
    log = mallory.folder / ANAS_FILE
    log.write_text(log.read_text() + "- W @Ana: ana owes mallory a thousand\n")
    mallory.push()
    await ben.exchange()
    assert ben.seen(SHOWN) == "## Retain\n- W @Peter: the key is under the mat\n\n"
    assert any("1 of its lines were not written by ana" in one for one in ben.carrier.health().withheld)


async def test_mailmap_of_the_repository_makes_nobody_somebody_else(members: list[Member], mallory: Clone) -> None:
    _, ben = members
    (mallory.folder / ".mailmap").write_text("ana <ana@example.org> <mallory@example.org>\n")
    log = mallory.folder / ANAS_FILE
    log.write_text(log.read_text() + "- W @Ana: ana owes mallory a thousand\n")
    mallory.push()
    await ben.exchange()
    assert "thousand" not in (ben.seen(SHOWN) or "")


async def test_note_into_which_somebody_else_wrote_is_not_shown(members: list[Member], mallory: Clone) -> None:
    ana, ben = members
    await ana.carrier.apply(SharedChanges(put={"notes/ana/memory/x.md": b"# X\n\nall is well\n"}, why="test"))
    await ana.exchange()
    await ben.exchange()
    assert ben.seen("ana/memory/x.md")
    git(mallory.folder, "pull", "--quiet")
    (mallory.folder / "notes/ana/memory/x.md").write_text("# X\n\nnothing is well\n")
    mallory.push()
    await ben.exchange()
    assert ben.seen("ana/memory/x.md") is None


async def test_stranger_of_no_team_is_not_shown(members: list[Member], mallory: Clone) -> None:
    (mallory.folder / "memory/2026-11-02-mallory.md").write_text("## Retain\n- W: trust me\n")
    mallory.push()
    await members[1].exchange()
    assert members[1].all_seen() == {SHOWN}


async def test_file_of_the_team_that_a_push_took_away_is_told_with_what_to_do(
    members: list[Member], mallory: Clone
) -> None:
    _, ben = members
    git(mallory.folder, "mv", "team.json", "squad.json")
    mallory.push()
    await ben.carrier.exchange()
    commit = git(mallory.folder, "rev-parse", "--short", "HEAD").strip()
    [trouble] = ben.sharing.troubles()
    assert f"no team.json any more: commit {commit} by mallory@example.org took it away" in trouble
    assert f"git revert {commit}" in trouble
    assert ben.sharing.why_outdated() == trouble
    with pytest.raises(SidecarError, match=r"no team\.json any more"):
        await ben.promote("- W: nobody may read this")
    git(mallory.folder, "revert", "--no-edit", commit)
    mallory.push()
    await ben.exchange()
    assert ben.sharing.troubles() == []


async def test_team_that_a_push_gave_another_name_is_told(members: list[Member], mallory: Clone) -> None:
    _, ben = members
    ben.git.place = replace(ben.git.place, name="acme")
    await ben.exchange()
    assert ben.sharing.troubles() == []
    file = mallory.folder / "team.json"
    file.write_text(file.read_text().replace("acme", "zeta"))
    mallory.push()
    await ben.exchange()
    assert "names the team zeta, and here it is acme" in "; ".join(ben.sharing.troubles())
    assert ben.all_seen() == {SHOWN}


async def test_links_modules_and_programs_of_the_repository_are_left_alone(
    members: list[Member], mallory: Clone, tmp_path: Path
) -> None:
    _, ben = members
    bait = tmp_path / "bait"
    secret = tmp_path / "secret.md"
    secret.write_text("the secret of ben's machine")
    folder = mallory.folder
    (folder / "memory/2026-11-03-ana.md").symlink_to(secret)
    (folder / "memory/2026-11-04-ana.md").write_text("## Retain\n- W: runs\n")
    (folder / "memory/2026-11-04-ana.md").chmod(0o755)
    (folder / "notes").mkdir()
    (folder / "notes/ana").symlink_to(tmp_path)
    (folder / ".gitattributes").write_text("* filter=evil diff=evil text eol=crlf\n")
    (folder / ".gitmodules").write_text(f'[submodule "m"]\n\tpath = memory/m\n\turl = ext::sh -c "touch {bait}"\n')
    commit = git(folder, "rev-parse", "HEAD").strip()
    git(folder, "update-index", "--add", "--cacheinfo", f"160000,{commit},memory/m")
    (folder / "memory/m").mkdir()
    # what ben has in his own configuration for other repositories must not run for this one
    for key in ("filter.evil.smudge", "filter.evil.clean", "diff.evil.textconv", "diff.evil.command"):
        git(ben.checkout, "config", key, f"touch {bait}; cat")
    mallory.push()
    await ben.exchange()
    assert ben.all_seen() == {SHOWN}
    assert not bait.exists()
    assert not any("secret of ben" in path.read_text() for path in ben.notes.rglob("*.md"))
    assert len(ben.carrier.health().withheld) >= 4


async def test_hooks_of_a_repository_on_disk_do_not_run(members: list[Member], tmp_path: Path) -> None:
    ana, _ = members
    bait, bare = tmp_path / "bait", bare_repository(tmp_path)
    for folder in (bare, ana.checkout):
        (folder / "hooks").mkdir(exist_ok=True)
        for name in (
            "pre-receive", "update", "post-receive", "post-update", "pre-push", "pre-commit", "reference-transaction",
            "post-commit", "pre-auto-gc", "proc-receive", "commit-msg", "prepare-commit-msg", "push-to-checkout",
        ):  # fmt: skip
            hook = folder / "hooks" / name
            hook.write_text(f"#!/bin/sh\ntouch {bait}\n")
            hook.chmod(0o755)
    git(bare, "config", "core.fsmonitor", f"touch {bait}")
    git(bare, "config", "core.alternateRefsCommand", f"touch {bait}; true")
    await ana.promote("- W: another one")
    await ana.exchange()
    assert not bait.exists()


@pytest.mark.parametrize("remote", ["ext::touch {bait}", "git://127.0.0.1/x", "http://127.0.0.1/x", "-x", "fd::7"])
async def test_remote_that_would_run_a_program_is_refused(tmp_path: Path, remote: str) -> None:
    bait = tmp_path / "bait"
    member = await Member(tmp_path / "ana", remote.format(bait=bait), "ana").open()
    await member.carrier.exchange()
    assert member.carrier.health().offline
    assert not bait.exists()


@pytest.mark.parametrize(
    "path",
    ["notes/ana/memory/../../../../evil.md", "notes/../evil.md", "notes/ana/memory/.git/x.md", "../evil.md"],
)
async def test_path_that_leads_out_reaches_no_disk(members: list[Member], tmp_path: Path, path: str) -> None:
    """A tree may be made by hand with names that no `git add` takes."""
    _, ben = members
    bare = bare_repository(tmp_path)
    blob = git_input(bare, b"evil\n", "hash-object", "-w", "--stdin")
    tree = blob
    for number, part in enumerate(reversed(path.split("/"))):
        mode = b"100644" if number == 0 else b"40000"
        raw = mode + b" " + part.encode() + b"\0" + bytes.fromhex(tree)
        tree = git_input(bare, raw, "hash-object", "-t", "tree", "-w", "--stdin", "--literally")
    commit = git(bare, "commit-tree", tree, "-p", "main", "-m", "evil").strip()
    git(bare, "update-ref", "refs/heads/main", commit)
    before = {str(one) for one in tmp_path.rglob("evil.md")}
    await ben.carrier.exchange()
    assert {str(one) for one in tmp_path.rglob("evil.md")} == before == set()
    assert ben.all_seen() <= {SHOWN}


def git_input(folder: Path, data: bytes, *arguments: str) -> str:

    done = subprocess.run(
        ["git", "-C", str(folder), *arguments], input=data, capture_output=True, check=True, timeout=60
    )
    return done.stdout.decode().strip()


async def test_large_file_is_withheld_and_the_others_are_shown(members: list[Member], mallory: Clone) -> None:
    _, ben = members
    (mallory.folder / "memory/2026-11-05-ana.md").write_text("## Retain\n" + "- W: x\n" * 300_000)
    mallory.push()
    await ben.exchange()
    assert ben.all_seen() == {SHOWN}
    assert any("bytes" in one for one in ben.carrier.health().withheld)


def graft(bare: Path, name: str, tree: str, who: str = "mallory") -> None:
    """Put a folder into the repository as it is, beside what is there."""
    top, _, inner = name.partition("/")
    rows = [row for row in git(bare, "ls-tree", "main").splitlines() if not row.endswith(f"\t{top}")]
    if inner:
        tree = git_input(bare, f"040000 tree {tree}\t{inner}\n".encode(), "mktree")
    made = git_input(bare, "\n".join([*rows, f"040000 tree {tree}\t{top}", ""]).encode(), "mktree")
    commit = git(bare, "commit-tree", made, "-p", "main", "-m", "graft", who=who).strip()
    git(bare, "update-ref", "refs/heads/main", commit)


def nested(bare: Path, blob: str, width: int, depth: int) -> str:
    """Return a small tree of very many files."""
    tree = git_input(bare, "".join(f"100644 blob {blob}\t{one}.md\n" for one in range(width)).encode(), "mktree")
    for _ in range(depth):
        tree = git_input(bare, "".join(f"040000 tree {tree}\t{one}\n" for one in range(width)).encode(), "mktree")
    return tree


@swept("place", ["notes/ben", "notes/ana", "other"], 1)
async def test_folder_of_too_many_files_costs_its_person_alone(
    members: list[Member], tmp_path: Path, place: str
) -> None:
    ana, ben = members
    bare = bare_repository(tmp_path)
    blob = git_input(bare, b"# Many\n", "hash-object", "-w", "--stdin")
    # a hundred thousand of them, in the torture a million
    graft(bare, place, nested(bare, blob, 10, whole_or(4, 5)))
    await ben.carrier.exchange()
    health = ben.carrier.health()
    assert health.broken == ""
    assert any("files" in one for one in health.withheld) == (place != "other")
    assert ben.all_seen() == {SHOWN}
    gone = await ana.promote("- W: goes on")
    async with asyncio.timeout(30):
        await ana.exchange()
        await ben.exchange()
        assert "goes on" in (ben.seen(SHOWN) or "")
        assert await ana.sharing.revoke([gone.id])


async def test_more_notes_than_anybody_may_share_are_taken_back_by_naming_fewer(
    members: list[Member], monkeypatch: pytest.MonkeyPatch
) -> None:
    ana, ben = members
    monkeypatch.setattr(repositories, "MAX_FILES", 3)
    notes = {f"memory/projects/{number:03}.md": f"# Project {number}\n" for number in range(40)}
    ana.shared = SharedNotes(notes, {})
    await ana.sharing.sync()
    await ben.exchange()
    assert any("notes/ana" in one and "more than" in one for one in ben.carrier.health().withheld)
    ana.shared = SharedNotes(dict(list(notes.items())[:2]), {})
    await ana.sharing.sync()
    await ben.exchange()
    assert ben.all_seen() == {SHOWN, *(f"ana/{path}" for path in ana.shared.texts)}
    assert "003.md" not in git(Path(ana.git.place.remote), "ls-tree", "-r", "--name-only", "main")


async def test_what_one_shares_too_much_of_costs_that_person_alone(members: list[Member], mallory: Clone) -> None:
    _, ben = members
    mallory.who = "ben"
    for number in range(18):
        note = mallory.folder / f"notes/ben/memory/{number:02}.md"
        note.parent.mkdir(parents=True, exist_ok=True)
        note.write_bytes(b"x" * 1_000_000)
    # what is not shown does not count
    (mallory.folder / "memory/00.bin").write_bytes(b"\0" * 20_000_000)
    mallory.push()
    await ben.exchange()
    assert SHOWN in ben.all_seen()
    assert len(ben.all_seen()) == 17
    assert any("'notes/ben/memory/17.md': ben shares more than" in one for one in ben.carrier.health().withheld)


async def test_a_file_in_the_place_of_a_folder_costs_itself_alone(members: list[Member], mallory: Clone) -> None:
    ana, _ = members
    mallory.who = "ben"
    for path in ("memory/2026-01-01.md/x.md", "memory/a.md/b.md", "memory/z.md"):
        note = mallory.folder / "notes/ben" / path
        note.parent.mkdir(parents=True, exist_ok=True)
        note.write_text("# Note\n")
    (mallory.folder / "memory/2026-01-01-ben.md").write_text("## Retain\n- W: a log\n")
    mallory.push()
    await ana.exchange()
    assert ana.all_seen() == {SHOWN, "ben/memory/2026-01-01.md", "ben/memory/a.md/b.md", "ben/memory/z.md"}
    told = ana.carrier.health().withheld
    assert any("2026-01-01.md/x.md" in one and "folder" in one for one in told)


async def test_note_of_which_somebody_took_a_part_is_not_shown_until_it_is_shared_again(
    members: list[Member], mallory: Clone
) -> None:
    ana, ben = members
    text = b"# X\n\nto deploy on a Friday is\nnot\nallowed\n"
    await ana.carrier.apply(SharedChanges(put={"notes/ana/memory/x.md": text}, why="test"))
    await ana.exchange()
    git(mallory.folder, "pull", "--quiet")
    (mallory.folder / "notes/ana/memory/x.md").write_bytes(text.replace(b"not\n", b""))
    mallory.push()
    await ben.exchange()
    assert ben.seen("ana/memory/x.md") is None
    await ana.exchange()
    await ana.carrier.apply(SharedChanges(put={"notes/ana/memory/x.md": text}, why="test"))
    await ana.exchange()
    await ben.exchange()
    assert ben.seen("ana/memory/x.md") == text.decode()


@swept("is_seen_before", [True, False], 1)
async def test_what_was_taken_back_and_is_merged_in_again_is_not_shown(
    members: list[Member], mallory: Clone, is_seen_before: bool
) -> None:
    ana, ben = members
    gone = await ana.promote("- W: revoked")
    await ana.exchange()
    await ben.exchange()
    git(mallory.folder, "pull", "--quiet")
    old = git(mallory.folder, "rev-parse", "HEAD").strip()
    await ana.sharing.revoke([gone.id])
    await ana.exchange()
    if is_seen_before:
        await ben.exchange()
    git(mallory.folder, "pull", "--quiet")
    made = git(mallory.folder, "commit-tree", f"{old}^{{tree}}", "-p", "HEAD", "-p", old, "-m", "merge").strip()
    git(mallory.folder, "push", "--quiet", "origin", f"{made}:main")
    await ben.exchange()
    assert "under the mat" in (ben.seen(SHOWN) or "")
    assert "revoked" not in (ben.seen(SHOWN) or "")
    # another one who looks for the first time sees the same
    again = await ben.beside(ben.notes.parent.parent / "anew", "ben").open()
    await again.exchange()
    assert again.seen(SHOWN) == ben.seen(SHOWN)


async def test_memory_of_which_somebody_took_a_line_is_not_shown(members: list[Member], mallory: Clone) -> None:
    ana, ben = members
    text = b"## Retain\n- W: a deploy on a Friday is\n  not\n  allowed\n- W: the other\n"
    await ana.carrier.apply(SharedChanges(put={"memory/2026-11-03-ana.md": text}, why="test"))
    await ana.exchange()
    git(mallory.folder, "pull", "--quiet")
    (mallory.folder / "memory/2026-11-03-ana.md").write_bytes(text.replace(b"  not\n", b""))
    mallory.push()
    await ben.exchange()
    assert "deploy" not in (ben.seen("ana/memory/2026-11-03.md") or "")
    assert "the other" in (ben.seen("ana/memory/2026-11-03.md") or "")


async def test_log_that_takes_git_long_to_blame_is_withheld(members: list[Member], mallory: Clone) -> None:
    _, ben = members
    log = mallory.folder / "memory/2026-11-04-ana.md"
    log.write_text("## Retain\n" + "".join(f"- W: {one}\n" for one in range(70_000)))
    mallory.who = "ana"
    mallory.push()
    mallory.who = "mallory"
    log.write_text(log.read_text() + "- W: one more\n")
    mallory.push()
    await ben.exchange()
    assert ben.all_seen() == {SHOWN}
    assert any("2026-11-04" in one for one in ben.carrier.health().withheld)


async def test_answer_is_not_whole_while_it_is_not_known_who_wrote_what(
    members: list[Member], mallory: Clone, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, ben = members
    log = mallory.folder / "memory/2026-11-04-ana.md"
    log.write_text("## Retain\n- W: one\n")
    mallory.who = "ana"
    mallory.push()
    mallory.who = "mallory"
    log.write_text(log.read_text() + "- W: one more\n")
    mallory.push()
    with monkeypatch.context() as hasty:
        hasty.setattr(attribution, "ALL_BLAME_SECONDS", 0)
        await ben.carrier.exchange()
    assert ben.all_seen() == {SHOWN}
    assert "who wrote it" in ben.sharing.why_outdated()
    # it is looked up soon, and not at the next interval only
    monkeypatch.setattr(sharings, "SOON_SECONDS", 0.0)
    monkeypatch.setattr(sharings, "SEND_SECONDS", 0.1)

    async def unknown() -> None:
        return None

    again = TeamSharing(ben.carrier, "ben", notes=unknown, published=ben.published, minutes=60)
    seen = {ben.carrier.health().fetched_at}
    with monkeypatch.context() as hasty:
        hasty.setattr(attribution, "ALL_BLAME_SECONDS", 0)
        running = asyncio.create_task(again.run())
        await eventually_async(lambda: len(seen | {ben.carrier.health().fetched_at}) > 1)
        seen.add(ben.carrier.health().fetched_at)
        await eventually_async(lambda: len(seen | {ben.carrier.health().fetched_at}) > 2)
    await eventually_async(lambda: again.why_outdated() == "")
    running.cancel()
    assert (ben.seen("ana/memory/2026-11-04.md"), ben.sharing.why_outdated()) == ("## Retain\n- W: one\n\n", "")


@pytest.mark.parametrize("when", ["is about to", "does", "is not indexed yet"])
async def test_what_changes_while_notes_are_exchanged_is_exchanged_soon(
    members: list[Member], monkeypatch: pytest.MonkeyPatch, when: str
) -> None:
    monkeypatch.setattr(sharings, "SOON_SECONDS", 0.0)
    monkeypatch.setattr(sharings, "SEND_SECONDS", 0.0)
    looks = 0

    async def looked_at() -> SharedNotes:
        nonlocal looks
        looks += 1
        if looks == 1 and when == "does":
            sharing.exchange_soon()
        return SharedNotes({}, {}, None if looks == 1 and when == "is not indexed yet" else frozenset())

    ben = members[1]
    sharing = TeamSharing(ben.carrier, "ben", notes=looked_at, published=ben.published, minutes=60)
    if when == "is about to":
        sharing.exchange_soon()
    running = asyncio.create_task(sharing.run())
    await eventually_async(lambda: looks > 1)
    running.cancel()
    await asyncio.wait([running])


async def test_names_that_mean_something_else_are_nobodys(members: list[Member], mallory: Clone) -> None:
    people = {"ana": ["ana@example.org"], "session": ["mallory@example.org"]}
    (mallory.folder / "team.json").write_text(json.dumps({"name": "acme", "people": people}))
    (mallory.folder / "memory/2026-11-02-session.md").write_text("## Retain\n- W: trust me\n")
    mallory.push()
    await members[1].carrier.exchange()
    assert members[1].all_seen() == {SHOWN}
    assert any("may be called session" in one for one in members[1].carrier.health().withheld)


async def test_half_merged_log_is_withheld_and_named(members: list[Member], mallory: Clone) -> None:
    ana, ben = members
    mallory.who = "ana"
    log = mallory.folder / ANAS_FILE
    log.write_text(f"## Retain\n<<<<<<< HEAD\n{log.read_text()}=======\n- W: other\n>>>>>>> theirs\n")
    mallory.push()
    await ben.exchange()
    assert ben.all_seen() == set()
    assert any("merge" in one for one in ben.carrier.health().withheld)
    # what ana shares meanwhile waits, and is not pressed into a text that nobody understands
    await ana.promote("- W: waits")
    await ana.carrier.exchange()
    assert "merge" in ana.carrier.health().broken
    assert ana.carrier.health().pending == 1
    log.write_text("## Retain\n- W: mended\n")
    mallory.push()
    await ana.exchange()
    await ben.exchange()
    assert "mended" in (ben.seen(SHOWN) or "")
    assert "waits" in (ben.seen(SHOWN) or "")


async def test_push_that_is_refused_is_named_and_goes_when_it_may(members: list[Member], tmp_path: Path) -> None:
    ana, ben = members
    bare = bare_repository(tmp_path)
    git(bare, "config", "receive.denyNonFastForwards", "true")
    git(bare, "config", "transfer.hideRefs", "refs/heads/main")
    await ana.promote("- W: refused")
    # a branch that may not be written: as of a server that protects it
    git(bare, "config", "--unset", "transfer.hideRefs")
    git(bare, "config", "receive.hideRefs", "refs/heads/main")
    await ana.carrier.exchange()
    assert ana.carrier.health().refused
    assert ana.carrier.health().pending == 1
    assert ana.carrier.health().troubles
    git(bare, "config", "--unset", "receive.hideRefs")
    await ana.exchange()
    await ben.exchange()
    assert "refused" in (ben.seen(SHOWN) or "")


async def test_remote_that_is_away_for_days_costs_one_difference(members: list[Member], tmp_path: Path) -> None:
    ana, ben = members
    bare = bare_repository(tmp_path)
    before = int(git(bare, "rev-list", "--count", "main"))
    bare.rename(tmp_path / "away.git")
    for number in range(1, 4):
        await ana.promote(f"- W: day {number}", date(2026, 11, 2 + number))
        await ana.carrier.exchange()
        assert ana.carrier.health().offline
        assert not ana.carrier.health().troubles
    assert ana.carrier.health().pending == 3
    (tmp_path / "away.git").rename(bare)
    await ben.promote("- W: ben meanwhile")
    await ben.exchange()
    await ana.exchange()
    await ben.exchange()
    assert len(ben.all_seen()) == 5
    assert int(git(bare, "rev-list", "--count", "main")) == before + 2


async def test_what_was_purged_from_the_history_is_not_shared_again(members: list[Member], tmp_path: Path) -> None:
    ana, ben = members
    clone = Clone(tmp_path / "purge", bare_repository(tmp_path), "ana")
    git(clone.folder, "reset", "--quiet", "--hard", "HEAD~1")
    clone.push("purged", force=True)
    await ana.promote("- W: new", date(2026, 11, 9))
    await ana.exchange()
    await ben.exchange()
    assert ben.all_seen() == ana.all_seen() == {"ana/memory/2026-11-09.md"}
    assert "under the mat" not in git(bare_repository(tmp_path), "log", "-p", "main")


async def test_secrets_reach_no_object_of_the_repository(members: list[Member], tmp_path: Path) -> None:
    ana, _ = members
    ana.shared = SharedNotes({"memory/keys.md": f"the token is {TOKEN}\n", "memory/fine.md": "# Fine\n"}, {})
    await ana.sharing.sync()
    assert ana.carrier.health().pending == 0
    assert [one for one in ana.sharing.refused if "secret" in one]
    told = objects_of(bare_repository(tmp_path)) + objects_of(ana.checkout)
    assert b"# Fine" in told
    assert TOKEN.encode() not in told


@swept("meanwhile", ["nothing", "ben shares", "an empty remote"], 1)
async def test_what_was_taken_back_before_it_was_sent_never_leaves(tmp_path: Path, meanwhile: str) -> None:
    ana, ben = await team(tmp_path, "ana", "ben")
    bare, away = bare_repository(tmp_path), tmp_path / "away.git"
    bare.rename(away)
    gone = await ana.promote("- W: the zanzibar accident")
    await ana.carrier.exchange()
    assert ana.carrier.health().offline
    await ana.sharing.revoke([gone.id])
    ana.shared = SharedNotes({"memory/draft.md": "# quokka\n"}, {})
    await ana.sharing.sync()
    ana.shared = SharedNotes({}, {})
    await ana.sharing.sync()
    await ana.promote("- W: stays")
    away.rename(bare)
    if meanwhile == "ben shares":
        await ben.promote("- W: ben meanwhile")
        await ben.exchange()
    elif meanwhile == "an empty remote":
        shutil.rmtree(bare)
        bare_repository(tmp_path)
    await ana.exchange()
    await ben.exchange()
    sent = objects_of(bare)
    assert b"zanzibar" not in sent
    assert b"quokka" not in sent
    assert "stays" in (ben.seen(SHOWN) or "")


async def test_taking_back_what_was_sent_without_being_noted_takes_it_back(
    members: list[Member], tmp_path: Path
) -> None:
    ana, ben = members
    shared = await ana.promote("- W: sent, and killed before it was noted")
    git(ana.checkout, "push", "--quiet", str(bare_repository(tmp_path)), "refs/memoryd/local:refs/heads/main")
    await ana.sharing.revoke([shared.id])
    await ana.promote("- W: another one")
    await ana.exchange()
    await ben.exchange()
    assert "killed" not in (ben.seen(SHOWN) or "")
    assert "another one" in (ben.seen(SHOWN) or "")


async def test_note_that_is_no_longer_shared_goes_from_the_others(members: list[Member]) -> None:
    ana, ben = members
    ana.shared = SharedNotes({"memory/a.md": "# A\n", "memory/b.md": "# B\n"}, {})
    await ana.sharing.sync()
    await ben.exchange()
    assert ben.all_seen() == {SHOWN, "ana/memory/a.md", "ana/memory/b.md"}
    # one that cannot be read at this moment stays as it was
    ana.shared = SharedNotes({"memory/a.md": None}, {})
    await ana.sharing.sync()
    await ben.exchange()
    assert ben.all_seen() == {SHOWN, "ana/memory/a.md"}
    # while nobody knows which notes there are, nothing is taken back
    ana.shared = None
    await ana.sharing.sync()
    await ben.exchange()
    assert ben.all_seen() == {SHOWN, "ana/memory/a.md"}


def sleeping_ssh(tmp_path: Path) -> Path:
    program = tmp_path / "ssh"
    program.write_text(f"#!/bin/sh\necho $$ >> {tmp_path}/ssh.pids\nexec sleep 600\n")
    program.chmod(0o755)
    return program


async def test_git_that_hangs_is_killed_at_its_deadline_and_nothing_is_left(
    members: list[Member], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ana, _ = members
    monkeypatch.setenv("GIT_SSH_COMMAND", str(sleeping_ssh(tmp_path)))
    # time enough for it to begin, beside whatever else runs
    monkeypatch.setattr(repositories, "NETWORK_SECONDS", 4.0)
    member = await Member(tmp_path / "far", "git@host.invalid:acme.git", "ana").open()
    async with asyncio.timeout(SECONDS):
        await member.carrier.exchange()
    assert "did not end within 4 s" in member.carrier.health().offline
    (pid,) = [int(one) for one in (tmp_path / "ssh.pids").read_text().split()]
    await eventually_async(lambda: not Path(f"/proc/{pid}").exists())
    # the other side of the house goes on meanwhile
    await ana.promote("- W: goes on")
    await ana.exchange()


SLOW_SSH = """#!{python}
import os, subprocess, sys, time
sent, served = 0, subprocess.Popen(["sh", "-c", sys.argv[-1]], stdout=subprocess.PIPE)
while data := os.read(served.stdout.fileno(), 65536):
    os.write(1, data)
    sent += len(data)
    time.sleep(600 if sent > {most} else 0.5)
"""


@swept("most", [10**9, 400_000], 1)
async def test_slow_line_brings_all_and_one_that_falls_silent_leaves_nothing(
    members: list[Member], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    ana, _ = members
    text = base64.b64encode(os.urandom(600_000)).decode()
    ana.shared = SharedNotes({"memory/large.md": f"# Large\n\n{text}\n"}, {})
    await ana.sharing.sync()
    program = tmp_path / "ssh"
    program.write_text(SLOW_SSH.format(python=sys.executable, most=most))
    program.chmod(0o755)
    monkeypatch.setenv("GIT_SSH_COMMAND", str(program))
    # less than the whole takes, and more than a busy machine is silent
    monkeypatch.setattr(repositories, "NETWORK_SECONDS", 4.0)
    far = await Member(tmp_path / "far", f"host:{tmp_path}/team.git", "ben").open()
    await far.carrier.exchange()
    assert bool(far.carrier.health().offline) == (most == 400_000)
    assert (far.seen("ana/memory/large.md") is None) == (most == 400_000)
    assert not list(far.checkout.rglob("tmp_*"))


async def test_promoting_does_not_wait_for_an_exchange_that_hangs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await team(tmp_path, "ana")
    monkeypatch.setenv("GIT_SSH_COMMAND", str(sleeping_ssh(tmp_path)))
    monkeypatch.setattr("memoryd.team.sharing.SEND_SECONDS", 1.0)
    far = Member(tmp_path / "ana", "git@host.invalid:acme.git", "ana")
    hanging = asyncio.ensure_future(far.carrier.exchange())
    await eventually_async(lambda: (tmp_path / "ssh.pids").exists())
    async with asyncio.timeout(15):
        await far.promote("- W: at once")
        assert not await far.sharing.send()
    assert "at once" in (far.seen(SHOWN) or "")
    assert far.carrier.health().pending == 1
    hanging.cancel()
    await asyncio.wait([hanging])


@pytest.mark.sweep
@pytest.mark.parametrize("step", range(0, 12, whole_or(12, 1)))
async def test_git_that_is_killed_anywhere_loses_and_doubles_nothing(
    members: list[Member], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: int
) -> None:
    """The git of some step of a promotion or an exchange dies by SIGKILL; the next exchange ends it all the same."""
    ana, ben = members
    await ben.promote("- W: ben, so that ana must put hers upon it")
    await ben.exchange()
    attempt, count = Git.attempt, 0

    async def killed(self: Git, *arguments: str, **more: object) -> object:
        nonlocal count
        count += 1
        if count == 3 + 2 * step:
            (tmp_path / "bin").mkdir(exist_ok=True)
            dying = tmp_path / "bin" / "git"
            real = shutil.which("git")
            dying.write_text(f'#!/bin/sh\n"{real}" "$@" & sleep 0.00$((RANDOM % 10)) 2>/dev/null; kill -9 $! $$\n')
            dying.chmod(0o755)
            path = os.environ["PATH"]
            monkeypatch.setenv("PATH", f"{tmp_path}/bin:{path}")
            try:
                return await attempt(self, *arguments, **more)  # type: ignore[arg-type]
            finally:
                monkeypatch.setenv("PATH", path)
        return await attempt(self, *arguments, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(Git, "attempt", killed)
    try:
        await ana.promote("- W: ana, through all of it")
    except (SidecarError, InvalidRequest):
        monkeypatch.setattr(Git, "attempt", attempt)
        await ana.promote("- W: ana, through all of it")
    await ana.carrier.exchange()
    monkeypatch.setattr(Git, "attempt", attempt)
    # as the next start does
    again = Member(ana.checkout.parent, ana.git.place.remote, "ana")
    await again.exchange()
    await ben.exchange()
    texts = (ben.seen(SHOWN) or "").splitlines()
    assert texts == ["## Retain", "- W @Peter: the key is under the mat", "- W: ana, through all of it"]
    assert "ben, so that" in (again.seen("ben/memory/2026-11-02.md") or "")


async def test_remote_that_another_one_writes_at_this_moment_refuses_nothing(
    members: list[Member], tmp_path: Path
) -> None:
    ana, ben = members
    lock = bare_repository(tmp_path) / "refs" / "heads" / "main.lock"
    lock.touch()
    await ana.promote("- W: goes on")
    await ana.carrier.exchange()
    assert "others push all the time" in ana.carrier.health().refused
    lock.unlink()
    await ana.exchange()
    await ben.exchange()
    assert "goes on" in (ben.seen(SHOWN) or "")


async def test_of_two_who_take_a_name_at_once_the_faster_has_it(members: list[Member], tmp_path: Path) -> None:
    ana, _ = members
    both = [await ana.beside(tmp_path / name, "cem").open() for name in ("faster", "slower")]
    for number, one in enumerate(both):
        await one.exchange()
        await one.git.create_team((await one.git.people()).with_person("cem", f"cem{number}@example.org"), "cem joins")
    for one in both:
        await one.exchange()
        assert (await one.git.people()).people["cem"] == ("cem0@example.org",)


async def test_what_a_killed_git_or_daemon_left_is_removed(members: list[Member]) -> None:
    ana, _ = members
    lock = ana.checkout / "refs" / "memoryd" / "local.lock"
    lock.touch()
    draft, other = ana.checkout / "blob-0a1b2c3d", ana.checkout / "blob-of-theirs"
    for path in (draft, other):
        path.write_text("- W: cut short")
    again = Member(ana.checkout.parent, ana.git.place.remote, "ana")
    await again.promote("- W: goes on")
    await again.exchange()
    assert not lock.exists()
    assert not draft.exists()
    assert other.exists()


async def test_checkout_of_a_person_is_left_as_it_is(members: list[Member], tmp_path: Path) -> None:
    ana, ben = members
    own = tmp_path / "own"
    git(tmp_path, "clone", "--quiet", ana.git.place.remote, str(own))
    git(own, "config", "user.name", "ana")
    git(own, "config", "user.email", "ana@example.org")
    (own / "draft.md").write_text("what ana is writing")
    (own / ANAS_FILE).write_text("half a sentence")
    before = git(own, "status", "--porcelain=v2", "--branch")
    place = TeamPlace(remote=ana.git.place.remote, person="ana", checkout=own, is_own=False, notes=tmp_path / "notes")
    carrier = carriers.GitCarrier(place)
    await carrier.exchange()
    await carrier.apply(
        SharedChanges(put={log_path("ana", date(2026, 11, 7)): b"## Retain\n- W: shared\n"}, why="test")
    )
    await carrier.exchange()
    assert carrier.health().pending == 0
    assert git(own, "status", "--porcelain=v2", "--branch") == before
    assert (own / ANAS_FILE).read_text() == "half a sentence"
    assert (place.notes / SHOWN).read_text().endswith("under the mat\n")
    await ben.exchange()
    assert "shared" in (ben.seen("ana/memory/2026-11-07.md") or "")


async def test_who_git_does_not_know_is_told_what_to_type(members: list[Member]) -> None:
    ana, _ = members
    git(ana.checkout, "config", "--unset", "user.email")
    with pytest.raises(InvalidRequest, match="does not know who you are") as caught:
        await ana.promote("- W: whoever says it")
    assert "git config --global user.email" in caught.value.hint


def test_folder_of_another_user_is_told_with_its_remedy() -> None:
    told = GitResult(
        128,
        b"",
        "fatal: detected dubious ownership in repository at '/srv/x.git'\nTo add an exception for this directory, "
        "call:\n\n\tgit config --global --add safe.directory /srv/x.git\n"
        "fatal: Could not read from remote repository.\n\nPlease make sure you have the correct access rights\n"
        "and the repository exists.\n",
    ).reason
    assert "dubious ownership" in told
    assert "git config --global --add safe.directory /srv/x.git" in told


def test_no_password_is_in_what_git_says() -> None:
    told = GitResult(128, b"", "fatal: unable to access 'https://ana:tok3n@host.example/x.git/': no route\n").reason
    assert "tok3n" not in told
    assert "host.example/x.git" in told


@pytest.mark.parametrize("path", ["memory/logs/2026-11-03.md", "memory/2026-11-03-x.md", f"memory/{TOKEN}.md"])
async def test_log_and_name_with_a_secret_are_not_shared_by_path(members: list[Member], path: str) -> None:
    ana, _ = members
    ana.shared = SharedNotes({path: "# Fine\n"}, {})
    await ana.sharing.sync()
    assert list(await ana.carrier.known()) == [ANAS_FILE]
    assert len(ana.sharing.refused) == 1


async def test_what_could_not_be_taken_back_is_by_the_next_exchange(members: list[Member]) -> None:
    ana, ben = members
    shared = await ana.promote("- W: to be forgotten")
    await ana.exchange()
    await ben.exchange()
    never = line("- W: never shared").id
    assert await ana.sharing.queue_revocation([shared.id], is_dry_run=False)
    assert not await ana.sharing.queue_revocation([never], is_dry_run=False)
    # it is known after a restart, too
    ana = await ana.again()
    ana.shared = SharedNotes({}, {}, frozenset())
    await ana.sharing.sync()
    await ben.exchange()
    assert "forgotten" not in (ben.seen(SHOWN) or "")
    assert json.loads(ana.published.read_text()) == []


async def test_what_holds_no_more_in_ones_own_notes_is_taken_back(members: list[Member]) -> None:
    ana, ben = members
    stays, goes = await ana.promote("- W: the door is green"), await ana.promote("- W: the door is red")
    # while nobody knows what stands, nothing is taken back
    ana.shared = SharedNotes({}, {})
    await ana.sharing.sync()
    assert (await ana.sharing.memories()).keys() >= {stays.id, goes.id}
    ana.shared = SharedNotes({}, {}, {stays.id})
    await ana.sharing.sync()
    await ben.exchange()
    assert "green" in (ben.seen(SHOWN) or "")
    assert "red" not in (ben.seen(SHOWN) or "")


async def test_what_another_machine_of_the_same_person_shares_is_not_taken_back(
    members: list[Member], tmp_path: Path
) -> None:
    ana, _ = members
    shared = await ana.promote("- W: from the desk")
    await ana.exchange()
    laptop = await ana.beside(tmp_path / "laptop", "ana").open()
    laptop.shared = SharedNotes({}, {}, frozenset())
    await laptop.exchange()
    await laptop.sharing.sync()
    assert shared.id in await laptop.sharing.memories()


async def test_missing_git_is_a_state(members: list[Member], monkeypatch: pytest.MonkeyPatch) -> None:
    ana, _ = members
    monkeypatch.setenv("PATH", "/nonexistent")
    again = Member(ana.checkout.parent, ana.git.place.remote, "ana")
    await again.carrier.exchange()
    assert "install git" in again.carrier.health().broken


def test_environment_of_git_holds_no_key_of_ours() -> None:
    seen = git_environment({"PATH": "/bin", "OPENAI_API_KEY": "x", "GIT_DIR": "/evil", "GIT_CONFIG_COUNT": "1"})
    assert {"OPENAI_API_KEY", "GIT_DIR", "GIT_CONFIG_COUNT"}.isdisjoint(seen)
    assert seen["GIT_TERMINAL_PROMPT"] == "0"
    assert "BatchMode=yes" in seen["GIT_SSH_COMMAND"]


def test_git_reaches_the_network_as_its_owner_does() -> None:
    way = {"HTTPS_PROXY": "http://p", "https_proxy": "http://p", "NO_PROXY": "x", "SSL_CERT_FILE": "/ca.pem"}
    way |= {"all_proxy": "socks5://p", "GIT_SSL_CAINFO": "/ca.pem"}
    assert way.items() <= git_environment(way).items()


@swept("nth", [1, *range(2, 9), 99], 1)
@swept("command", ["rev-parse", "config|merge-base|ls-tree|cat-file|update-ref"], 1)
async def test_answer_of_a_git_that_was_killed_is_none(
    members: list[Member], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str, nth: int
) -> None:
    """A git that says nothing says neither that there is no commit nor that nothing is signed."""
    ana, ben = members
    await ben.promote("- W: ben meanwhile")
    await ben.exchange()
    dying = tmp_path / "bin" / "git"
    dying.parent.mkdir()
    real = shutil.which("git")
    counted = f'echo x >> "{tmp_path}/count"; [ $(wc -l < "{tmp_path}/count") = {nth} ] && kill -9 $$'
    patterns = "|".join(f'*" {one} "*' for one in command.split("|"))
    dying.write_text(f'#!/bin/sh\ncase " $* " in {patterns}) {counted};; esac\nexec "{real}" "$@"\n')
    dying.chmod(0o755)
    before = git(ana.checkout, "rev-parse", "refs/memoryd/local")
    path = os.environ["PATH"]
    monkeypatch.setenv("PATH", f"{dying.parent}:{path}")
    with suppress(SidecarError):
        await ana.promote("- W: whatever it says")
    await ana.carrier.exchange()
    monkeypatch.setenv("PATH", path)
    # what there was leads to what there is
    git(ana.checkout, "merge-base", "--is-ancestor", before.strip(), "refs/memoryd/local")
    await ana.promote("- W: in the end")
    await ana.exchange()
    await ben.exchange()
    assert (ben.seen(SHOWN) or "").splitlines()[1] == "- W @Peter: the key is under the mat"
    assert "in the end" in (ben.seen(SHOWN) or "")
