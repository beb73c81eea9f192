"""One folder on two machines: use, pins, confidence and forgetting converge, whatever copies the files."""

import json
import shutil
import stat
import subprocess
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest

from memoryd.client import Client
from memoryd.domain.memories.machines import MACHINES
from tests.daemon import RunningDaemon
from tests.machines import Carrier, machine
from tests.waiting import eventually

LOG = "memory/2026-11-02.md"
NOTE = """# Monday

## Retain
- W @Ada: The gauge at the weir reads 41
- W @Ada: The herons nest on the island
- O(c=0.6) @Ada: Prefers paper maps
"""
CANARY = "gauge at the weir"


@pytest.fixture
def both(tmp_path: Path) -> Iterator[tuple[RunningDaemon, RunningDaemon, Carrier]]:
    machines = machine(tmp_path / "desk"), machine(tmp_path / "laptop")
    (machines[0].workspace / LOG).write_text(NOTE)
    carrier = Carrier(machines[0].workspace, machines[1].workspace)
    carrier.carry()
    for daemon in machines:
        daemon.start()
        daemon.client().sync()
    yield (*machines, carrier)
    for daemon in machines:
        daemon.stop()


def carry_until(carrier: Carrier, *conditions: Callable[[], object]) -> None:
    """Copy files until all conditions hold and both folders are equal."""

    def is_done() -> bool:
        carrier.carry()
        return all(condition() for condition in conditions) and carrier.is_level

    eventually(is_done, step=0.5)


def uses(daemon: RunningDaemon, words: str = "herons") -> int:
    with Client(daemon.socket) as client:
        return next(memory["access_count"] for memory in client.memories()["memories"] if words in memory["text"])


def texts(daemon: RunningDaemon) -> list[str]:
    with Client(daemon.socket) as client:
        client.sync()
        return sorted(memory["text"] for memory in client.memories()["memories"])


def recalled(daemon: RunningDaemon, question: str) -> list[str]:
    with Client(daemon.socket) as client:
        return [json.dumps(item) for item in client.recall(question, touch=False)["results"]]


def use(daemon: RunningDaemon, times: int, words: str = "herons nest island") -> None:
    for _ in range(times):
        assert daemon.client().recall(words)["results"]


def journals(daemon: RunningDaemon) -> list[Path]:
    return sorted((daemon.workspace / MACHINES).glob("*.jsonl"))


def test_use_is_counted_once_and_pins_are_in_the_note(
    both: tuple[RunningDaemon, RunningDaemon, Carrier],
) -> None:
    desk, laptop, carrier = both
    use(desk, 3)
    use(laptop, 2)
    carry_until(carrier, lambda: uses(desk) == 5, lambda: uses(laptop) == 5)
    memory = next(row for row in laptop.client().memories()["memories"] if "herons" in row["text"])
    laptop.client().pin_memory(memory["id"])
    use(laptop, 1)
    carry_until(carrier, lambda: uses(desk) == 6, lambda: uses(laptop) == 6)
    eventually(
        lambda: (
            [memory["pinned"] for memory in desk.client().memories()["memories"] if "herons" in memory["text"]]
            == [True]
        )
    )
    assert len(journals(desk)) == 2
    assert carrier.conflicts == 0
    for journal in journals(desk):
        assert CANARY.encode() not in journal.read_bytes()
    for path in (journal for daemon in (desk, laptop) for journal in journals(daemon)):
        if path.stat().st_uid == desk.workspace.stat().st_uid:
            assert stat.S_IMODE(path.stat().st_mode) == 0o600
    # nothing is counted again, also after a restart
    desk.stop()
    desk.start()
    desk.client().sync()
    use(desk, 1)
    carry_until(carrier, lambda: uses(desk) == 7, lambda: uses(laptop) == 7)


def test_forgetting_reaches_both_machines_and_old_copies_stay_forgotten(
    both: tuple[RunningDaemon, RunningDaemon, Carrier],
) -> None:
    desk, laptop, carrier = both
    use(laptop, 1, "gauge weir reads")
    desk.client().forget(CANARY)
    # meanwhile the same note is edited on the other machine
    (laptop.workspace / LOG).write_text(NOTE.replace("# Monday", "# Monday\n\nRain until noon."))
    carry_until(
        carrier,
        lambda: not any(CANARY in text for text in texts(desk) + texts(laptop)),
        lambda: not any(CANARY in path.read_text() for side in (desk, laptop) for path in side.workspace.rglob("*.md")),
    )
    for side in (desk, laptop):
        assert "gauge" not in json.dumps(side.client().changes())
        assert "was forgotten" in side.memoryctl("import", "--dry-run", str(_exported(side))).stderr
    # an old version of the note comes back
    (desk.workspace / LOG).write_text(NOTE)
    desk.client().sync()
    # neither by its words nor by its entity
    eventually(lambda: not any(CANARY in text for text in recalled(desk, "what does the gauge read")))
    assert not any(CANARY in text for text in recalled(desk, "what is known of Ada"))
    assert not any(CANARY in text for text in texts(desk))
    assert CANARY not in json.dumps(desk.client().search("gauge weir"))
    assert CANARY in (desk.workspace / LOG).read_text()
    carry_until(carrier, lambda: not any(CANARY in path.read_text() for path in desk.workspace.rglob("*.md")))
    # stating it again makes it known on both
    laptop.client().retain("W @Ada: The gauge at the weir reads 41")
    carry_until(carrier, *(lambda side=side: any(CANARY in text for text in texts(side)) for side in (desk, laptop)))
    again = ("import", "--dry-run", str(_exported(desk)))
    carry_until(carrier, lambda: "was forgotten" not in desk.memoryctl(*again).stderr)


def _exported(side: RunningDaemon) -> Path:
    path = side.home / "export.jsonl"
    path.write_text(json.dumps({"text": "The gauge at the weir reads 41", "kind": "W", "entities": ["Ada"]}) + "\n")
    return path


def test_undone_forgetting_restores_on_both_machines(both: tuple[RunningDaemon, RunningDaemon, Carrier]) -> None:
    desk, laptop, carrier = both
    change = desk.client().forget(CANARY, undoable=True)["changes"][0]
    carry_until(
        carrier, *(lambda side=side: not any(CANARY in text for text in texts(side)) for side in (desk, laptop))
    )
    desk.client().undo(change)
    carry_until(carrier, *(lambda side=side: any(CANARY in text for text in texts(side)) for side in (desk, laptop)))
    assert sorted(texts(desk)) == sorted(texts(laptop))


def test_confidence_converges_with_steps_of_both_machines(both: tuple[RunningDaemon, RunningDaemon, Carrier]) -> None:
    desk, laptop, carrier = both
    opinion = next(memory["id"] for memory in desk.client().memories()["memories"] if "paper maps" in memory["text"])
    desk.client().retain(f"O(c=0.6, supports={opinion[:8]}) @Ada: Bought another paper map of the river")
    desk.client().reflect()
    laptop.client().retain(f"W(contradicts={opinion[:8]}) @Ada: Navigated by the phone all day")
    laptop.client().reflect()

    def steps(side: RunningDaemon) -> list[tuple[str, float]]:
        with Client(side.socket) as client:
            client.sync()
            return [(step["label"], step["after"]) for step in client.why_opinion(opinion)["steps"]]

    carry_until(carrier, lambda: steps(desk) == steps(laptop), lambda: len(steps(desk)) == 2)
    assert steps(desk) == [("reinforce", 0.65), ("contradict", 0.55)]
    assert desk.client().replay_opinions()["equal"]


def test_machine_from_a_copied_disk_takes_a_new_id(tmp_path: Path) -> None:
    desk, laptop = machine(tmp_path / "desk"), machine(tmp_path / "laptop")
    (desk.workspace / LOG).write_text(NOTE)
    carrier = Carrier(desk.workspace, laptop.workspace)
    with desk:
        desk.client().sync()
        use(desk, 4)
        eventually(lambda: any(b"used" in journal.read_bytes() for journal in journals(desk)))
    shutil.copytree(desk.state, laptop.state, dirs_exist_ok=True)
    carrier.carry()
    moved = laptop.memoryctl("workspace", "move", str(desk.workspace), str(laptop.workspace))
    assert moved.returncode == 0, moved.stderr + moved.stdout
    with desk, laptop:
        for side in (desk, laptop):
            side.client().sync()
            use(side, 1)
        for side in (desk, laptop):
            eventually(partial(has_exported_uses, side))
        # both have written into a journal of one name: each use since the copy counts once on both
        carry_until(carrier, lambda: carrier.conflicts == 1, lambda: uses(desk) == uses(laptop) == 5)
        eventually(lambda: any("which took a new one" in side.log.read_text() for side in (desk, laptop)))
        for side in (desk, laptop):
            use(side, 1)
        carry_until(carrier, lambda: uses(desk) == uses(laptop) == 7, lambda: len(journals(desk)) == 3)
        assert carrier.conflicts == 1
        report = desk.memoryctl("doctor", "--section", "machines").stdout
        assert "two machines had one id" in " ".join(report.split())


def has_exported_uses(side: RunningDaemon) -> bool:
    return uses(side) == 5 and b'"count":5' in journals(side)[0].read_bytes()


HOSTILE = {
    "foreign.jsonl": b'{"machine":"x","number":1,"at":1.0,"verb":"forgotten","name":"00","sign":"00"}\n' * 3,
    "binary.jsonl": bytes(range(256)) * 64,
    "empty.jsonl": b"",
    "marks.jsonl": b"<<<<<<< HEAD\n=======\n>>>>>>> laptop\n",
}


def test_bad_journals_affect_nothing_else(both: tuple[RunningDaemon, RunningDaemon, Carrier], tmp_path: Path) -> None:
    desk, laptop, carrier = both
    use(laptop, 2)
    carry_until(carrier, lambda: uses(desk) == 2)
    folder = desk.workspace / MACHINES
    for name, content in HOSTILE.items():
        (folder / name).write_bytes(content)
    with (folder / "huge.jsonl").open("wb") as file:
        file.truncate(2**33)
    (folder / "link.jsonl").symlink_to("/etc/passwd")
    theirs = next(journal for journal in journals(laptop) if b"used" in journal.read_bytes())
    (folder / theirs.name).write_bytes(theirs.read_bytes() + theirs.read_bytes()[:40])
    use(desk, 1)
    eventually(lambda: uses(desk) == 3)
    report = " ".join(desk.memoryctl("doctor", "--section", "machines").stdout.split())
    for name in (*HOSTILE, "huge.jsonl", "link.jsonl"):
        assert (name in report) == (name != "empty.jsonl")
    assert not desk.degraded()


def test_journal_with_another_secret_is_ignored(tmp_path: Path) -> None:
    desk, stranger = machine(tmp_path / "desk"), machine(tmp_path / "stranger", "another secret of theirs")
    (desk.workspace / LOG).write_text(NOTE)
    carrier = Carrier(desk.workspace, stranger.workspace)
    carrier.carry()
    with desk, stranger:
        stranger.client().sync()
        desk.client().sync()
        use(desk, 2)
        use(stranger, 1)
        carry_until(carrier, lambda: len(journals(desk)) == 2)
        report = " ".join(stranger.memoryctl("doctor", "--section", "machines").stdout.split())
        assert "another secret" in report
        assert (uses(desk), uses(stranger)) == (2, 1)


def git(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    identity = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org")
    return subprocess.run(
        ["git", *identity, *arguments], cwd=folder, capture_output=True, text=True, check=False, timeout=60
    )


@pytest.mark.torture
def test_git_carries_the_journals_and_its_conflict_is_settled(tmp_path: Path) -> None:
    desk, laptop = machine(tmp_path / "desk"), machine(tmp_path / "laptop")
    (desk.workspace / LOG).write_text(NOTE)
    (desk.workspace / ".gitignore").write_text("/.memory/*\n!/.memory/machines/\n.memoryd-*\n")
    git(tmp_path, "init", "--bare", "-q", "-b", "main", "hub")
    for side in (desk, laptop):
        git(side.workspace, "init", "-q", "-b", "main")
        git(side.workspace, "remote", "add", "origin", str(tmp_path / "hub"))

    def exchange(side: RunningDaemon) -> str:
        git(side.workspace, "add", "-A")
        git(side.workspace, "commit", "-qm", "notes")
        pulled = git(side.workspace, "pull", "-q", "--no-rebase", "--no-edit", "origin", "main")
        git(side.workspace, "push", "-q", "origin", "HEAD:main")
        return pulled.stdout + pulled.stderr

    exchange(desk)
    git(laptop.workspace, "pull", "-q", "origin", "main")
    git(laptop.workspace, "checkout", "-q", "main")
    with desk, laptop:
        for side in (desk, laptop):
            side.client().sync()
        use(desk, 2)
        use(laptop, 3)
        laptop.client().forget(CANARY)

        def exchange_and_check(*conditions: Callable[[], object]) -> bool:
            for side in (desk, laptop, desk):
                exchange(side)
            return all(condition() for condition in conditions)

        eventually(lambda: exchange_and_check(lambda: uses(desk) == 5, lambda: uses(laptop) == 5), step=1)
        eventually(lambda: exchange_and_check(lambda: not any(CANARY in text for text in texts(desk))), step=1)
        for side, hour in ((desk, "nine"), (laptop, "ten")):
            path = side.workspace / LOG
            path.write_text(path.read_text().replace("# Monday", f"# Monday\n\nThe ferry leaves at {hour}."))
            exchange(side)
        assert "<<<<<<<" in (laptop.workspace / LOG).read_text()
        assert LOG in laptop.memoryctl("conflicts").stdout
        assert laptop.memoryctl("conflicts", "keep", LOG, "both").returncode == 0
        exchange(laptop)
        exchange(desk)
        assert (desk.workspace / LOG).read_text() == (laptop.workspace / LOG).read_text()
        assert "nine" in (desk.workspace / LOG).read_text()
        assert "ten" in (desk.workspace / LOG).read_text()
        assert not any(".memory/forgotten" in name for name in git(desk.workspace, "ls-files").stdout.splitlines())
