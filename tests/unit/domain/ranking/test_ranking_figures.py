"""Scores of a ranking, calculated by hand, and comparison of two rankings."""

from memoryd.domain.ranking.golden import LineSpan, QuestionResult, changes, first_rank, scores

HITS = [LineSpan("a.md", 1, 4), LineSpan("b.md", 5, 9), LineSpan("a.md", 5, 6)]


def test_rank_is_that_of_first_hit_with_a_line_of_any_place() -> None:
    assert first_rank(HITS, [LineSpan("b.md", 9, 12)]) == 2
    assert first_rank(HITS, [LineSpan("a.md", 6, 6), LineSpan("b.md", 1, 5)]) == 2
    assert first_rank(HITS, [LineSpan("b.md", 10, 12)]) is None
    assert first_rank(HITS, []) is None


def test_scores_are_means_over_questions_with_an_answer() -> None:
    found = scores(
        [
            QuestionResult(1, "answerable"),
            QuestionResult(4, "weak"),
            QuestionResult(10, "none"),
            QuestionResult(None, "weak"),
            QuestionResult(None, "answerable", stranger=True),
        ]
    )
    assert (found.questions, found.recall_at1, found.recall_at5, found.verdict_accuracy) == (5, 0.25, 0.5, 0.6)
    assert found.mrr == (1 + 1 / 4 + 1 / 10) / 4
    strangers = scores([QuestionResult(None, "none", stranger=True)])
    assert (strangers.recall_at1, strangers.mrr, strangers.verdict_accuracy) == (None, None, 1.0)


def test_noticeable_changes_are_reported() -> None:
    before = {
        "better": QuestionResult(2, "weak"),
        "the same": QuestionResult(2, "weak"),
        "lost": QuestionResult(1, "answerable"),
        "given up": QuestionResult(1, "weak"),
        "stranger": QuestionResult(None, "none", stranger=True),
    }
    after = {
        "better": QuestionResult(1, "weak"),
        "the same": QuestionResult(5, "answerable"),
        "lost": QuestionResult(6, "answerable"),
        "given up": QuestionResult(1, "none"),
        "stranger": QuestionResult(3, "answerable", stranger=True),
        "new": QuestionResult(None, "none"),
    }
    found = [(change.question, change.is_worse) for change in changes(before, after)]
    assert found == [("lost", True), ("given up", True), ("stranger", True), ("better", False)]


def test_ranking_is_worse_with_lower_recall_or_accuracy() -> None:
    now = scores([QuestionResult(1, "weak"), QuestionResult(3, "weak")])
    assert not now.falls_below(now)
    assert scores([QuestionResult(2, "weak"), QuestionResult(3, "weak")]).falls_below(now)
    assert scores([QuestionResult(1, "weak"), QuestionResult(6, "weak")]).falls_below(now)
    assert scores([QuestionResult(1, "none"), QuestionResult(3, "weak")]).falls_below(now)
    assert not scores([QuestionResult(3, "weak"), QuestionResult(1, "weak")]).falls_below(now)
