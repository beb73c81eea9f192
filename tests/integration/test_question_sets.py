"""Question sets on disk, valid and invalid ones; and the baseline beside them."""

import json
from pathlib import Path

import click
import pytest

from bench.retrieval.__main__ import OWN_SETS
from bench.retrieval.asking import MODES
from bench.retrieval.baseline import BASELINE, Baseline, differences, has_dropped, load, save
from bench.retrieval.figures import Answer, by_category, judge
from bench.retrieval.homes import kept_home
from bench.retrieval.scores import Shown
from bench.retrieval.sets import BadQuestionSet, QuestionSet, question_sets
from memoryd.domain.ranking.golden import LineSpan

GOLD = {"id": "g", "any": [{"path": "memory/a.md", "start_line": 2, "end_line": 3}]}
ROW: dict[str, object] = {"qid": "q1", "workspace": "all", "question": "Who?", "category": "who", "gold": [GOLD]}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    memory = tmp_path / "sets" / "small" / "ws" / "all" / "memory"
    memory.mkdir(parents=True)
    (memory / "a.md").write_text("# A\none\ntwo\n木屋\n")
    return tmp_path / "sets"


def written(folder: Path, *rows: object) -> QuestionSet:
    text = "\n".join(row if isinstance(row, str) else json.dumps(row) for row in rows)
    (folder / "small" / "queries.jsonl").write_text(text + "\n")
    return QuestionSet("small", folder / "small")


def place(path: str, start: object, end: object) -> dict[str, object]:
    return ROW | {"gold": [{"id": "g", "any": [{"path": path, "start_line": start, "end_line": end}]}]}


def test_set_is_read_with_strangers(folder: Path) -> None:
    questions = written(folder, ROW, "", ROW | {"qid": "q2", "gold": [], "lang": "en"})
    assert [question.id for question in questions.questions] == ["q1", "q2"]
    assert [question.is_stranger for question in questions.questions] == [False, True]
    assert questions.questions[0].evidence[0].places == (LineSpan("memory/a.md", 2, 3),)
    assert questions.workspaces == ("all",)
    assert questions.sizes("all") == {"memory/a.md": [4, 4, 4, 3, 1]}


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("{not json", "2: this is not a question"),
        ("[1, 2]", "2: this is not a question"),
        ({key: value for key, value in ROW.items() if key != "gold"}, "2: 'gold' is missing"),
        (ROW | {"gold": None}, "2: this is not a question: `gold` must be a list"),
        (ROW | {"gold": ["memory/a.md"]}, "2: this is not a question"),
        (ROW | {"gold": [{"id": "g"}]}, "2: 'any' is missing"),
        (ROW | {"workspace": "others"}, "2: there is no workspace 'others'"),
        (place("memory/b.md", 1, 1), "2: there are no lines 1 to 1 in 'memory/b.md'"),
        (place("memory/a.md", 5, 9), "2: there are no lines 5 to 9"),
        (place("memory/a.md", 0, 1), "2: there are no lines 0 to 1"),
        (place("memory/a.md", 3, 2), "2: there are no lines 3 to 2"),
        (place("memory/a.md", "one", 2), "2: this is not a question"),
        (place("memory/a.md", None, 2), "2: this is not a question"),
    ],
)
def test_invalid_line_is_named_by_its_number(folder: Path, row: object, message: str) -> None:
    with pytest.raises(BadQuestionSet, match=r"queries\.jsonl:") as caught:
        _ = written(folder, ROW, row).questions
    assert message in str(caught.value)


def test_unreadable_set_is_reported(folder: Path) -> None:
    with pytest.raises(BadQuestionSet, match="there are no questions"):
        _ = written(folder, "").questions
    (folder / "small" / "queries.jsonl").write_bytes(b"\xff\xfe\n")
    with pytest.raises(BadQuestionSet, match="cannot be read"):
        _ = QuestionSet("small", folder / "small").questions
    (folder / "small" / "ws" / "all" / "memory" / "a.md").write_bytes(b"\xff\xfe\n")
    with pytest.raises(BadQuestionSet, match="a note cannot be read"):
        _ = written(folder, ROW).questions


def test_sets_are_found_by_name(folder: Path, tmp_path: Path) -> None:
    written(folder, ROW)
    (folder / "notes.txt").write_text("no set")
    assert [found.name for found in question_sets([folder], [])] == ["small"]
    assert [found.name for found in question_sets([folder], ["small"])] == ["small"]
    with pytest.raises(BadQuestionSet, match="there is no set 'smal'; there are: small"):
        list(question_sets([folder], ["smal"]))
    with pytest.raises(BadQuestionSet, match="there is no folder of question sets"):
        list(question_sets([folder, tmp_path / "nowhere"], []))
    other = tmp_path / "more" / "small"
    other.mkdir(parents=True)
    (other / "queries.jsonl").write_text("")
    assert [found.folder for found in question_sets([folder, other.parent], [])] == [other]


def test_baseline_keeps_figures_not_measured_again(folder: Path, tmp_path: Path) -> None:
    questions = written(folder, ROW, ROW | {"gold": []})
    answer = Answer((Shown(LineSpan("memory/a.md", 1, 3), LineSpan("memory/a.md", 2, 2)),), "weak")
    found = by_category([judge(question, answer, questions.sizes("all")) for question in questions.questions])
    path = tmp_path / "baseline.json"
    save(path, load(path), {"small": {"lexical": found}})
    save(path, load(path), {"small": {"hybrid": found}, "other": {"lexical": found}})
    kept = load(path)
    assert kept.of("small", "lexical", "all") == kept.of("small", "hybrid", "all") == found["all"].measures()
    assert kept.of("other", "lexical", "strangers") == found["strangers"].measures()
    # categories come from foreign data: only figures of the whole set are kept
    assert {group for modes in kept.measures.values() for rows in modes.values() for group in rows} == {
        "all",
        "strangers",
    }
    assert kept.of("small", "vector", "all") == {}


@pytest.mark.parametrize("name", ["literals", "tiny-dev"])
def test_baseline_matches_our_sets(name: str) -> None:
    questions = QuestionSet(name, OWN_SETS / name).questions
    kept = load(BASELINE)
    for mode in MODES:
        counts = [kept.of(name, mode, group).get("questions", 0) for group in ("all", "strangers")]
        strangers = sum(question.is_stranger for question in questions)
        assert counts == [len(questions) - strangers, strangers]


@pytest.mark.parametrize("text", ["{", "[]", '{"small": 1}', '{"small": {"lexical": {"all": {"first": "x"}}}}'])
def test_invalid_baseline_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "baseline.json"
    path.write_text(text)
    with pytest.raises(click.ClickException, match="this is no baseline"):
        load(path)


@pytest.mark.parametrize(
    ("now", "dropped"), [(0.90, False), (0.81, False), (0.80, False), (0.7999, False), (0.79, True), (0.70, True)]
)
def test_two_questions_less_are_a_drop(now: float, dropped: bool) -> None:
    assert has_dropped({"recall_at_5": 0.9}, {"recall_at_5": now, "questions": 10}) is dropped


def test_figures_of_only_one_run_have_no_difference() -> None:
    assert differences({"first": 0.5, "empty": 3}, {"first": 0.75, "weak": 1}) == {"first": 0.25}
    assert not has_dropped({}, {"recall_at_5": 0.1, "questions": 4})
    assert Baseline({}).of("small", "hybrid", "all") == {}


def test_home_is_kept_locked_and_discarded(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    model = "model.gguf"
    with kept_home(folder / "small", model, fresh=False) as home:
        assert not home.is_stale
        (home.folder / "state").mkdir()
        (home.folder / "state" / "index").write_text("rows")
        with (
            pytest.raises(click.ClickException, match="another evaluation"),
            kept_home(folder / "small", model, fresh=False),
        ):
            pass
    with kept_home(folder / "small", model, fresh=False) as home:
        assert home.is_stale, "it is not recorded which code read the notes"
        home.note_read()
    with kept_home(folder / "small", model, fresh=False) as home:
        assert not home.is_stale
        assert (home.folder / "state" / "index").exists()
    with kept_home(folder / "small", model, fresh=True) as home:
        assert not (home.folder / "state").exists()


def test_home_of_another_checkout_is_reused(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    with kept_home(folder / "small", "model.gguf", fresh=False) as home:
        (home.folder / "state").mkdir()
        (home.folder / "state" / "index").write_text("rows")
        home.note_read()
    home.folder.rename(home.folder.with_name("elsewhere"))
    with kept_home(folder / "small", "model.gguf", fresh=False) as home:
        assert (home.folder / "state" / "index").read_text() == "rows"
        assert home.is_stale
    with kept_home(folder / "small", "other.gguf", fresh=False) as home:
        assert not (home.folder / "state").exists()
