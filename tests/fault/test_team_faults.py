"""Faults of teams: hostile repositories, a git that hangs or dies, and remotes that refuse."""

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
    """A working tree of the repository, for arbitrary commits."""

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


async def test_line_added_by_another_person_is_not_shown(members: list[Member], mallory: Clone) -> None:
    _, ben = members
    log = mallory.folder / ANAS_FILE
    log.write_text(log.read_text() + "- W @Ana: ana owes mallory a thousand\n")
    mallory.push()
    await ben.exchange()
    assert ben.seen(SHOWN) == "## Retain\n- W @Peter: the key is under the mat\n\n"
    assert any("1 of its lines were not written by ana" in reason for reason in ben.carrier.health().withheld)


async def test_mailmap_of_the_repository_is_ignored(members: list[Member], mallory: Clone) -> None:
    _, ben = members
    (mallory.folder / ".mailmap").write_text("ana <ana@example.org> <mallory@example.org>\n")
    log = mallory.folder / ANAS_FILE
    log.write_text(log.read_text() + "- W @Ana: ana owes mallory a thousand\n")
    mallory.push()
    await ben.exchange()
    assert "thousand" not in (ben.seen(SHOWN) or "")


async def test_note_edited_by_another_person_is_not_shown(members: list[Member], mallory: Clone) -> None:
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


async def test_memory_of_a_non_member_is_not_shown(members: list[Member], mallory: Clone) -> None:
    (mallory.folder / "memory/2026-11-02-mallory.md").write_text("## Retain\n- W: trust me\n")
    mallory.push()
    await members[1].exchange()
    assert members[1].all_seen() == {SHOWN}


async def test_removed_team_file_is_reported_with_a_remedy(members: list[Member], mallory: Clone) -> None:
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


async def test_renamed_team_is_reported(members: list[Member], mallory: Clone) -> None:
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


async def test_links_modules_and_filters_of_the_repository_are_not_used(
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
    # ben's own configuration for other repositories must not run for this one
    for key in ("filter.evil.smudge", "filter.evil.clean", "diff.evil.textconv", "diff.evil.command"):
        git(ben.checkout, "config", key, f"touch {bait}; cat")
    mallory.push()
    await ben.exchange()
    assert ben.all_seen() == {SHOWN}
    assert not bait.exists()
    assert not any("secret of ben" in path.read_text() for path in ben.notes.rglob("*.md"))
    assert len(ben.carrier.health().withheld) >= 4


async def test_hooks_of_a_local_repository_do_not_run(members: list[Member], tmp_path: Path) -> None:
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
async def test_path_out_of_the_view_is_never_written(members: list[Member], tmp_path: Path, path: str) -> None:
    """A tree can be made by hand with names that `git add` refuses."""
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
    assert not list(tmp_path.rglob("evil.md"))
    await ben.carrier.exchange()
    assert not list(tmp_path.rglob("evil.md"))
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
    assert any("bytes" in reason for reason in ben.carrier.health().withheld)


def graft(bare: Path, name: str, tree: str, who: str = "mallory") -> None:
    """Commit a tree as a folder of the repository, beside its content."""
    top, _, inner = name.partition("/")
    rows = [row for row in git(bare, "ls-tree", "main").splitlines() if not row.endswith(f"\t{top}")]
    if inner:
        tree = git_input(bare, f"040000 tree {tree}\t{inner}\n".encode(), "mktree")
    made = git_input(bare, "\n".join([*rows, f"040000 tree {tree}\t{top}", ""]).encode(), "mktree")
    commit = git(bare, "commit-tree", made, "-p", "main", "-m", "graft", who=who).strip()
    git(bare, "update-ref", "refs/heads/main", commit)


def nested(bare: Path, blob: str, width: int, depth: int) -> str:
    """Return a tree of very many files in few objects."""
    tree = git_input(bare, "".join(f"100644 blob {blob}\t{number}.md\n" for number in range(width)).encode(), "mktree")
    for _ in range(depth):
        tree = git_input(bare, "".join(f"040000 tree {tree}\t{number}\n" for number in range(width)).encode(), "mktree")
    return tree


@swept("place", ["notes/ben", "notes/ana", "other"], 1)
async def test_too_many_files_affect_only_their_person(members: list[Member], tmp_path: Path, place: str) -> None:
    ana, ben = members
    bare = bare_repository(tmp_path)
    blob = git_input(bare, b"# Many\n", "hash-object", "-w", "--stdin")
    # a hundred thousand files, in `make torture` a million
    graft(bare, place, nested(bare, blob, 10, whole_or(4, 5)))
    await ben.carrier.exchange()
    health = ben.carrier.health()
    assert health.broken == ""
    assert any("files" in reason for reason in health.withheld) == (place != "other")
    assert ben.all_seen() == {SHOWN}
    gone = await ana.promote("- W: goes on")
    async with asyncio.timeout(30):
        await ana.exchange()
        await ben.exchange()
        assert "goes on" in (ben.seen(SHOWN) or "")
        assert await ana.sharing.revoke([gone.id])


async def test_too_many_shared_notes_are_revoked_by_naming_fewer(
    members: list[Member], monkeypatch: pytest.MonkeyPatch
) -> None:
    ana, ben = members
    monkeypatch.setattr(repositories, "MAX_FILES", 3)
    notes = {f"memory/projects/{number:03}.md": f"# Project {number}\n" for number in range(40)}
    ana.shared = SharedNotes(notes, {})
    await ana.sharing.sync()
    await ben.exchange()
    assert any("notes/ana" in reason and "more than" in reason for reason in ben.carrier.health().withheld)
    ana.shared = SharedNotes(dict(list(notes.items())[:2]), {})
    await ana.sharing.sync()
    await ben.exchange()
    assert ben.all_seen() == {SHOWN, *(f"ana/{path}" for path in ana.shared.texts)}
    assert "003.md" not in git(Path(ana.git.place.remote), "ls-tree", "-r", "--name-only", "main")


async def test_too_many_bytes_affect_only_their_person(members: list[Member], mallory: Clone) -> None:
    _, ben = members
    mallory.who = "ben"
    for number in range(18):
        note = mallory.folder / f"notes/ben/memory/{number:02}.md"
        note.parent.mkdir(parents=True, exist_ok=True)
        note.write_bytes(b"x" * 1_000_000)
    # files that are not shown do not count
    (mallory.folder / "memory/00.bin").write_bytes(b"\0" * 20_000_000)
    mallory.push()
    await ben.exchange()
    assert SHOWN in ben.all_seen()
    assert len(ben.all_seen()) == 17
    assert any("'notes/ben/memory/17.md': ben shares more than" in reason for reason in ben.carrier.health().withheld)


async def test_file_in_place_of_a_folder_is_withheld(members: list[Member], mallory: Clone) -> None:
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
    withheld = ana.carrier.health().withheld
    assert any("2026-01-01.md/x.md" in reason and "folder" in reason for reason in withheld)


async def test_note_with_a_removed_line_is_hidden_until_shared_again(members: list[Member], mallory: Clone) -> None:
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
async def test_revoked_memory_that_is_merged_again_is_not_shown(
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
    # a new machine sees the same
    again = await ben.beside(ben.notes.parent.parent / "anew", "ben").open()
    await again.exchange()
    assert again.seen(SHOWN) == ben.seen(SHOWN)


async def test_memory_with_a_removed_line_is_not_shown(members: list[Member], mallory: Clone) -> None:
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


async def test_log_that_is_slow_to_blame_is_withheld(members: list[Member], mallory: Clone) -> None:
    _, ben = members
    log = mallory.folder / "memory/2026-11-04-ana.md"
    log.write_text("## Retain\n" + "".join(f"- W: {number}\n" for number in range(70_000)))
    mallory.who = "ana"
    mallory.push()
    mallory.who = "mallory"
    log.write_text(log.read_text() + "- W: one more\n")
    mallory.push()
    await ben.exchange()
    assert ben.all_seen() == {SHOWN}
    assert any("2026-11-04" in reason for reason in ben.carrier.health().withheld)


async def test_answer_is_incomplete_while_authors_are_unknown(
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
    # it is retried soon, not only at the next interval
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
async def test_change_during_an_exchange_is_exchanged_soon(
    members: list[Member], monkeypatch: pytest.MonkeyPatch, when: str
) -> None:
    monkeypatch.setattr(sharings, "SOON_SECONDS", 0.0)
    monkeypatch.setattr(sharings, "SEND_SECONDS", 0.0)
    looks = 0

    async def notes_to_share() -> SharedNotes:
        nonlocal looks
        looks += 1
        if looks == 1 and when == "does":
            sharing.exchange_soon()
        return SharedNotes({}, {}, None if looks == 1 and when == "is not indexed yet" else frozenset())

    ben = members[1]
    sharing = TeamSharing(ben.carrier, "ben", notes=notes_to_share, published=ben.published, minutes=60)
    if when == "is about to":
        sharing.exchange_soon()
    running = asyncio.create_task(sharing.run())
    await eventually_async(lambda: looks > 1)
    running.cancel()
    await asyncio.wait([running])


async def test_reserved_name_is_no_person(members: list[Member], mallory: Clone) -> None:
    people = {"ana": ["ana@example.org"], "session": ["mallory@example.org"]}
    (mallory.folder / "team.json").write_text(json.dumps({"name": "acme", "people": people}))
    (mallory.folder / "memory/2026-11-02-session.md").write_text("## Retain\n- W: trust me\n")
    mallory.push()
    await members[1].carrier.exchange()
    assert members[1].all_seen() == {SHOWN}
    assert any("may be called session" in reason for reason in members[1].carrier.health().withheld)


async def test_log_with_conflict_markers_is_withheld_and_named(members: list[Member], mallory: Clone) -> None:
    ana, ben = members
    mallory.who = "ana"
    log = mallory.folder / ANAS_FILE
    log.write_text(f"## Retain\n<<<<<<< HEAD\n{log.read_text()}=======\n- W: other\n>>>>>>> theirs\n")
    mallory.push()
    await ben.exchange()
    assert ben.all_seen() == set()
    assert any("merge" in reason for reason in ben.carrier.health().withheld)
    # what ana shares meanwhile waits, and is not added to the broken text
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


async def test_refused_push_is_reported_and_repeated(members: list[Member], tmp_path: Path) -> None:
    ana, ben = members
    bare = bare_repository(tmp_path)
    git(bare, "config", "receive.denyNonFastForwards", "true")
    git(bare, "config", "transfer.hideRefs", "refs/heads/main")
    await ana.promote("- W: refused")
    # a branch that may not be written, like on a server that protects it
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


async def test_unreachable_remote_is_updated_by_one_commit(members: list[Member], tmp_path: Path) -> None:
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


async def test_memory_purged_from_the_history_is_not_shared_again(members: list[Member], tmp_path: Path) -> None:
    ana, ben = members
    clone = Clone(tmp_path / "purge", bare_repository(tmp_path), "ana")
    git(clone.folder, "reset", "--quiet", "--hard", "HEAD~1")
    clone.push("purged", force=True)
    await ana.promote("- W: new", date(2026, 11, 9))
    await ana.exchange()
    await ben.exchange()
    assert ben.all_seen() == ana.all_seen() == {"ana/memory/2026-11-09.md"}
    assert "under the mat" not in git(bare_repository(tmp_path), "log", "-p", "main")


async def test_secrets_are_in_no_object_of_the_repository(members: list[Member], tmp_path: Path) -> None:
    ana, _ = members
    ana.shared = SharedNotes({"memory/keys.md": f"the token is {TOKEN}\n", "memory/fine.md": "# Fine\n"}, {})
    await ana.sharing.sync()
    assert ana.carrier.health().pending == 0
    assert [reason for reason in ana.sharing.refused if "secret" in reason]
    objects = objects_of(bare_repository(tmp_path)) + objects_of(ana.checkout)
    assert b"# Fine" in objects
    assert TOKEN.encode() not in objects


@swept("meanwhile", ["nothing", "ben shares", "an empty remote"], 1)
async def test_memory_revoked_before_it_was_sent_is_never_sent(tmp_path: Path, meanwhile: str) -> None:
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


async def test_memory_sent_just_before_a_kill_can_be_revoked(members: list[Member], tmp_path: Path) -> None:
    ana, ben = members
    shared = await ana.promote("- W: sent, and killed before it was noted")
    git(ana.checkout, "push", "--quiet", str(bare_repository(tmp_path)), "refs/memoryd/local:refs/heads/main")
    await ana.sharing.revoke([shared.id])
    await ana.promote("- W: another one")
    await ana.exchange()
    await ben.exchange()
    assert "killed" not in (ben.seen(SHOWN) or "")
    assert "another one" in (ben.seen(SHOWN) or "")


async def test_note_that_is_no_longer_shared_is_removed(members: list[Member]) -> None:
    ana, ben = members
    ana.shared = SharedNotes({"memory/a.md": "# A\n", "memory/b.md": "# B\n"}, {})
    await ana.sharing.sync()
    await ben.exchange()
    assert ben.all_seen() == {SHOWN, "ana/memory/a.md", "ana/memory/b.md"}
    # a note that cannot be read at this moment stays
    ana.shared = SharedNotes({"memory/a.md": None}, {})
    await ana.sharing.sync()
    await ben.exchange()
    assert ben.all_seen() == {SHOWN, "ana/memory/a.md"}
    # while the notes are unknown, nothing is revoked
    ana.shared = None
    await ana.sharing.sync()
    await ben.exchange()
    assert ben.all_seen() == {SHOWN, "ana/memory/a.md"}


def sleeping_ssh(tmp_path: Path) -> Path:
    program = tmp_path / "ssh"
    program.write_text(f"#!/bin/sh\necho $$ >> {tmp_path}/ssh.pids\nexec sleep 600\n")
    program.chmod(0o755)
    return program


async def test_hanging_git_is_killed_at_its_deadline(
    members: list[Member], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ana, _ = members
    monkeypatch.setenv("GIT_SSH_COMMAND", str(sleeping_ssh(tmp_path)))
    # enough time to start on a busy machine
    monkeypatch.setattr(repositories, "NETWORK_SECONDS", 4.0)
    member = await Member(tmp_path / "far", "git@host.invalid:acme.git", "ana").open()
    async with asyncio.timeout(SECONDS):
        await member.carrier.exchange()
    assert "did not end within 4 s" in member.carrier.health().offline
    (pid,) = map(int, (tmp_path / "ssh.pids").read_text().split())
    await eventually_async(lambda: not Path(f"/proc/{pid}").exists())
    # others are not affected
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
async def test_slow_line_completes_and_a_silent_one_leaves_nothing(
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
    # less than the whole transfer, and more than the pauses of a busy machine
    monkeypatch.setattr(repositories, "NETWORK_SECONDS", 4.0)
    far = await Member(tmp_path / "far", f"host:{tmp_path}/team.git", "ben").open()
    await far.carrier.exchange()
    assert bool(far.carrier.health().offline) == (most == 400_000)
    assert (far.seen("ana/memory/large.md") is None) == (most == 400_000)
    assert not list(far.checkout.rglob("tmp_*"))


async def test_promoting_does_not_wait_for_a_hanging_exchange(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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
async def test_killed_git_loses_and_duplicates_nothing(
    members: list[Member], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: int
) -> None:
    """After a SIGKILL of git at a step of a promotion or exchange, the next exchange completes it."""
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
    # like the next start
    again = Member(ana.checkout.parent, ana.git.place.remote, "ana")
    await again.exchange()
    await ben.exchange()
    texts = (ben.seen(SHOWN) or "").splitlines()
    assert texts == ["## Retain", "- W @Peter: the key is under the mat", "- W: ana, through all of it"]
    assert "ben, so that" in (again.seen("ben/memory/2026-11-02.md") or "")


async def test_locked_remote_delays_a_push(members: list[Member], tmp_path: Path) -> None:
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


async def test_first_of_two_who_take_a_name_has_it(members: list[Member], tmp_path: Path) -> None:
    ana, _ = members
    both = [await ana.beside(tmp_path / name, "cem").open() for name in ("faster", "slower")]
    for number, cem in enumerate(both):
        await cem.exchange()
        await cem.git.create_team((await cem.git.people()).with_person("cem", f"cem{number}@example.org"), "cem joins")
    for cem in both:
        await cem.exchange()
        assert (await cem.git.people()).people["cem"] == ("cem0@example.org",)


async def test_leftovers_of_a_killed_git_or_daemon_are_removed(members: list[Member]) -> None:
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


async def test_checkout_of_a_person_is_not_changed(members: list[Member], tmp_path: Path) -> None:
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


async def test_missing_git_identity_is_reported_with_the_command(members: list[Member]) -> None:
    ana, _ = members
    git(ana.checkout, "config", "--unset", "user.email")
    with pytest.raises(InvalidRequest, match="does not know who you are") as caught:
        await ana.promote("- W: whoever says it")
    assert "git config --global user.email" in caught.value.hint


def test_dubious_ownership_is_reported_with_its_remedy() -> None:
    reason = GitResult(
        128,
        b"",
        "fatal: detected dubious ownership in repository at '/srv/x.git'\nTo add an exception for this directory, "
        "call:\n\n\tgit config --global --add safe.directory /srv/x.git\n"
        "fatal: Could not read from remote repository.\n\nPlease make sure you have the correct access rights\n"
        "and the repository exists.\n",
    ).reason
    assert "dubious ownership" in reason
    assert "git config --global --add safe.directory /srv/x.git" in reason


def test_reason_of_git_contains_no_password() -> None:
    reason = GitResult(128, b"", "fatal: unable to access 'https://ana:tok3n@host.example/x.git/': no route\n").reason
    assert "tok3n" not in reason
    assert "host.example/x.git" in reason


@pytest.mark.parametrize("path", ["memory/logs/2026-11-03.md", "memory/2026-11-03-x.md", f"memory/{TOKEN}.md"])
async def test_daily_log_and_path_with_a_secret_are_not_shared(members: list[Member], path: str) -> None:
    ana, _ = members
    ana.shared = SharedNotes({path: "# Fine\n"}, {})
    await ana.sharing.sync()
    assert list(await ana.carrier.known()) == [ANAS_FILE]
    assert len(ana.sharing.refused) == 1


async def test_queued_revocation_is_done_by_the_next_exchange(members: list[Member]) -> None:
    ana, ben = members
    shared = await ana.promote("- W: to be forgotten")
    await ana.exchange()
    await ben.exchange()
    never = line("- W: never shared").id
    assert await ana.sharing.queue_revocation([shared.id], is_dry_run=False)
    assert not await ana.sharing.queue_revocation([never], is_dry_run=False)
    # the queue survives a restart
    ana = await ana.again()
    ana.shared = SharedNotes({}, {}, frozenset())
    await ana.sharing.sync()
    await ben.exchange()
    assert "forgotten" not in (ben.seen(SHOWN) or "")
    assert json.loads(ana.published.read_text()) == []


async def test_memory_deleted_from_own_notes_is_revoked(members: list[Member]) -> None:
    ana, ben = members
    stays, goes = await ana.promote("- W: the door is green"), await ana.promote("- W: the door is red")
    # while the own memories are unknown, nothing is revoked
    ana.shared = SharedNotes({}, {})
    await ana.sharing.sync()
    assert (await ana.sharing.memories()).keys() >= {stays.id, goes.id}
    ana.shared = SharedNotes({}, {}, {stays.id})
    await ana.sharing.sync()
    await ben.exchange()
    assert "green" in (ben.seen(SHOWN) or "")
    assert "red" not in (ben.seen(SHOWN) or "")


async def test_memory_of_another_machine_of_the_person_is_not_revoked(members: list[Member], tmp_path: Path) -> None:
    ana, _ = members
    shared = await ana.promote("- W: from the desk")
    await ana.exchange()
    laptop = await ana.beside(tmp_path / "laptop", "ana").open()
    laptop.shared = SharedNotes({}, {}, frozenset())
    await laptop.exchange()
    await laptop.sharing.sync()
    assert shared.id in await laptop.sharing.memories()


async def test_missing_git_is_reported(members: list[Member], monkeypatch: pytest.MonkeyPatch) -> None:
    ana, _ = members
    monkeypatch.setenv("PATH", "/nonexistent")
    again = Member(ana.checkout.parent, ana.git.place.remote, "ana")
    await again.carrier.exchange()
    assert "install git" in again.carrier.health().broken


def test_environment_of_git_contains_no_keys() -> None:
    seen = git_environment({"PATH": "/bin", "OPENAI_API_KEY": "x", "GIT_DIR": "/evil", "GIT_CONFIG_COUNT": "1"})
    assert {"OPENAI_API_KEY", "GIT_DIR", "GIT_CONFIG_COUNT"}.isdisjoint(seen)
    assert seen["GIT_TERMINAL_PROMPT"] == "0"
    assert "BatchMode=yes" in seen["GIT_SSH_COMMAND"]


def test_git_gets_the_network_settings_of_its_owner() -> None:
    network = {"HTTPS_PROXY": "http://p", "https_proxy": "http://p", "NO_PROXY": "x", "SSL_CERT_FILE": "/ca.pem"}
    network |= {"all_proxy": "socks5://p", "GIT_SSL_CAINFO": "/ca.pem"}
    assert network.items() <= git_environment(network).items()


@swept("nth", [1, *range(2, 9), 99], 1)
@swept("command", ["rev-parse", "config|merge-base|ls-tree|cat-file|update-ref"], 1)
async def test_killed_git_is_no_answer(
    members: list[Member], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str, nth: int
) -> None:
    """Missing output of git means neither that there is no commit nor that nothing is signed."""
    ana, ben = members
    await ben.promote("- W: ben meanwhile")
    await ben.exchange()
    dying = tmp_path / "bin" / "git"
    dying.parent.mkdir()
    real = shutil.which("git")
    counted = f'echo x >> "{tmp_path}/count"; [ $(wc -l < "{tmp_path}/count") = {nth} ] && kill -9 $$'
    patterns = "|".join(f'*" {name} "*' for name in command.split("|"))
    dying.write_text(f'#!/bin/sh\ncase " $* " in {patterns}) {counted};; esac\nexec "{real}" "$@"\n')
    dying.chmod(0o755)
    before = git(ana.checkout, "rev-parse", "refs/memoryd/local")
    path = os.environ["PATH"]
    monkeypatch.setenv("PATH", f"{dying.parent}:{path}")
    with suppress(SidecarError):
        await ana.promote("- W: whatever it says")
    await ana.carrier.exchange()
    monkeypatch.setenv("PATH", path)
    # the former commit is an ancestor of the present one
    git(ana.checkout, "merge-base", "--is-ancestor", before.strip(), "refs/memoryd/local")
    await ana.promote("- W: in the end")
    await ana.exchange()
    await ben.exchange()
    assert (ben.seen(SHOWN) or "").splitlines()[1] == "- W @Peter: the key is under the mat"
    assert "in the end" in (ben.seen(SHOWN) or "")
