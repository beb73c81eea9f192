"""`memoryctl eval`: a new user's first steps on notes in three languages, comparison, and refusal of regressions."""

import hashlib
import json
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from memoryd.wire import Exit
from tests.daemon import MEMORYCTL, RunningDaemon, bring_strangers
from tests.sweeps import swept
from tests.waiting import eventually
from tests.warm.programs import started

GOLDEN = ".memory/eval.jsonl"
NOTES = {
    "en": "# House\n\n## Heating and boiler\n\nThe boiler was serviced by Quentin Aldebaran.\n\n"
    "## Garden tools\n\nThe hedge trimmer lives in the shed behind the bicycles.\n",
    "zh": "# 家\n\n## 锅炉保养\n\n十月请师傅保养了锅炉，发票放在蓝色文件夹里。\n\n"
    "## 房租合同\n\n每月五号之前要把租金转给房东。\n",
    "de": "# Haus\n\n## Heizung und Kessel\n\nDie Rechnung vom Kessel liegt im blauen Ordner.\n\n"
    "## Werkzeug im Garten\n\nDie Heckenschere liegt im Schuppen hinter den Fahrrädern.\n",
}
HEADINGS = {
    "en": {"Heating and boiler", "Garden tools"},
    "zh": {"锅炉保养", "房租合同"},
    "de": {"Heizung und Kessel", "Werkzeug im Garten"},
}
HOSTS = ("alder", "birch", "cedar", "maple", "rowan", "hazel", "aspen", "larch")
HOST = """The machine {name} was bought second hand from a colleague who moved abroad.

It has a quiet fan and two large disks, and its lamp blinks green while everything is as it should be.
Dust is removed every spring with a soft brush, and the filter is washed in warm water and dried overnight.

The service on it listens on port {port}, and only the local network may reach that.
"""
TINY_CHUNKS = {"tokens": 40, "overlap": 0}


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory, starter_model: Path) -> Iterator[RunningDaemon]:
    """Run one daemon over three workspaces in three languages, and one whose notes small chunks split."""
    home = tmp_path_factory.mktemp("eval")
    for agent, text in NOTES.items():
        (home / agent / "memory").mkdir(parents=True)
        (home / agent / "memory" / "note.md").write_text(text)
    (home / "hosts" / "memory").mkdir(parents=True)
    for number, name in enumerate(HOSTS):
        note = HOST.format(name=name, port=8400 + number)
        (home / "hosts" / "memory" / f"host{number}.md").write_text(note)
    # a workspace with memories has a ledger; the variant makes its own
    (home / "hosts" / "memory" / "2026-10-06.md").write_text("## Retain\n- W @Peter: Peter moved to Lisbon.\n")
    config = home / "config.json5"
    write_config(config, starter_model)
    bring_strangers(home / "cache")
    with RunningDaemon(home, config, home / "en") as running:
        assert running.client().sync(wait="embedded")["complete"]
        yield running


def write_config(path: Path, model: Path, **search: object) -> None:
    """Write a configuration as a person does, with relative paths and a comment."""
    shared = {"local": {"modelPath": str(model), "threads": 1}, **search}
    agents = [{"id": name, "workspace": name} for name in (*NOTES, "hosts")]
    text = json.dumps({"agents": {"defaults": {"memorySearch": shared}, "list": agents}})
    path.write_text(f"// mine\n{text}\n")


def memoryctl(daemon: RunningDaemon, *arguments: str, expected: Exit = Exit.DONE) -> subprocess.CompletedProcess[str]:
    result = daemon.memoryctl(*arguments)
    assert result.returncode == expected, result.stderr + result.stdout
    return result


def memoryctl_json(daemon: RunningDaemon, *arguments: str, expected: Exit = Exit.DONE) -> Any:
    return json.loads(memoryctl(daemon, *arguments, "--json", expected=expected).stdout)


def write_golden(daemon: RunningDaemon, agent: str, *rows: object) -> Path:
    path = daemon.home / agent / GOLDEN
    path.parent.mkdir(exist_ok=True)
    path.write_text("".join(f"{row if isinstance(row, str) else json.dumps(row)}\n" for row in rows))
    return path


def write_host_questions(daemon: RunningDaemon) -> None:
    write_golden(
        daemon,
        "hosts",
        *(
            {
                "question": f"on which port does {name} listen",
                "expect": [{"path": f"memory/host{number}.md", "quote": f"listens on port {8400 + number}"}],
            }
            for number, name in enumerate(HOSTS)
        ),
        {"question": "what is the capital of Mongolia", "expect": []},
    )


def digest(daemon: RunningDaemon, agent: str) -> tuple[Path, str]:
    status = daemon.client().status()["agents"]
    path = Path(next(statu["database"]["path"] for statu in status if statu["id"] == agent))
    return path, hashlib.sha256(path.read_bytes()).hexdigest()


@swept("agent", [*list(NOTES)], 1)
def test_new_user_gets_scores(daemon: RunningDaemon, agent: str) -> None:
    empty = memoryctl(daemon, "eval", "run", "--agent", agent, expected=Exit.NOTHING_FOUND)
    assert "memoryctl eval suggest" in empty.stderr
    guesses = memoryctl_json(daemon, "eval", "suggest", "--agent", agent)
    assert {guess["question"] for guess in guesses} >= HEADINGS[agent]
    assert memoryctl_json(daemon, "eval", "suggest", "--agent", agent, expected=Exit.NOTHING_FOUND) == []
    assert list(memoryctl_json(daemon, "eval", "run", "--agent", agent)["scores"]) == ["guesses"]
    memoryctl(daemon, "eval", "accept", "--agent", agent, str(guesses[0]["line"]))
    memoryctl(daemon, "eval", "accept", "--agent", agent, "99", expected=Exit.ERROR)
    memoryctl(daemon, "eval", "accept", "--agent", agent, "--all")
    reply = memoryctl_json(daemon, "eval", "run", "--agent", agent)
    assert reply["scores"]["accepted"]["questions"] == len(guesses)
    assert reply["scores"]["accepted"]["recallAt5"] == 1.0
    assert reply["changed"] == []
    assert reply["latencyMs"]["arms"].keys() >= {"lexical", "vector"}
    table = memoryctl(daemon, "eval", "run", "--agent", agent).stdout
    assert "R@1" in table
    assert "nothing changed since the last run" in table


def test_usable_lines_of_a_handwritten_file_are_used(daemon: RunningDaemon) -> None:
    private = daemon.home / "de" / "memory" / "diary.md"
    private.write_text("---\nmemory: false\n---\n# Geheime Sachen hier\n\nDas Tagebuch liegt unter dem Bett.\n")
    place = {"path": "memory/note.md", "quote": "hinter den Fahrrädern", "lines": "L9"}
    write_golden(
        daemon,
        "de",
        {"question": "Wo liegt die Heckenschere?", "expect": [place]},
        '{"question": "kaputt"',
        {"question": "Wo liegt das Tagebuch?", "expect": [{"path": "memory/diary.md", "quote": "unter dem Bett"}]},
        {"question": "Wie hoch ist der Mount Everest?", "expect": []},
    )
    reply = memoryctl_json(daemon, "eval", "run", "--agent", "de")
    assert reply["scores"]["accepted"]["questions"] == 2
    assert [problem.split(":")[0].split(" is")[0] for problem in reply["problems"]] == ["line 2", "line 3"]
    # the owner edits the note: first above the line, then moves the section to another note
    note = daemon.home / "de" / "memory" / "note.md"
    head, tools = NOTES["de"].split("## Werkzeug")
    note.write_text(f"# Neues\n\nEine Zeile.\n\n{head}## Werkzeug{tools}")
    assert memoryctl_json(daemon, "eval", "run", "--agent", "de")["scores"]["accepted"]["recallAt1"] == 1.0
    note.write_text(head)
    (note.parent / "garten.md").write_text(f"## Werkzeug{tools}")
    moved = memoryctl_json(daemon, "eval", "run", "--agent", "de")
    assert (moved["scores"]["accepted"]["recallAt1"], moved["changed"]) == (1.0, [])
    (note.parent / "garten.md").unlink()
    gone = memoryctl_json(daemon, "eval", "run", "--agent", "de")
    assert "line 1: memory/note.md#L9 is not in the index" in gone["problems"][1]
    long = {"path": "memory/none.md", "quote": "Kessel im Keller " * 300}
    write_golden(daemon, "de", {"question": "Wo?", "expect": [long]}, {"question": "Wie hoch?", "expect": []})
    used = memoryctl_json(daemon, "eval", "run", "--agent", "de")
    assert used["scores"]["accepted"]["questions"] == 1
    assert "line 1: memory/none.md is not in the index" in used["problems"][0]
    guessed = memoryctl_json(daemon, "eval", "suggest", "--agent", "de")
    assert not [guess for guess in guessed if "Geheime" in guess["question"]]


def test_variant_is_compared_and_leaves_nothing(daemon: RunningDaemon) -> None:
    write_host_questions(daemon)
    memoryctl(daemon, "sync", "--wait", "embedded", "--agent", "hosts")
    index, before = digest(daemon, "hosts")
    beside = sorted(index.parent.iterdir())
    options = ["--with", "chunking.tokens=40", "--with", "memorySearch.chunking.overlap=0", "--agent", "hosts"]
    reply = memoryctl_json(daemon, "eval", "compare", *options)
    assert reply["regression"] is True
    assert reply["now"]["scores"]["accepted"]["recallAt1"] == 1.0
    assert reply["variant"]["scores"]["accepted"]["recallAt1"] < 0.5
    assert {change["question"] for change in reply["changed"]} >= {"on which port does alder listen"}
    assert digest(daemon, "hosts") == (index, before)
    assert sorted(index.parent.iterdir()) == beside
    wrong = memoryctl(daemon, "eval", "compare", "--with", "chunking.token=40", "--agent", "hosts", expected=Exit.ERROR)
    assert "did you mean `tokens`" in wrong.stderr


def test_interrupted_comparison_leaves_nothing(daemon: RunningDaemon) -> None:
    write_host_questions(daemon)
    index, before = digest(daemon, "hosts")
    arguments = ["eval", "compare", "--with", "chunking.tokens=64", "--agent", "hosts"]
    running = started([MEMORYCTL, *arguments], env=daemon.env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    eventually(lambda: any(index.parent.glob("memoryd-eval-*/state/memoryd.lock")))
    running.send_signal(signal.SIGINT)
    assert running.wait(90) != Exit.DONE
    assert not list(index.parent.glob("memoryd-eval-*"))
    assert digest(daemon, "hosts") == (index, before)


def test_next_command_removes_the_remains_of_a_killed_comparison(daemon: RunningDaemon, tmp_path: Path) -> None:
    write_host_questions(daemon)
    index, _ = digest(daemon, "hosts")
    beside = sorted(index.parent.iterdir())
    options = ["--with", "chunking.tokens=64", "--agent", "hosts"]
    environment = {**daemon.env, "TMPDIR": str(tmp_path)}
    running = started(
        [MEMORYCTL, "eval", "compare", *options], env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    eventually(lambda: any(index.parent.glob("memoryd-eval-*/config.json")))
    running.kill()
    running.wait(90)
    assert not [path for path in tmp_path.rglob("*") if path.is_file()], (
        "files that may hold keys are in the scratch folder"
    )
    memoryctl(daemon, "eval", "accept", "--agent", "hosts")
    assert sorted(index.parent.iterdir()) == beside


def test_model_is_written_into_the_configuration(daemon: RunningDaemon, starter_model: Path, tmp_path: Path) -> None:
    write_host_questions(daemon)
    other = tmp_path / "other.gguf"
    other.symlink_to(starter_model)
    reply = memoryctl_json(daemon, "models", "use", str(other), "--agent", "zh")
    assert (reply["spec"], Path(reply["kept"]).exists()) == (str(other), True)
    text = daemon.config.read_text()
    assert text.startswith("// mine\n")
    assert f'"modelPath": "{other}"' in text
    assert daemon.client().status()["config"]["problems"] == []
    again = memoryctl(daemon, "models", "use", str(tmp_path / "none.gguf"), expected=Exit.ERROR)
    assert "none.gguf" in again.stderr
    assert daemon.config.read_text() == text


@pytest.mark.torture
def test_questions_without_valid_answers_block_no_change(daemon: RunningDaemon) -> None:
    write_golden(daemon, "hosts", {"question": "who knows?", "expect": ["memory/none.md#L1"]})
    refused = memoryctl(daemon, "eval", "compare", "--agent", "hosts", expected=Exit.NOTHING_FOUND)
    assert "no golden question that can be asked" in refused.stderr
    text = daemon.config.read_text()
    daemon.config.write_text(text.replace('"memorySearch": {', '"memorySearch": {"query": {"minScore": 0.2}, ', 1))
    changed = memoryctl(daemon, "reload", "--agent", "hosts")
    assert "minScore" in changed.stdout
    daemon.config.write_text(text)


def test_regression_is_refused_with_the_question_before_the_switch(daemon: RunningDaemon, starter_model: Path) -> None:
    """Must be the last test of this module, since it splits the notes."""
    write_host_questions(daemon)
    write_config(daemon.config, starter_model, chunking=TINY_CHUNKS)
    refused = memoryctl(daemon, "reindex", expected=Exit.ERROR)
    assert "on which port does alder listen" in refused.stderr
    assert "--force" in refused.stderr
    kept = memoryctl_json(daemon, "eval", "run", "--agent", "hosts")
    assert kept["scores"]["accepted"]["recallAt1"] == 1.0
    memoryctl(daemon, "reload", "--force")
    lost = memoryctl_json(daemon, "eval", "run", "--agent", "hosts")
    assert lost["scores"]["accepted"]["recallAt1"] < 0.5
    assert "on which port does alder listen" in {change["question"] for change in lost["changed"]}
