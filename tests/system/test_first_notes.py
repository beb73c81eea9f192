"""Three notes under the real daemon with the real model, and what questions return."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from memoryd.wire import Exit
from tests.daemon import RunningDaemon, write_config
from tests.system.over_socket import send
from tests.waiting import eventually

NOTES = {
    "memory/boiler.md": "# Boiler\n\nThe boiler was serviced by Quentin, who tightened the valve.\n",
    "memory/harbour.md": "# Harbour\n\nWe moored the sloop at the eastern pier for two nights.\n",
    "bank/bread.md": "# Bread\n\nThe dough rests overnight, then bakes at 240 degrees.\n",
}
STRANGER = "xqvzz plurbix vorntak"


def write_notes(workspace: Path) -> Path:
    for name, text in NOTES.items():
        (workspace / name).parent.mkdir(parents=True, exist_ok=True)
        (workspace / name).write_text(text)
    return workspace


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory, starter_model: Path) -> Iterator[RunningDaemon]:
    home = tmp_path_factory.mktemp("first")
    workspace = write_notes(home / "workspace")
    with RunningDaemon(home, write_config(home, workspace, starter_model), workspace) as running:
        assert running.client().sync(wait="embedded", timeout_ms=60_000)["complete"]
        yield running


def ask(daemon: RunningDaemon, query: str, **more: object) -> Any:
    """Return the answer to a question, once the index is complete."""
    reply: dict[str, Any] = {}

    def is_complete() -> bool:
        answer = send(daemon.socket, "POST", "/v1/search", {"query": query, **more})
        assert answer.status == 200, answer.json
        reply.update(answer.json)
        return bool(reply["health"]["complete"])

    eventually(is_complete)
    return reply


@pytest.mark.parametrize(
    ("question", "path"),
    [
        ("who repaired our heating", "memory/boiler.md"),
        ("where did we leave the boat", "memory/harbour.md"),
        ("how hot is the oven", "bank/bread.md"),
    ],
)
def test_paraphrase_finds_the_note(daemon: RunningDaemon, question: str, path: str) -> None:
    reply = ask(daemon, question)
    assert reply["results"][0]["path"] == path
    assert {hit["path"] for hit in reply["results"]} == set(NOTES)
    assert reply["health"]["complete"]


def test_verdict_of_an_answer_is_that_of_its_best_hit(daemon: RunningDaemon) -> None:
    words = ask(daemon, "Quentin serviced the boiler", explain=True)
    assert [words["verdict"], words["reason"]] == ["answerable", None]
    verdicts = {hit["path"]: hit["verdict"] for hit in words["results"]}
    assert verdicts["memory/boiler.md"] == "answerable"
    assert set(verdicts) == set(NOTES)
    assert "answerable" not in {verdicts["memory/harbour.md"], verdicts["bank/bread.md"]}
    assert words["misses"] == []
    assert words["health"]["complete"]


def test_unrelated_question_gets_nearest_notes_as_noise(daemon: RunningDaemon) -> None:
    reply = ask(daemon, STRANGER, explain=True)
    assert {hit["path"] for hit in reply["results"]} == set(NOTES)
    assert {hit["verdict"] for hit in reply["results"]} == {reply["verdict"]} == {"none"}
    assert "noise" in reply["reason"]
    assert all("within the noise" in hit["explain"]["because"] for hit in reply["results"])
    cosines = [hit["vectorScore"] for hit in reply["results"]]
    assert cosines == sorted(cosines, reverse=True)
    assert reply["misses"] == []
    assert reply["health"]["complete"]


def test_memoryctl_exits_with_3_for_an_unrelated_question(daemon: RunningDaemon) -> None:
    result = daemon.memoryctl("search", *STRANGER.split())
    assert result.returncode == Exit.NOTHING_FOUND
    assert result.stdout.count("  (no answer)") == len(NOTES)
    assert result.stderr.startswith("note: nothing answers: no hit holds a telling word of the question")
    assert result.stderr.count("\n") == 1
    as_json = daemon.memoryctl("search", *STRANGER.split(), "--json")
    assert (as_json.returncode, as_json.stderr) == (Exit.NOTHING_FOUND, "")
    assert [hit["verdict"] for hit in json.loads(as_json.stdout)["results"]] == ["none"] * len(NOTES)
    assert daemon.memoryctl("search", *STRANGER.split(), "--strict").returncode == Exit.NOTHING_FOUND
    answered = daemon.memoryctl("search", "Quentin serviced the boiler")
    assert (answered.returncode, answered.stderr) == (Exit.DONE, "")


def test_hits_beyond_the_limit_are_misses(daemon: RunningDaemon) -> None:
    reply = ask(daemon, STRANGER, explain=True, maxResults=1)
    assert (len(reply["results"]), len(reply["misses"])) == (1, 1)
    assert reply["misses"][0]["explain"]["because"] == "it is beyond maxResults"
    assert reply["results"][0]["vectorScore"] >= reply["misses"][0]["vectorScore"]
    assert reply["health"]["complete"]


def test_min_score_empties_the_answer_with_a_reason(daemon: RunningDaemon) -> None:
    reply = ask(daemon, STRANGER, minScore=0.9, explain=True)
    assert (reply["results"], reply["verdict"]) == ([], "none")
    assert "minScore 0.9" in reply["reason"]
    assert {miss["path"] for miss in reply["misses"]} == set(NOTES)
    assert all("minScore" in miss["explain"]["because"] for miss in reply["misses"])
    assert reply["health"]["complete"]
    assert [hit["path"] for hit in ask(daemon, "Quentin", minScore=1.0)["results"]] == ["memory/boiler.md"]


@pytest.mark.parametrize(
    ("query", "more"),
    [
        (STRANGER, {"paths": ["memory/nowhere*"]}),
        ("boiler path:elsewhere", {}),
        ("boiler", {"until": "2001-01-01"}),
        ('"valve the tightened"', {}),
    ],
)
def test_filters_empty_the_answer_with_a_reason(daemon: RunningDaemon, query: str, more: dict[str, object]) -> None:
    reply = ask(daemon, query, explain=True, **more)
    assert (reply["results"], reply["misses"], reply["verdict"]) == ([], [], "none")
    assert "within the given sources, paths, dates, phrases and excluded words" in reply["reason"]
    assert reply["health"]["complete"]


def test_filter_leaves_only_its_notes(daemon: RunningDaemon) -> None:
    reply = ask(daemon, "who repaired our heating", paths=["bank"])
    assert [hit["path"] for hit in reply["results"]] == ["bank/bread.md"]
    assert reply["health"]["complete"]


def test_deleted_note_does_not_affect_the_judgement_of_others(tmp_path: Path, starter_model: Path) -> None:
    workspace = write_notes(tmp_path / "workspace")
    (workspace / "memory/quetzal.md").write_text("# Birds\n\nThe quetzal nests in Oaxaca.\n")
    config = write_config(tmp_path, workspace, starter_model, search={"sync": {"deleteGraceMs": 60_000}})
    with RunningDaemon(tmp_path, config, workspace) as running:
        assert running.client().sync(wait="embedded", timeout_ms=60_000)["complete"]
        assert ask(running, "quetzal nests in Oaxaca", explain=True)["explain"]["floors"]["share"] == 1.0
        (workspace / "memory/quetzal.md").unlink()
        reply = ask(running, "quetzal nests in Oaxaca", explain=True)
        assert {hit["path"] for hit in reply["results"]} == set(NOTES)
        floors = reply["explain"]["floors"]
        assert floors["share"] == 0.0
        nearest = max(hit["vectorScore"] for hit in reply["results"])
        assert floors["deviations"] == pytest.approx(
            (nearest - floors["noiseMean"]) / floors["noiseDeviation"], abs=0.1
        )
        assert (floors["deviations"] < floors["vectorFloor"]) == (reply["verdict"] == "none")
        assert ("within the noise" in reply["reason"]) == (reply["verdict"] == "none")


def test_words_only_search_finds_nothing_without_a_common_word(tmp_path: Path) -> None:
    workspace = write_notes(tmp_path / "workspace")
    with RunningDaemon(tmp_path, write_config(tmp_path, workspace, None), workspace) as running:
        assert running.client().sync(wait="indexed")["complete"]
        reply = ask(running, STRANGER, explain=True)
        assert (reply["results"], reply["misses"], reply["verdict"]) == ([], [], "none")
        assert reply["reason"] == "nothing in the notes matches"
        assert (reply["mode"], reply["health"]["complete"]) == ("lexical", True)
        result = running.memoryctl("search", STRANGER)
        assert (result.returncode, result.stdout) == (Exit.NOTHING_FOUND, "")
        assert result.stderr == "note: nothing found: nothing in the notes matches\n"
        found = ask(running, "who serviced the boiler")
        assert [(hit["path"], hit["verdict"]) for hit in found["results"]] == [("memory/boiler.md", "answerable")]
