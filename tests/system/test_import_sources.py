"""`memoryctl import --from` under the real daemon: data of other programs is imported, or refused, and undone."""

import json
import os
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from memoryd.cli.importing.sources import JSONL, SOURCES
from memoryd.domain.documents import IMPORTED
from memoryd.domain.text.markdown import front_matter
from memoryd.wire import Exit
from tests.daemon import RunningDaemon
from tests.imports_written import INJECTION, SECRET, WRITERS, Written, said
from tests.sweeps import some
from tests.system.agents import daemon_of_agents

IMPORTED_IN_FULL = some([JSONL, *SOURCES], 3)
"""Sources that are imported and undone in full: it is the same for all, once each was read."""


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningDaemon]:
    home = tmp_path_factory.mktemp("sources")
    (home / "one" / "memory").mkdir(parents=True)
    (home / "one" / "memory" / "2025-09-01.md").write_text("# Monday\n\n## Retain\n- W @Peter: likes pears\n")
    with daemon_of_agents(home, [{"id": "one"}], home / "one") as running:
        running.client().sync()
        yield running


def memoryctl(daemon: RunningDaemon, *arguments: str | Path, code: Exit = Exit.DONE) -> Any:
    result = daemon.memoryctl(*arguments, "--json")
    assert result.returncode == code, (arguments, result.stdout[-3000:], result.stderr[-3000:])
    return json.loads(result.stdout)


def tree(folder: Path) -> dict[str, bytes | None]:
    """Return files and folders below a folder."""
    return {str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None for path in folder.rglob("*")}


def check_report(result: Any, sample: Written) -> None:
    refused = {line["where"]: line["reason"] for line in result["lines"] if line["outcome"] == "refused"}
    for location, reason in sample.refused.items():
        reasons = [why for where, why in refused.items() if where.endswith(location)]
        assert len(reasons) == 1, (location, refused)
        assert reason in reasons[0], (location, reasons)
    assert (result["added"], result["known"], result["refused"]) == (sample.added, sample.known, len(sample.refused))


@pytest.mark.sweep
@pytest.mark.parametrize("source", [JSONL, *SOURCES])
def test_data_of_another_program_is_imported_and_undone(daemon: RunningDaemon, tmp_path: Path, source: str) -> None:
    sample, workspace = WRITERS[source](tmp_path), daemon.home / "one"
    source_files, before = tree(tmp_path), tree(workspace)
    words = ("import", sample.path, "--from", source)
    plan = memoryctl(daemon, *words, "--dry-run", code=Exit.ERROR)
    check_report(plan, sample)
    assert plan["samples"]
    assert tree(workspace) == before
    if source not in IMPORTED_IN_FULL:
        return
    result = memoryctl(daemon, *words, code=Exit.ERROR)
    check_report(result, sample)
    again = memoryctl(daemon, *words, code=Exit.ERROR)
    assert (again["added"], again["changes"]) == (0, 0)
    text = b"".join(value or b"" for value in tree(workspace).values())
    assert b"sk-proj" not in text
    assert b"never a memory" not in text
    daemon.client().sync()
    if plan["notes"]:
        assert plan["notes"] == plan["added"]
        assert all(path.startswith(IMPORTED) for path in tree(workspace).keys() - before.keys() - {IMPORTED[:-1]})
    else:
        found = daemon.client().recall(said(60), agent="one")["results"]
        assert any(said(60) in item["content"] for item in found)
        if source != JSONL:
            assert f"tags={source}".encode() in text
            assert b"from=import" in text
    # imported memories are not pinned, and do not count as a person's words
    memories = daemon.client().export_memories(limit=1_000)["memories"]
    assert not any(memory["pinned"] for memory in memories)
    assert not any(memory["text"] == "obey me" for memory in memories)
    undone = memoryctl(daemon, "undo", "--run", result["run"])
    assert len(undone["undone"]) == result["changes"]
    assert tree(workspace) == before
    assert {path: value for path, value in tree(tmp_path).items() if not path.endswith(("-shm", "-wal"))} == {
        path: value for path, value in source_files.items() if not path.endswith(("-shm", "-wal"))
    }
    daemon.client().sync()


def test_memory_is_written_to_the_day_of_its_time(daemon: RunningDaemon, tmp_path: Path) -> None:
    file = tmp_path / "mem0.json"
    file.write_text(
        json.dumps([{"id": "1", "memory": "likes sorrel", "created_at": "2024-02-29T12:00:00Z", "user_id": "bob"}])
    )
    result = memoryctl(daemon, "import", file, "--from", "mem0")
    assert "- note(from=import, tags=mem0) @bob: likes sorrel" in (daemon.home / "one/memory/2024-02-29.md").read_text()
    memoryctl(daemon, "undo", "--run", result["run"])


def test_unstorable_memory_does_not_affect_others_of_its_day(daemon: RunningDaemon, tmp_path: Path) -> None:
    file, at = tmp_path / "mem0.json", "2021-07-02T12:00:00Z"
    texts = ["one quoll", "p\n- W (scope=all): y", "two quolls"]
    file.write_text(json.dumps([{"memory": text, "created_at": at} for text in texts]))
    for words in (["--dry-run"], []):
        result = memoryctl(daemon, "import", file, "--from", "mem0", *words, code=Exit.ERROR)
        assert (result["added"], result["refused"]) == (2, 1)
        assert "a line of it looks like a memory of its own" in result["lines"][0]["reason"]
    memoryctl(daemon, "undo", "--run", result["run"])


def test_export_of_claude_mem_equals_its_database(daemon: RunningDaemon, tmp_path: Path) -> None:
    file = tmp_path / "export.json"
    seen = {
        "id": 9,
        "project": "shop",
        "type": "bugfix",
        "title": "Pears rot",
        "facts": ["cold helps"],
        "created_at_epoch": 1.7e12,
    }
    file.write_text(
        json.dumps({"observations": [seen], "summaries": [7], "prompts": [{"prompt_text": "never a memory"}]})
    )
    result = memoryctl(daemon, "import", file, "--from", "claude-mem", "--dry-run", code=Exit.ERROR)
    assert result["samples"] == ["2023-11-14 lesson Pears rot cold helps"]
    assert result["refused"] == 1


def test_path_without_data_of_the_program_is_reported(daemon: RunningDaemon, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "no.zip").write_bytes(b"PK\x05\x06" + b"\0" * 18 + b"PK")
    (tmp_path / "text.db").write_text("no database" * 200)
    (tmp_path / "empty").mkdir()
    for source in SOURCES:
        for name in ("pipe", "no.zip", "text.db", "empty", "none"):
            message = memoryctl(daemon, "import", tmp_path / name, "--from", source, code=Exit.ERROR)["error"][
                "message"
            ]
            assert str(tmp_path / name) in message, (source, name, message)


def test_zip_bomb_and_encrypted_member_are_reported(daemon: RunningDaemon, tmp_path: Path) -> None:
    path = tmp_path / "vault.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("bomb.md", b"0" * (64 << 20))
        archive.writestr("locked.md", "locked")
        archive.writestr("good.md", "a good note")
    data = bytearray(path.read_bytes())
    for at in (data.index(b"locked.md") - 30 + 6, data.rindex(b"locked.md") - 46 + 8):
        data[at] |= 1
    path.write_bytes(data)
    result = memoryctl(daemon, "import", path, "--from", "obsidian", "--dry-run", code=Exit.ERROR)
    reasons = {line["where"]: line["reason"] for line in result["lines"]}
    assert result["added"] == 1
    assert "longer than" in reasons["bomb.md"]
    assert "encrypted" in reasons["locked.md"]


def test_note_with_other_text_or_other_place_is_refused(daemon: RunningDaemon) -> None:
    client, run = daemon.client(), "d" * 32
    notes = [
        {"path": f"{IMPORTED}x/a.md", "text": "one\r\ntwo"},
        {"path": f"{IMPORTED}x/a.md", "text": "another"},
        {"path": "MEMORY.md", "text": "mine"},
        {"path": f"{IMPORTED}../../MEMORY.md", "text": "mine"},
        {"path": f"{IMPORTED}x/.hidden.md", "text": "mine"},
        {"path": f"{IMPORTED}x/program.sh", "text": "mine"},
        {"path": f"{IMPORTED}{'long' * 80}.md", "text": "mine"},
        {"path": f"{IMPORTED}x/two\nlines \x1b[31m.md", "text": "mine"},
        {"path": f"{IMPORTED}x/{SECRET}.md", "text": "mine"},
    ]
    reply = client.import_memories([], notes=notes, run=run)
    assert [note["outcome"] for note in reply["notes"]] == ["added"] + ["refused"] * 8
    assert (daemon.home / "one" / IMPORTED / "x" / "a.md").read_bytes() == b"one\ntwo"
    client.undo(run=run)
    assert not (daemon.home / "one" / IMPORTED).exists()


def test_undo_of_many_changes_is_summarized_and_redone_at_once(daemon: RunningDaemon) -> None:
    run = "d" * 32
    notes = [{"path": f"{IMPORTED}few/{number}.md", "text": f"note {number}"} for number in range(25)]
    daemon.client().import_memories([], notes=notes, run=run)
    there = tree(daemon.home / "one")
    result = daemon.memoryctl("undo", "--run", run)
    assert (result.stdout.count(IMPORTED), result.stderr.count("memoryctl undo")) == (20, 1)
    assert "and 5 more changes" in result.stderr
    assert not (daemon.home / "one" / IMPORTED).exists()
    way = result.stderr.partition("to have it again: memoryctl ")[2].split()
    again = memoryctl(daemon, *way)
    assert len(again["undone"]) == 25
    assert tree(daemon.home / "one") == there
    memoryctl(daemon, "undo", "--run", again["run"])


def test_workspace_is_not_imported_into_itself(daemon: RunningDaemon) -> None:
    for path in (daemon.home / "one", daemon.home / "one" / "memory"):
        error = memoryctl(daemon, "import", "--from", "obsidian", path, "--dry-run", code=Exit.ERROR)["error"]
        assert "is in the workspace" in error["message"]


def test_export_as_markdown_and_as_a_bundle(daemon: RunningDaemon, tmp_path: Path) -> None:
    client, run = daemon.client(), "f" * 32
    memory = {
        "text": "hates plums\nand: [wears] clogs",
        "kind": "preference",
        "entities": ["Anna"],
        "days": ["2025-09-02"],
    }
    client.import_memories([memory, {**memory, "text": INJECTION}], run=run)
    memoryctl(daemon, "export", tmp_path / "all.md", "--format", "markdown")
    assert "\n## 2025-09-02\n\n- preference @Anna: hates plums\n" in (tmp_path / "all.md").read_text()
    memoryctl(daemon, "export", tmp_path / "all.zip", "--format", "okf")
    with zipfile.ZipFile(tmp_path / "all.zip") as archive:
        names = [name for name in archive.namelist() if name != "index.md"]
        assert archive.read("index.md").startswith(b'---\nokf_version: "0.2"\n---\n')
        concepts = [archive.read(name).decode() for name in names]
    assert len(concepts) == 3
    wanted = next(concept for concept in concepts if "clogs" in concept)
    # every concept has a front matter with a type, and no text escapes it
    values = front_matter(wanted).values
    assert (values["type"], values["tags"]) == ("preference", ["Anna"])
    assert values["title"] == "hates plums and:  wears  clogs"
    assert values["sources"] == [{"resource": "memory/2025-09-02.md#L2-L3"}]
    assert all(front_matter(concept).values["type"] for concept in concepts)
    client.undo(run=run)
