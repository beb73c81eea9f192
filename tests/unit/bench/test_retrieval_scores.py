"""The measures of the evaluation, compared with values calculated by hand."""

import math

import pytest

from bench.retrieval.figures import Answer, Judged, by_category, figures, judge
from bench.retrieval.scores import Focused, Shown, focused, mean, score
from bench.retrieval.sets import Evidence, Question
from memoryd.domain.ranking.golden import LineSpan

SIZES = {"a.md": [10] * 20, "b.md": [7] * 20}


def question(*evidence: Evidence, category: str = "fact", language: str = "en") -> Question:
    return Question("q", "w", "what?", category, language, evidence)


def evidence(*places: tuple[str, int, int], weight: float = 1.0) -> Evidence:
    return Evidence(weight, tuple(LineSpan(*place) for place in places))


def shown(path: str, start: int, end: int, focus: tuple[int, int] | None = None) -> Shown:
    return Shown(LineSpan(path, start, end), LineSpan(path, *(focus or (start, end))))


def hits_without_evidence(count: int) -> list[Shown]:
    """Return hits without evidence."""
    return [shown("b.md", 20, 20)] * count


@pytest.mark.parametrize(
    ("rank", "at_1", "at_5", "at_10", "mrr"),
    [(1, 1, 1, 1, 1), (2, 0, 1, 1, 1 / 2), (5, 0, 1, 1, 1 / 5), (6, 0, 0, 1, 1 / 6), (10, 0, 0, 1, 1 / 10)],
)
def test_recall_and_reciprocal_rank_follow_the_rank_of_the_answer(
    rank: int, at_1: float, at_5: float, at_10: float, mrr: float
) -> None:
    found = score(question(evidence(("a.md", 4, 4))), [*hits_without_evidence(rank - 1), shown("a.md", 3, 5)], SIZES)
    assert (found.recall_at_1, found.recall_at_5, found.recall_at_10) == (at_1, at_5, at_10)
    assert found.mrr_at_10 == pytest.approx(mrr)
    assert found.ndcg_at_10 == pytest.approx(1 / math.log2(1 + rank))


def test_evidence_after_ten_hits_or_missing_scores_zero() -> None:
    asked = question(evidence(("a.md", 4, 4)))
    for hits in ([*hits_without_evidence(10), shown("a.md", 4, 4)], hits_without_evidence(3), []):
        found = score(asked, hits, SIZES)
        assert (found.recall_at_10, found.mrr_at_10, found.ndcg_at_10) == (0, 0, 0)


@pytest.mark.parametrize(("start", "end", "has_evidence"), [(1, 3, 0), (1, 4, 1), (6, 9, 1), (7, 9, 0), (5, 5, 1)])
def test_hit_has_evidence_if_they_share_a_line(start: int, end: int, has_evidence: float) -> None:
    assert score(question(evidence(("a.md", 4, 6))), [shown("a.md", start, end)], SIZES).recall_at_1 == has_evidence


def test_lines_of_another_file_are_no_evidence() -> None:
    assert score(question(evidence(("a.md", 4, 6))), [shown("b.md", 4, 6)], SIZES).recall_at_10 == 0


def test_each_group_of_evidence_counts_with_any_of_its_places() -> None:
    asked = question(evidence(("a.md", 1, 1)), evidence(("a.md", 9, 9), ("b.md", 2, 2), weight=3))
    found = score(asked, [shown("a.md", 1, 2), *hits_without_evidence(1), shown("b.md", 1, 3)], SIZES)
    assert (found.recall_at_1, found.recall_at_5, found.mrr_at_10) == (0.5, 1, 1)
    # gain 1 at rank 1 and 3 at rank 3; at best 3 at rank 1 and 1 at rank 2
    assert found.ndcg_at_10 == pytest.approx((1 + 3 / 2) / (3 + 1 / math.log2(3)))


def test_one_hit_with_all_evidence_has_ndcg_one() -> None:
    asked = question(evidence(("a.md", 1, 1)), evidence(("a.md", 2, 2)))
    assert score(asked, [shown("a.md", 1, 2)], SIZES).ndcg_at_10 == 1


def test_characters_of_five_hits_count_each_line_once() -> None:
    hits = [shown("a.md", 1, 3), shown("a.md", 2, 5), *hits_without_evidence(3), shown("a.md", 10, 20)]
    # five lines of ten characters, one of seven; the sixth hit is not read, nor what lies beyond the end
    assert score(question(evidence(("a.md", 1, 1))), hits, SIZES).chars_at_5 == 57
    assert score(question(evidence(("a.md", 1, 1))), [shown("b.md", 19, 40)], SIZES).chars_at_5 == 14


@pytest.mark.parametrize(
    ("focus", "first", "in_three"), [([(3, 5)], 1, 1), ([(6, 8)], 0, 0), ([(6, 8), (1, 1), (4, 4)], 0, 1)]
)
def test_first_and_in_three_use_the_focus_and_not_the_chunk(
    focus: list[tuple[int, int]], first: float, in_three: float
) -> None:
    found = score(question(evidence(("a.md", 4, 4))), [shown("a.md", 1, 9, lines) for lines in focus], SIZES)
    assert (found.first, found.in_three, found.recall_at_1) == (first, in_three, 1)


def test_fourth_hit_is_not_in_three() -> None:
    assert (
        score(question(evidence(("a.md", 4, 4))), [*hits_without_evidence(3), shown("a.md", 4, 4)], SIZES).in_three == 0
    )


def test_recall_any_counts_each_document_once_whatever_the_line() -> None:
    asked = question(evidence(("a.md", 4, 4)), evidence(("b.md", 1, 1)))
    others = [shown(f"{name}.md", 1, 1) for name in "cdefghijk"]
    for before, any_at_5, any_at_10 in ((4, 1, 1), (5, 0, 1), (9, 0, 1)):
        # two hits of each document are one document
        hits = [hit for other in others[:before] for hit in (other, other)]
        found = score(asked, [*hits, shown("a.md", 9, 9)], {hit.chunk.path: [1] for hit in hits} | SIZES)
        assert (found.any_at_5, found.any_at_10, found.recall_at_10) == (any_at_5, any_at_10, 0)


def test_coverage_is_the_share_of_evidence_hits_with_it_in_focus() -> None:
    asked = question(evidence(("a.md", 4, 4)), evidence(("a.md", 15, 15), ("b.md", 2, 2)))
    hits = [
        shown("a.md", 1, 9, (3, 6)),  # covered, four lines
        shown("b.md", 1, 9, (8, 9)),  # not covered, two lines
        *hits_without_evidence(1),  # no evidence: does not count
        shown("a.md", 3, 16, (15, 15)),  # two pieces of evidence, one of them covered: one line
        *hits_without_evidence(6),
        shown("a.md", 4, 4),  # the eleventh does not count
    ]
    found = focused(asked, hits)
    assert found == Focused(hits=3, covered=2, lines=7)
    assert found.coverage == pytest.approx(2 / 3)
    assert found.mean_lines == pytest.approx(7 / 3)


def test_focus_outside_its_chunk_is_not_counted() -> None:
    asked = question(evidence(("a.md", 4, 4)))
    assert focused(asked, [shown("a.md", 5, 9, (1, 9))]) == Focused()
    assert (Focused().coverage, Focused().mean_lines) == (None, None)


def test_mean_is_taken_of_each_measure() -> None:
    asked = question(evidence(("a.md", 4, 4)))
    both = mean(
        [
            score(asked, [shown("a.md", 4, 4)], SIZES),
            score(asked, [*hits_without_evidence(1), shown("a.md", 4, 5)], SIZES),
        ]
    )
    assert (both.recall_at_1, both.recall_at_5, both.mrr_at_10, both.chars_at_5) == (0.5, 1, 0.75, (10 + 27) / 2)


def answered(verdict: str, *hits: Shown, category: str = "fact", language: str = "en") -> Judged:
    asked = question(evidence(("a.md", 4, 4)), category=category, language=language)
    return judge(asked, Answer(hits, verdict), SIZES)


def stranger(verdict: str, *hits: Shown, language: str = "en") -> Judged:
    return judge(question(category="other", language=language), Answer(hits, verdict), SIZES)


def test_verdicts_and_empty_answers_are_counted() -> None:
    found = figures(
        [answered("answerable", shown("a.md", 4, 4)), answered("weak", *hits_without_evidence(1)), answered("none")]
    )
    assert (found.questions, found.verdicts, found.empty) == (3, {"answerable": 1, "weak": 1, "none": 1}, 1)
    assert found.measures()["recall_at_5"] == pytest.approx(1 / 3, abs=1e-4)
    assert (found.measures()["focus_coverage"], found.measures()["focus_lines"]) == (1, 1)


def test_strangers_have_verdicts_but_no_scores() -> None:
    rows = [answered("weak", shown("a.md", 4, 4)), stranger("answerable", *hits_without_evidence(2)), stranger("none")]
    found = by_category(rows)
    assert set(found) == {"all", "fact", "strangers"}
    assert (found["all"].questions, found["all"].measures()["recall_at_1"]) == (1, 1)
    assert found["strangers"].measures() == {"questions": 2, "answerable": 1, "weak": 0, "none": 1, "empty": 1}


def test_category_in_two_languages_has_figures_for_each() -> None:
    rows = [answered("weak", language="en"), answered("weak", language="zh"), answered("weak", category="when")]
    rows += [stranger("none", language="en"), stranger("none", language="zh")]
    assert set(by_category(rows)) == {
        *("all", "fact en", "fact zh", "when"),
        *("strangers", "strangers en", "strangers zh"),
    }


def test_set_of_strangers_alone_has_no_row_for_the_others() -> None:
    assert set(by_category([stranger("none")])) == {"strangers"}
