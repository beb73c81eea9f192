"""`make eval` as somebody types it: the real daemon, a baseline that is written, compared with and held."""

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


def evaluated(sets: Path, *arguments: str) -> Result:
    baseline = str(sets / "baseline.json")
    fixed = ["--sets", str(sets), "--mode", "lexical", "--baseline", baseline, "mine"]
    return CliRunner().invoke(main, [*fixed, *arguments])


def test_evaluation_is_compared_with_a_baseline_that_it_wrote(sets: Path) -> None:
    figures = sets / "figures.json"
    answers = sets / "answers.jsonl"
    first = evaluated(sets, "--save-baseline", "--json", str(figures), "--answers", str(answers))
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
    # the index is kept, and a question more is answered from it
    again = evaluated(sets, "--brief", "--strict")
    assert again.exit_code == 0, again.output
    assert "change" in again.stdout
    assert "identifier" not in again.stdout


def test_drop_of_two_questions_is_told_and_may_be_the_exit_code(sets: Path) -> None:
    (sets / "baseline.json").write_text(
        json.dumps({"mine": {"lexical": {"all": {"questions": 16, "recall_at_5": 1 + 2 / 16, "empty": 0}}}})
    )
    told = evaluated(sets, "--brief")
    assert (told.exit_code, "R@5 lost more than one question: mine, lexical" in told.stdout) == (0, True)
    assert evaluated(sets, "--brief", "--strict").exit_code == 1


def test_bad_set_is_refused_before_anything_is_asked(sets: Path) -> None:
    with (sets / "mine" / "queries.jsonl").open("a") as file:
        file.write('{"qid": "broken"\n')
    refused = evaluated(sets)
    assert refused.exit_code == 1
    assert "queries.jsonl:17: this is not a question" in refused.output
    unknown = evaluated(sets, "others")
    assert unknown.exit_code == 1
    assert "there is no set 'others'; there are: inflected, literals, mine, tiny-dev" in unknown.output


def test_questions_of_longmemeval_are_asked_by_the_path_of_its_file(sets: Path) -> None:
    file = sets / "longmemeval_s.json"
    file.write_text(json.dumps([row(), row("0a1b_abs")]))
    figures = sets / "figures.json"
    done = evaluated(sets, "--longmemeval", str(file), "--limit", "2", "--json", str(figures))
    assert done.exit_code == 0, done.output
    found = json.loads(figures.read_text())["longmemeval_s-2"]["lexical"]
    assert (found["all"]["questions"], found["strangers"]["questions"]) == (1, 1)
    assert (found["all"]["any_at_5"], found["all"]["recall_at_1"]) == (1, 1)
    assert "any@5" in done.stdout
