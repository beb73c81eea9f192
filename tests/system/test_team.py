"""Two people with a daemon each and a git repository between them: sharing, recall, revoking and forgetting."""

import asyncio
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx
import pytest

from memoryd.errors import Denied, Disabled, MemorydError, NotFound
from memoryd.wire import Exit
from tests.daemon import RunningDaemon, write_config
from tests.mcp_program import driven
from tests.sweeps import swept
from tests.teams import git, objects_of, team
from tests.waiting import eventually
from tests.warm.programs import ran

MEMORYCTL = (sys.executable, "-c", "from memoryd.cli.main import main; main()")
TOKEN = "ghp_" + "a8Kq2ZxV7mN4pR9tYw3LcD6fHj1BsE5gUoXi"
LOG = "memory/2026-11-02.md"
LINES = f"""# Monday

## Retain
- W @Castle: The castle key hangs behind the green door.
- W(scope=agent:other) @Garden: The garden key is for another agent.
- W @Vault: The vault opens with {TOKEN}.
- W(from=user, pin, tags=home) @Ferry: The ferry leaves at nine.
- W @Printer: The printer is a Brother.
"""


class Member:
    """A person with a home, a workspace and a daemon."""

    def __init__(self, home: Path, person: str, log: str) -> None:
        home.mkdir()
        (home / "home").mkdir()
        address = f"{person}@example.org"
        (home / "home" / ".gitconfig").write_text(f"[user]\n\tname = {person}\n\temail = {address}\n")
        self.person = person
        self.workspace = home / "workspace"
        (self.workspace / "memory" / "projects").mkdir(parents=True)
        (self.workspace / LOG).write_text(log)
        config = write_config(home, self.workspace, None)
        written = json.loads(config.read_text())
        written["agents"]["list"] = [{"id": "main", "sockets": [{"path": str(home / "run" / "main.sock")}]}]
        config.write_text(json.dumps(written))
        self.daemon = RunningDaemon(home, config, self.workspace)
        self.prefix: tuple[str, ...] = ()
        self.notes = self.daemon.state / "teams" / "acme" / "notes"

    def memoryctl(self, *arguments: str, expected: Exit = Exit.DONE) -> str:
        command = [*self.prefix, *MEMORYCTL, *arguments]
        result = ran(command, capture_output=True, text=True, env=self.daemon.env, timeout=120)
        assert result.returncode == expected, result.stdout + result.stderr
        return result.stdout + result.stderr

    def memoryctl_json(self, *arguments: str) -> Any:
        done = self.daemon.memoryctl(*arguments, "--json")
        assert done.returncode == Exit.DONE, done.stdout + done.stderr
        return json.loads(done.stdout)

    def sync(self) -> None:
        reply = self.daemon.client().sync_team()
        assert (reply["offline"], reply["published"]["pending"]) == (None, 0), reply
        self.daemon.client().sync()

    def recalled(self, question: str) -> list[Any]:
        return list(self.daemon.client().recall(question, k=5)["results"])

    def configure(self, **team: object) -> None:
        written = json.loads(self.daemon.config.read_text())
        written["team"] |= team
        self.daemon.config.write_text(json.dumps(written))
        assert not self.daemon.client().reload()["problems"]

    def team(self) -> Any:
        return self.daemon.agent()["team"]


class Pair:
    """Ana and Ben, and the repository between them."""

    def __init__(self, folder: Path) -> None:
        self.bare = folder / "team.git"
        self.ana = Member(folder / "ana", "ana", LINES)
        self.ben = Member(folder / "ben", "ben", "## Retain\n- W @Cat: The cat is called Miso.\n")

    def begin(self) -> None:
        output = self.ana.memoryctl("team", "init", "--git", str(self.bare), "--name", "acme", "--person", "ana")
        assert "you are ana" in output
        output = self.ben.memoryctl("team", "join", "--git", str(self.bare), "--person", "ben")
        assert "ana, ben" in output

    def make_team(self) -> None:
        """Create the team of `begin` without commands, which is faster."""
        begun = self.bare.with_name("begun")
        asyncio.run(team(begun, "ana", "ben"))
        (begun / "team.git").rename(self.bare)
        for member in (self.ana, self.ben):
            member.notes.parent.parent.mkdir(parents=True)
            (begun / member.person).rename(member.notes.parent)
            written = json.loads(member.daemon.config.read_text())
            written["team"] = {"remote": str(self.bare), "name": "acme", "person": member.person}
            member.daemon.config.write_text(json.dumps(written))

    def sync(self) -> None:
        self.ana.sync()
        self.ben.sync()


@pytest.fixture
def pair(tmp_path: Path) -> Iterator[Pair]:
    pair = Pair(tmp_path)
    pair.make_team()
    with pair.ana.daemon, pair.ben.daemon:
        yield pair


@pytest.fixture
def command_pair(tmp_path: Path) -> Iterator[Pair]:
    """Create a team by commands."""
    pair = Pair(tmp_path)
    with pair.ana.daemon, pair.ben.daemon:
        pair.begin()
        yield pair


def test_memory_is_shared_recalled_with_its_author_and_revoked(command_pair: Pair) -> None:
    ana, ben = command_pair.ana, command_pair.ben
    preview = ana.memoryctl("team", "promote", f"{LOG}#L4", "--dry-run")
    assert "would be shared" in preview
    assert "The castle key hangs behind the green door." in preview
    assert "read by ana, ben" in preview
    assert not list(ana.notes.rglob("*.md"))
    assert "no terminal to ask on" in ana.memoryctl("team", "promote", f"{LOG}#L4", expected=Exit.USAGE)
    shared = ana.memoryctl_json("team", "promote", f"{LOG}#L4", "--yes")
    assert (shared["promoted"], shared["changed"], shared["sent"]) == (True, True, True)
    again = ana.memoryctl_json("team", "promote", f"{LOG}#L4", "--yes")
    assert (again["changed"], again["citation"]) == (False, shared["citation"])
    ben.sync()
    first = ben.recalled("where does the castle key hang")[0]
    assert (first["content"], first["person"]) == ("The castle key hangs behind the green door.", "ana")
    assert first["source"] == f"ana:{LOG}#L2"
    # pins and other attributes of ana's machine are not shared
    ana.daemon.client().promote_memory(f"{LOG}#L7")
    ben.sync()
    assert (ben.notes / "ana" / LOG).read_text().splitlines()[-1] == (
        "- W(from=user, tags=home) @Ferry: The ferry leaves at nine."
    )
    with pytest.raises(Denied, match="colleague"):
        ben.daemon.client().revoke_memory(first["id"])
    output = ana.memoryctl("team", "revoke", f"ana:{LOG}#L2")
    assert "taken back" in output
    assert "older commits" in output
    ana.daemon.client().revoke_memory(ana.recalled("ferry")[0]["id"])
    with pytest.raises(NotFound):
        ana.daemon.client().revoke_memory(f"{LOG}#L4")
    ben.sync()
    assert not [item for item in ben.recalled("castle key ferry") if item.get("person")]
    assert not (ben.notes / "ana").exists()
    # no workspace was changed
    assert (ana.workspace / LOG).read_text() == LINES


def test_private_and_secret_text_never_reaches_the_repository(pair: Pair) -> None:
    ana = pair.ana
    for line, why in ((6, "secret"), (5, "no memory|agent:other")):
        with pytest.raises(MemorydError, match=why):
            ana.daemon.client().promote_memory(f"{LOG}#L{line}")
    projects = ana.workspace / "memory" / "projects"
    (projects / "gateway.md").write_text("# Gateway\n\nIt runs on the Mac called alder.\n")
    (projects / "private.md").write_text("---\nmemory: false\n---\nthe private canary\n")
    (projects / "hidden.md").write_text("the hidden canary\n")
    (projects / "keys.md").write_text(f"the key is {TOKEN}\n")
    (projects / "mine.md").write_text("- W(scope=agent:main) @Ana: the scoped canary\n")
    (ana.workspace / ".memoryignore").write_text("memory/projects/hidden.md\n")
    ana.configure(share=["memory/**"])
    ana.daemon.client().sync()
    pair.sync()
    shown = {str(path.relative_to(pair.ben.notes)) for path in pair.ben.notes.rglob("*.md")}
    assert shown == {"ana/memory/projects/gateway.md"}
    trouble = "\n".join(ana.team()["trouble"])
    assert "memory/projects/keys.md" in trouble
    assert "secret" in trouble
    assert "promote its memories one by one" in trouble
    [hit, *_] = pair.ben.daemon.client().search("Mac called alder")["results"]
    assert hit["path"] == "ana:memory/projects/gateway.md"
    # a note that becomes private is revoked
    (projects / "gateway.md").write_text("---\nmemory: false\n---\nIt runs on the Mac called alder.\n")
    ana.daemon.client().sync()
    pair.sync()
    assert not list(pair.ben.notes.rglob("*.md"))
    objects = objects_of(pair.bare)
    assert b"Mac called alder" in objects
    for canary in (TOKEN, "private canary", "hidden canary", "scoped canary", "garden key"):
        assert canary.encode() not in objects
    # the line is retained even if it cannot be shared
    lines = f"- W @Bridge: It was painted green.\n- W @Bridge: It opens with {TOKEN}.\n"
    command = [*MEMORYCTL, "retain", "-", "--team", "--json"]
    result = ran(command, input=lines, capture_output=True, text=True, env=ana.daemon.env, timeout=120)
    notes = "\n".join(json.loads(result.stdout)["notes"])
    assert (result.returncode, "shared with ana, ben" in notes) == (Exit.ERROR, True)
    output = ana.memoryctl("retain", lines.splitlines()[1], "--team", expected=Exit.ERROR)
    assert "is there already" in output
    for text in (notes, output):
        assert "retained, but not shared: memory/" in text
        assert "it holds what looks like a secret" in text


@pytest.mark.torture
def test_forgetting_revokes_a_shared_memory(pair: Pair) -> None:
    ana, ben = pair.ana, pair.ben
    ana.daemon.client().promote_memory(f"{LOG}#L4")
    ben.sync()
    assert ben.recalled("castle key")[0]["person"] == "ana"
    assert any("team acme" in note for note in ana.daemon.client().forget(f"{LOG}#L4", dry_run=True)["stays"])
    receipt = ana.daemon.client().forget(f"{LOG}#L4")
    assert receipt["forgotten"]
    assert any("the history of team acme" in note for note in receipt["stays"])
    ben.sync()
    assert not [item for item in ben.recalled("castle key") if item.get("person")]
    assert git(pair.bare, "ls-tree", "-r", "--name-only", "main").split() == ["team.json"]
    # the receipt of a memory that was never shared mentions no team
    assert not any("team acme" in note for note in ana.daemon.client().forget(f"{LOG}#L7")["stays"])


@pytest.mark.torture
def test_forgotten_line_leaves_the_shared_note_soon(pair: Pair) -> None:
    ana = pair.ana
    note = "memory/projects/gateway.md"
    (ana.workspace / note).write_text("# Gateway\n\nIt stands in rack seven.\n\nIts colour is blue.\n")
    ana.configure(share=["memory/projects/**"])
    ana.daemon.client().sync()
    pair.sync()
    assert "rack seven" in (pair.ben.notes / "ana" / note).read_text()
    receipt = ana.daemon.client().forget(f"{note}#L3")
    assert [text for text in receipt["stays"] if note in text and "within half a minute" in text]
    assert [text for text in receipt["stays"] if "the history of team acme" in text]
    eventually(lambda: "rack seven" not in git(pair.bare, "show", f"main:notes/ana/{note}"))
    pair.ben.sync()
    assert "blue" in (pair.ben.notes / "ana" / note).read_text()


def test_previewed_line_is_shared_although_it_moved(pair: Pair) -> None:
    client, log = pair.ana.daemon.client(), pair.ana.workspace / LOG
    # the same statement of a colleague is another memory
    reply = pair.ben.daemon.client().retain("W @Printer: The printer is a Brother.")
    assert pair.ben.daemon.client().promote_memory(reply["id"])["sent"]
    pair.ana.sync()
    assert client.promote_memory(client.promote_memory(f"{LOG}#L8", dry_run=True)["id"])["promoted"]
    log.write_text(log.read_text() + "- W(scope=agent:main) @Wine: The wine cellar is under the stairs.\n")
    for line, text in ((9, "under the stairs"), (4, "green door")):
        shown = client.promote_memory(f"{LOG}#L{line}", dry_run=True)
        before = log.read_text()
        log.write_text(before.replace("## Retain\n", "## Retain\n- W @Diary: I am looking for another job.\n"))
        client.sync()
        assert text in client.promote_memory(shown["id"])["line"]
        log.write_text(before)
        client.sync()
    assert b"another job" not in objects_of(pair.bare)


def test_correction_at_home_revokes_the_shared_version(pair: Pair) -> None:
    ana, ben = pair.ana, pair.ben
    for line in (4, 7, 8):
        ana.daemon.client().promote_memory(f"{LOG}#L{line}")
    ben.sync()
    assert len([item for item in ben.recalled("castle key ferry printer") if item.get("person")]) == 3
    client = ana.daemon.client()
    client.replace_memory(ana.recalled("castle key hangs")[0]["id"], "The castle key hangs in the kitchen.")
    with pytest.raises(Denied, match="was replaced"):
        client.promote_memory(f"{LOG}#L4")
    client.delete_memory(ana.recalled("ferry leaves")[0]["id"])
    pair.sync()
    left = [item["content"] for item in ben.recalled("castle key ferry printer") if item.get("person")]
    assert left == ["The printer is a Brother."]
    # also if the owner edits the note
    log = ana.workspace / LOG
    log.write_text(log.read_text().replace("The printer is a Brother.", "The printer was sold."))
    client.sync()
    pair.sync()
    assert not [item for item in ben.recalled("castle key ferry printer") if item.get("person")]


def test_replacing_and_undoing_report_that_the_team_loses_a_memory(pair: Pair) -> None:
    ana, note = pair.ana, "memory/projects/gateway.md"
    client = ana.daemon.client()
    boat = ana.memoryctl_json("retain", "W @Boat: The boat is moored at pier four.", "--team")["memories"][0]["id"]
    client.promote_memory(f"{LOG}#L4")
    key = ana.recalled("castle key hangs")[0]["id"]
    output = ana.memoryctl("replace", key, "The castle key hangs in the kitchen.")
    assert f"{key[:8]} is shared with team acme, and is taken back there within half a minute" in output
    number = str(client.changes(limit=9)["changes"][-1]["id"])
    for more in (["--dry-run"], []):
        assert f"{boat[:8]} is shared with team acme, and is taken back" in ana.memoryctl("undo", number, *more)
    eventually(lambda: git(pair.bare, "ls-tree", "-r", "--name-only", "main").split() == ["team.json"])
    # a note shared by its path is named by it
    ana.configure(share=["memory/projects/**"])
    (ana.workspace / note).write_text("# Gateway\n\nIt stands in rack seven.\n")
    client.sync()
    ana.sync()
    lines = {"citation": f"{note}#L3", "old": "It stands in rack seven.", "new": "It stands in rack nine."}
    change = client.call("POST", "/lines/replace", lines)["change"]
    assert f"{note} is shared with team acme" in ana.memoryctl("undo", str(change))
    assert "team acme" not in ana.memoryctl("replace", f"{LOG}#L7", "The ferry leaves at ten.")


@pytest.mark.torture
def test_deleting_and_replacing_report_that_the_team_loses_a_memory(pair: Pair) -> None:
    ana = pair.ana
    client = ana.daemon.client()
    ferry, key = (ana.recalled(words)[0]["id"] for words in ("ferry leaves", "castle key hangs"))
    client.promote_memory(ferry)
    for more in (["--dry-run"], []):
        assert f"{ferry[:8]} is shared with team acme, and is taken back" in ana.memoryctl(
            "memories", "delete", ferry, *more
        )
    ana.memoryctl("replace", key, "The castle key hangs in the kitchen.")
    again = client.undo(run=client.changes(limit=1)["changes"][0]["run"])["run"] or ""
    client.promote_memory(key)
    for more in (["--dry-run"], []):
        output = ana.memoryctl("undo", "--run", again, *more)
        assert f"{key[:8]} is shared with team acme, and is taken back" in output


@pytest.mark.torture
def test_two_share_at_once_and_both_are_recalled(pair: Pair) -> None:
    replies: list[Any] = []

    def share(member: Member, text: str) -> None:
        replies.append(member.memoryctl_json("retain", text, "--team"))

    threads = [
        threading.Thread(target=share, args=(member, f"W @Deploy: {member.person} says drain queue {number}"))
        for member in (pair.ana, pair.ben)
        for number in range(2)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(replies) == 4
    for reply in replies:
        assert any("shared with ana, ben" in note for note in reply["notes"]), reply
    pair.sync()
    pair.sync()
    texts = git(pair.bare, "grep", "-h", "drain queue", "main")
    assert sorted(texts.strip().splitlines()) == sorted(
        f"- W @Deploy: {person} says drain queue {number}" for person in ("ana", "ben") for number in range(2)
    )
    assert len([item for item in pair.ben.recalled("ana says drain queue") if item.get("person") == "ana"]) == 2


def test_unreachable_remote_is_reported_and_days_need_one_commit(pair: Pair) -> None:
    ana, away = pair.ana, pair.bare.with_name("away.git")
    before = int(git(pair.bare, "rev-list", "--count", "main"))
    pair.bare.rename(away)
    for line in (4, 7, 8):
        reply = ana.daemon.client().promote_memory(f"{LOG}#L{line}")
        assert (reply["promoted"], reply["sent"]) == (True, False)
    team = ana.team()
    assert team["published"]["pending"] == 1
    assert team["offline"]
    assert "waits: " not in ana.memoryctl("team", "status")
    assert "1 file to be sent" in ana.memoryctl("team", "status")
    assert [*ana.daemon.degraded()] == ["team"]
    assert ana.daemon.log.read_text().count("the team cannot be reached") == 1
    # answers come at once, and are marked incomplete
    for answer in (ana.daemon.client().search("castle key"), ana.daemon.client().recall("castle key")):
        assert (answer["health"]["complete"], answer["health"]["arms"]["team"]["state"]) == (
            False,
            "partial",
        )
        assert answer["results"]
    # a restart without network
    ana.daemon.stop()
    ana.daemon.start()
    away.rename(pair.bare)
    pair.sync()
    assert len([item for item in pair.ben.recalled("castle key ferry printer") if item.get("person")]) == 3
    assert ana.team()["published"] == {"pending": 0, "behindSeconds": 0}
    assert ana.daemon.client().search("castle key")["health"]["complete"]
    assert int(git(pair.bare, "rev-list", "--count", "main")) <= before + 3


@pytest.mark.torture
@swept("delay", [0.2, 0.05, 0.4, 0.7, 1.1], 1)
def test_daemon_killed_while_sharing_loses_and_duplicates_nothing(pair: Pair, delay: float) -> None:
    ana = pair.ana

    def share() -> None:
        with suppress(MemorydError, httpx.HTTPError):
            ana.daemon.client().promote_memory(f"{LOG}#L4")

    sharing = threading.Thread(target=share)
    sharing.start()
    time.sleep(delay)
    ana.daemon.process.send_signal(signal.SIGKILL)  # type: ignore[union-attr]  # it runs
    ana.daemon.process.wait()  # type: ignore[union-attr]
    sharing.join()
    ana.daemon.stop()
    ana.daemon.start()
    reply = ana.daemon.client().promote_memory(f"{LOG}#L4")
    assert reply["promoted"]
    pair.sync()
    assert git(pair.bare, "show", "main:memory/2026-11-02-ana.md") == (
        "## Retain\n- W @Castle: The castle key hangs behind the green door.\n"
    )
    assert git(pair.bare, "fsck", "--strict", "--no-dangling") == ""
    assert [item["person"] for item in pair.ben.recalled("castle key") if item.get("person")] == ["ana"]


def test_only_the_owner_shares(pair: Pair) -> None:
    socket = pair.ana.daemon.home / "run" / "main.sock"
    transport = httpx.HTTPTransport(uds=str(socket), verify=False)
    with httpx.Client(transport=transport, base_url="http://memoryd/v1", timeout=30) as client:
        for path, body in (("promote", {"target": "castle"}), ("revoke", {"target": "castle"}), ("sync", {})):
            reply = client.post(f"/team/{path}", json={"agent": "main", **body})
            assert (reply.status_code, reply.json()["error"]["code"]) == (403, "denied")
    assert not list(pair.ana.notes.rglob("*.md"))


def test_mcp_previews_the_line_before_sharing(pair: Pair) -> None:
    ana = pair.ana
    [memory] = [row for row in ana.daemon.client().memories()["memories"] if "castle" in row["text"]]
    with driven(ana.daemon, "--write=all") as client:
        preview = client.answer("memory_promote", id=memory["id"])
        assert "preview" in preview["done"]
        assert preview["notes"][0] == "- W @Castle: The castle key hangs behind the green door."
        assert preview["notes"][1] == "read by: ana, ben"
        assert not list(ana.notes.rglob("*.md"))
        assert client.answer("memory_promote", id=memory["id"], share=True)["done"] == "shared"
    assert list(ana.notes.rglob("*.md"))


def test_leaving_deletes_local_data_and_says_what_stays(command_pair: Pair) -> None:
    ben = command_pair.ben
    command_pair.ana.daemon.client().promote_memory(f"{LOG}#L4")
    ben.sync()
    assert [item for item in ben.recalled("castle key") if item.get("person")]
    output = ben.memoryctl("team", "leave")
    assert "stays with the team" in output
    assert "team" not in json.loads(ben.daemon.config.read_text())
    assert not (ben.daemon.state / "teams" / "acme").exists()
    ben.daemon.client().sync()
    assert not [item for item in ben.recalled("castle key") if item.get("person")]
    with pytest.raises(Disabled, match="in no team"):
        ben.daemon.client().sync_team()


def test_taken_names_and_invalid_repositories_are_refused(tmp_path: Path) -> None:
    pair = Pair(tmp_path)
    # without a daemon
    pair.begin()
    carl = Member(tmp_path / "carl", "carl", "")
    before = carl.daemon.config.read_bytes()
    output = carl.memoryctl("team", "join", "--git", str(pair.bare), "--person", "ana", expected=Exit.ERROR)
    assert "is in the team already" in output
    output = carl.memoryctl(
        "team", "init", "--git", str(pair.bare), "--name", "x", "--person", "carl", expected=Exit.ERROR
    )
    assert "holds team acme already" in output
    empty = tmp_path / "empty.git"
    subprocess.run(["git", "init", "--quiet", "--bare", str(empty)], check=True, timeout=60)
    output = carl.memoryctl("team", "join", "--git", str(empty), "--person", "carl", expected=Exit.ERROR)
    assert "holds no team" in output
    output = carl.memoryctl("team", "join", "--git", str(tmp_path / "none"), "--person", "carl", expected=Exit.ERROR)
    assert ("cannot be fetched from" in output, "[info" in output) == (True, False)
    assert "you are ben" in pair.ben.memoryctl("team", "join", "--git", str(pair.bare), "--person", "Ben")
    (carl.daemon.home / "home" / ".gitconfig").unlink()
    output = carl.memoryctl("team", "join", "--git", str(pair.bare), "--person", "carl", expected=Exit.ERROR)
    assert "git config --global user.email" in output
    assert carl.daemon.config.read_bytes() == before
    assert json.loads(git(pair.bare, "show", "main:team.json"))["people"].keys() == {"ana", "ben"}


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """Return a folder that every user of the machine may enter."""
    folder = Path(tempfile.mkdtemp(prefix="users-"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may be two others")
def test_two_users_of_a_machine_share_by_a_group_folder(open_folder: Path) -> None:
    group, other = 64_100, 64_200
    pair = Pair(open_folder)
    pair.bare = open_folder / "shared" / "team.git"
    pair.bare.parent.mkdir()
    os.chown(pair.bare.parent, 0, group)
    pair.bare.parent.chmod(0o2770)
    # they may read the Python of these tests, and write only their own files
    caps = ("--inh-caps=+dac_read_search", "--ambient-caps=+dac_read_search", "--bounding-set=-all,+dac_read_search")
    for uid, member in enumerate((pair.ana, pair.ben), 64_001):
        for path in (member.daemon.home, *member.daemon.home.rglob("*")):
            os.chown(path, uid, group)
        member.prefix = ("setpriv", f"--reuid={uid}", f"--regid={group}", "--clear-groups", *caps)
    assert "you are ana" in pair.ana.memoryctl(
        "team", "init", "--git", str(pair.bare), "--name", "acme", "--person", "ana"
    )
    joined = ("team", "join", "--git", str(pair.bare), "--person", "ben")
    trust = f"git config --global --add safe.directory {pair.bare}"
    assert trust in pair.ben.memoryctl(*joined, expected=Exit.ERROR)
    subprocess.run([*pair.ben.prefix, *trust.split()], env=pair.ben.daemon.env, check=True, timeout=60)
    assert "ana, ben" in pair.ben.memoryctl(*joined)
    # others can read neither the repository nor their homes
    for folder in (pair.bare, pair.ana.notes, pair.ana.notes.parent / "checkout"):
        as_other = ("setpriv", f"--reuid={other}", f"--regid={other}", "--clear-groups", "ls", str(folder))
        assert subprocess.run(as_other, capture_output=True, check=False, cwd="/", timeout=60).returncode
    assert {path.stat().st_uid for path in pair.bare.rglob("*")} == {64_001, 64_002}


def test_exchange_runs_by_itself(pair: Pair) -> None:
    """Soon after the start and then on schedule, without a request."""
    pair.ben.daemon.stop()
    pair.ana.daemon.client().promote_memory(f"{LOG}#L4")
    pair.ben.daemon.start()
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and not [item for item in pair.ben.recalled("castle key") if item.get("person")]:
        time.sleep(0.2)
    assert [item["person"] for item in pair.ben.recalled("castle key") if item.get("person")] == ["ana"]


def test_doctor_reports_problems_of_a_team(command_pair: Pair) -> None:
    ana = command_pair.ana

    def states(expected: Exit = Exit.DONE) -> dict[str, str]:
        done = ana.daemon.memoryctl("doctor", "--section", "team", "--json")  # fmt: skip
        assert done.returncode == expected, done.stdout
        return {f"{check['check']} {check['part']}": check["state"] for check in json.loads(done.stdout)["checks"]}

    ana.sync()
    assert states() == {"team.git git": "ok", "team.exchange team": "ok"}
    doctor = ("doctor", "--section", "team")
    (ana.workspace / "memory" / "projects" / "keys.md").write_text(f"the key is {TOKEN}\n")
    ana.configure(share=["memory/projects/*"])
    ana.sync()
    ana.daemon.client().sync_team()
    assert "remove it from team.share" in ana.memoryctl(*doctor)
    ana.configure(share=[])
    ana.sync()
    command_pair.bare.rename(command_pair.bare.with_name("away.git"))
    ana.daemon.client().sync_team()
    assert states()["team.exchange team"] == "look"
    ana.daemon.stop()
    assert states(Exit.ERROR)["team.exchange repository of the team"] == "wrong"
    command_pair.bare.with_name("away.git").rename(command_pair.bare)
    assert states()["team.exchange repository of the team"] == "ok"
    settings = ana.daemon.home / "home" / ".gitconfig"
    settings.write_text(settings.read_text().replace("ana@", "another@"))
    assert "not in the team by the address another@example.org" in ana.memoryctl(*doctor, expected=Exit.ERROR)
    settings.unlink()
    assert states(Exit.ERROR)["team.git author"] == "wrong"
