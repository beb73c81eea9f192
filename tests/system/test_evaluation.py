"""`make eval` as a developer runs it: the real daemon, and a baseline that is written and compared with."""

import json
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from bench.retrieval.__main__ import OWN_SETS, main
from bench.retrieval.baseline import load
from tests.integration.test_longmemeval import row


@pytest.fixture
def sets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with one small set."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    folder = tmp_path / "sets" / "mine"
    shutil.copytree(OWN_SETS / "literals" / "ws" / "l02-warehouse", folder / "ws" / "l02-warehouse")
    lines = (OWN_SETS / "literals" / "queries.jsonl").read_text().splitlines(keepends=True)
    (folder / "queries.jsonl").write_text("".join(line for line in lines if '"l02-warehouse"' in line))
    return folder.parent


def run_evaluation(sets: Path, *arguments: str) -> Result:
    baseline = str(sets / "baseline.json")
    fixed = ["--sets", str(sets), "--mode", "lexical", "--baseline", baseline, "mine"]
    return CliRunner().invoke(main, [*fixed, *arguments])


def test_evaluation_is_compared_with_its_own_baseline(sets: Path) -> None:
    figures = sets / "figures.json"
    answers = sets / "answers.jsonl"
    first = run_evaluation(sets, "--save-baseline", "--json", str(figures), "--answers", str(answers))
    assert first.exit_code == 0, first.output
    assert "identifier" in first.stdout
    assert "change" not in first.stdout
    kept = load(sets / "baseline.json").of("mine", "lexical", "all")
    found = json.loads(figures.read_text())["mine"]["lexical"]
    assert kept == found["all"]
    assert (kept["questions"], found["identifier"]["questions"], found["part"]["questions"]) == (16, 10, 6)
    rows = [json.loads(line) for line in answers.read_text().splitlines()]
    assert (len(rows), {row["verdict"] for row in rows} <= {"answerable", "weak", "none"}) == (16, True)
    assert sum(row["scores"]["recall_at_1"] for row in rows) == pytest.approx(16 * kept["recall_at_1"], abs=0.01)
    assert rows[0]["results"][0]["path"] == "memory/settings.md"
    # the index is kept, so the second run is answered from it
    again = run_evaluation(sets, "--brief", "--strict")
    assert again.exit_code == 0, again.output
    assert "change" in again.stdout
    assert "identifier" not in again.stdout


def test_drop_of_two_questions_is_reported_and_fails_when_strict(sets: Path) -> None:
    (sets / "baseline.json").write_text(
        json.dumps({"mine": {"lexical": {"all": {"questions": 16, "recall_at_5": 1 + 2 / 16, "empty": 0}}}})
    )
    result = run_evaluation(sets, "--brief")
    assert (result.exit_code, "R@5 lost more than one question: mine, lexical" in result.stdout) == (0, True)
    assert run_evaluation(sets, "--brief", "--strict").exit_code == 1


def test_bad_set_is_refused_before_any_question(sets: Path) -> None:
    with (sets / "mine" / "queries.jsonl").open("a") as file:
        file.write('{"qid": "broken"\n')
    refused = run_evaluation(sets)
    assert refused.exit_code == 1
    assert "queries.jsonl:17: this is not a question" in refused.output
    unknown = run_evaluation(sets, "others")
    assert unknown.exit_code == 1
    assert "there is no set 'others'; there are: inflected, literals, mine, tiny-dev" in unknown.output


def test_longmemeval_is_run_from_the_path_of_its_file(sets: Path) -> None:
    file = sets / "longmemeval_s.json"
    file.write_text(json.dumps([row(), row("0a1b_abs")]))
    figures = sets / "figures.json"
    result = run_evaluation(sets, "--longmemeval", str(file), "--limit", "2", "--json", str(figures))
    assert result.exit_code == 0, result.output
    found = json.loads(figures.read_text())["longmemeval_s-2"]["lexical"]
    assert (found["all"]["questions"], found["strangers"]["questions"]) == (1, 1)
    assert (found["all"]["any_at_5"], found["all"]["recall_at_1"]) == (1, 1)
    assert "any@5" in result.stdout
