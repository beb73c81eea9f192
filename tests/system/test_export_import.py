"""`memoryctl export` and `import` under the real daemon, between two workspaces of which one is empty."""

import json
import os
import shlex
import signal
from collections.abc import Iterator
from datetime import date, timedelta
from io import BytesIO
from pathlib import Path
from subprocess import DEVNULL, PIPE, Popen
from typing import Any

import pytest

from memoryd.cli.importing.lines import BATCH, BATCH_DAYS, LINE_BYTES_MAX, batches, expected_changes, import_lines
from memoryd.cli.main import INTERRUPTED
from memoryd.domain.memories.kinds import CHANGES_MAX
from memoryd.wire import Exit
from tests.daemon import MEMORYCTL, RunningDaemon
from tests.system.agents import daemon_of_agents
from tests.waiting import eventually

FIRST = (
    "# Tuesday\n\n## Retain\n- W @Peter: likes pears\n"
    "- O(c=0.7, i=0.4, pin, from=user, tags=x y) @Anna: hates plums\n    and wears clogs\n"
    "- S(at=2026-01): it rained\n- W(scope=global): everybody knows\n- W(scope=agent:one): for one alone\n"
)
SECOND = "# Wednesday\n\n## Retain\n- W @Peter: likes pears\n"


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningDaemon]:
    home = tmp_path_factory.mktemp("transfer")
    for name in ("one", "two"):
        (home / name / "memory").mkdir(parents=True)
    (home / "one" / "memory" / "2026-10-06.md").write_text(FIRST)
    (home / "one" / "memory" / "2026-10-07.md").write_text(SECOND)
    (home / "one" / "bank").mkdir()
    (home / "one" / "bank" / "world.md").write_text("# World\n\n- The gate opens at nine\n")
    agents = ({"id": name, "workspace": str(home / name)} for name in ("one", "two"))
    with daemon_of_agents(home, agents, home / "one") as running:
        running.client().sync()
        yield running


def memoryctl(daemon: RunningDaemon, agent: str, *arguments: str | Path, code: Exit = Exit.DONE) -> Any:
    result = daemon.memoryctl(*arguments, "--json", "--agent", agent)
    assert result.returncode == code, (arguments, result.stdout, result.stderr)
    return json.loads(result.stdout)


def exported(file: Path) -> list[dict[str, object]]:
    """Return the rows of an export without their sources."""
    rows = [json.loads(line) for line in file.read_text().splitlines()]
    return [{key: value for key, value in row.items() if key != "sources"} for row in rows]


def test_export_is_imported_once_and_exported_unchanged(daemon: RunningDaemon) -> None:
    first, second = daemon.home / "first.jsonl", daemon.home / "second.jsonl"
    assert memoryctl(daemon, "one", "export", first)["memories"] == 6
    assert first.stat().st_mode & 0o777 == 0o600
    memoryctl(daemon, "one", "export", first, code=Exit.ERROR)
    plan = memoryctl(daemon, "two", "import", first, "--dry-run", code=Exit.ERROR)
    assert (plan["added"], plan["refused"], plan["run"]) == (5, 1, None)
    assert not list((daemon.home / "two" / "memory").iterdir())
    result = memoryctl(daemon, "two", "import", first, code=Exit.ERROR)
    assert (result["added"], result["known"], result["refused"]) == (5, 0, 1)
    assert [line["reason"] for line in result["lines"]] == [
        "it is for another agent alone; import it as that one, with --agent"
    ]
    again = memoryctl(daemon, "two", "import", first, code=Exit.ERROR)
    assert (again["added"], again["known"], again["changes"]) == (0, 5, 0)
    memoryctl(daemon, "two", "export", second)
    assert exported(second) == [row for row in exported(first) if row["scope"] != "agent:one"]
    assert "- W @Peter: likes pears" in (daemon.home / "two" / "memory" / "2026-10-07.md").read_text()
    undone = daemon.client().undo(run=result["run"], agent="two")["undone"]
    assert len(undone) == result["changes"]
    daemon.client().sync(agent="two")


def test_interrupted_import_prints_how_to_undo_it(daemon: RunningDaemon) -> None:
    before = daemon.client().memories(agent="two")["total"]
    words = [str(MEMORYCTL), "import", "-", "--agent", "two"]
    with Popen(words, stdin=PIPE, stdout=DEVNULL, stderr=PIPE, env=daemon.env, text=True) as importing:
        assert importing.stdin is not None
        assert importing.stderr is not None
        first = importing.stderr.readline()
        for number in range(BATCH + 1):
            importing.stdin.write(json.dumps({"text": f"line {number} of many", "days": ["2026-10-09"]}) + "\n")
        importing.stdin.flush()
        eventually(lambda: daemon.client().memories(agent="two")["total"] > before)
        importing.send_signal(signal.SIGINT)
        last = importing.stderr.read()
        assert importing.wait() == INTERRUPTED
    way = first.partition("memoryctl ")[2].split()
    assert " ".join(way) in last
    undone = memoryctl(daemon, "two", *way[:-2])
    assert undone["undone"]
    daemon.client().sync(agent="two")
    assert daemon.client().memories(agent="two")["total"] == before


def test_export_does_not_replace_a_pipe(daemon: RunningDaemon) -> None:
    pipe = daemon.home / "pipe"
    os.mkfifo(pipe)
    error = memoryctl(daemon, "two", "export", pipe, "--force", code=Exit.ERROR)["error"]
    assert "no regular file" in error["message"]
    assert pipe.is_fifo()


def test_bad_lines_are_reported_by_number_and_the_others_imported(daemon: RunningDaemon) -> None:
    file = daemon.home / "hostile.jsonl"
    daemon.client().retain("W: to be gone", agent="two")
    daemon.client().sync(agent="two")
    daemon.client().forget("to be gone", agent="two")
    rows = [
        '{"text": ',
        "[1]",
        '{"text": "x", "kind": "nonsense"}',
        '{"text": "my password is hunter22secret!"}',
        '{"text": "t", "scope": "agent:one"}',
        '{"text": "ok", "importence": 1}',
        '{"text": "' + "y" * LINE_BYTES_MAX + '"}',
        "",
        '{"text": "to be gone", "kind": "world"}',
        '{"text": "a fence ```\\n```\\n# no heading", "days": ["2026-10-01"]}',
        '{"text": "\\ud800 half a letter"}',
        '{"text": "fine fellow", "days": ["2026-10-01"], "kind": "fact"}',
        '{"text": "late", "days": ["2999-01-01"]}',
        '{"text": ""}',
        '{"kind": "world"}',
        '{"text": "x", "confidence": 2, "days": ["yesterday"]}',
    ]
    file.write_text("\n".join(rows))
    result = memoryctl(daemon, "two", "import", file, code=Exit.ERROR)
    refused = {line["line"]: line["reason"] for line in result["lines"] if line["outcome"] == "refused"}
    assert {1, 2, 3, 4, 5, 6, 7, 9} <= refused.keys()
    assert refused[1].startswith('it is no JSON, as {"text": …}: ')
    assert "forgotten" in refused[9]
    assert "secret" in refused[4]
    assert "importence" in refused[6]
    assert not {12, 13} & refused.keys()
    assert refused[14] == "text: is too short: 1 or more characters are needed"
    assert refused[15] == "text: is missing"
    assert refused[16] == "confidence: must be at most 1; days.0: must be a day, as 2026-01-31"
    text = (daemon.home / "two" / "memory" / "2026-10-01.md").read_text()
    assert "fine fellow" in text
    written = "".join(path.read_text() for path in (daemon.home / "two" / "memory").glob("*.md"))
    assert "hunter22" not in written
    assert "to be gone" not in written


def test_folder_that_is_no_export_is_refused_with_what_reads_folders(daemon: RunningDaemon, tmp_path: Path) -> None:
    refused = memoryctl(daemon, "two", "import", tmp_path, code=Exit.ERROR)["error"]
    assert (refused["message"], "--from" in refused["hint"]) == (f"{tmp_path} cannot be read: Is a directory", True)


def test_memory_of_several_days_is_added_despite_a_private_log(daemon: RunningDaemon) -> None:
    (daemon.home / "two" / "memory" / "2026-09-02.md").write_text("---\nmemory: false\n---\nmine\n")
    rows = [
        {"text": "The gauge reads 41", "kind": "world", "days": [f"2026-09-0{day}" for day in days]}
        for days in ("12", "2")
    ]
    rows[1]["text"] = "The gauge reads 42"
    several, single = daemon.client().import_memories(rows, run="d" * 32, agent="two")["memories"]
    assert (several["outcome"], single["outcome"]) == ("added", "refused")
    assert "2026-09-02.md is not written" in several["reason"]
    assert "reads 41" in (daemon.home / "two" / "memory" / "2026-09-01.md").read_text()


def test_import_too_large_for_undo_is_reported_first(daemon: RunningDaemon) -> None:
    file, far = daemon.home / "broken.jsonl", daemon.home / "far.jsonl"
    first = date(1980, 1, 1)
    days = [str(first + timedelta(number)) for number in range(CHANGES_MAX + 1)]
    far.write_text("".join(json.dumps({"text": "x", "scope": "agent:other", "days": [day]}) + "\n" for day in days))
    with far.open("rb") as source:
        assert expected_changes(import_lines(source))[0] == CHANGES_MAX + 1
    file.write_text(json.dumps({"text": "for two alone", "scope": "agent:other", "days": days}))
    result = daemon.memoryctl("import", str(file), "--agent", "two")
    assert "in part only" in result.stderr
    assert "memoryctl backup" in result.stderr
    assert "undo --run" in result.stderr


def test_batches_are_limited_in_memories_and_days() -> None:
    first = date(2020, 1, 1)
    far = [{"text": "x", "days": [str(first + timedelta(number))]} for number in range(BATCH_DAYS + 1)]
    near = [{"text": "x", "days": ["2020-01-01", "2020-01-02"]}, {"text": "x"}] * BATCH
    for memories, sizes in ((far, [BATCH_DAYS, 1]), (near, [BATCH, BATCH])):
        source = BytesIO("".join(json.dumps(memory) + "\n" for memory in memories).encode())
        assert [len(batch) for batch in batches(import_lines(source))] == sizes
        source.seek(0)
        assert expected_changes(import_lines(source))[0] == (BATCH_DAYS + 1 if memories is far else 2 * 3)


def test_first_of_duplicates_in_a_request_is_stored(daemon: RunningDaemon) -> None:
    twin = {"text": "the twins have one bed", "days": ["2024-06-01"]}
    memories: list[dict[str, Any]] = [
        twin,
        {**twin, "importance": 0.9},
        {**twin, "days": ["2024-06-01", "2024-06-02"]},
        {**twin, "days": []},
    ]
    with daemon.client() as client:
        reply = client.import_memories(memories, run="b" * 32, agent="two")
    assert [memory["outcome"] for memory in reply["memories"]] == ["added", "known", "added", "known"]
    assert reply["memories"][1]["reason"] == "i of the existing line stays unchanged"
    assert len(reply["changes"]) == 2


def test_log_of_an_early_year_has_four_digits(daemon: RunningDaemon) -> None:
    with daemon.client() as client:
        reply = client.import_memories([{"text": "the first day", "days": ["0001-01-01"]}], run="c" * 32, agent="two")
    assert [memory["outcome"] for memory in reply["memories"]] == ["added"]


def test_memories_of_the_same_days_share_a_batch() -> None:
    first = date(2020, 1, 1)
    memories = [
        {"text": "x", "days": [str(first + timedelta((at + 12 * step) % 120)) for step in range(10)]}
        for at in range(300)
    ]
    source = BytesIO("".join(json.dumps(memory) + "\n" for memory in memories).encode())
    assert [len(batch) for batch in batches(import_lines(source))] == [100, 100, 100]
    source.seek(0)
    assert expected_changes(import_lines(source))[0] == 3 * 120


def test_missing_file_is_reported(daemon: RunningDaemon) -> None:
    error = memoryctl(daemon, "two", "import", daemon.home / "none.jsonl", code=Exit.ERROR)["error"]
    assert "cannot be read" in error["message"]


def test_printed_undo_command_names_its_agent(daemon: RunningDaemon) -> None:
    """Numbers of changes count per workspace, and both have one of the same number."""
    daemon.client().retain("W @Peter: keeps bees", agent="one")
    result = daemon.memoryctl("--agent", "two", "retain", "W @Anna: keeps hens")
    command = shlex.split(result.stderr.partition("to take it back: ")[2].splitlines()[0])
    undone = daemon.memoryctl(*command[1:])
    assert undone.returncode == Exit.DONE, undone.stderr
    texts = {name: "".join(path.read_text() for path in (daemon.home / name).rglob("*.md")) for name in ("one", "two")}
    assert "keeps bees" in texts["one"]
    assert "keeps hens" not in texts["two"]
