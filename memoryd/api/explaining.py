"""How an answer came about, as the API tells it."""

from memoryd.api.search_models import (
    FloorsExplanation,
    FocusExplanation,
    HitExplanation,
    LinesReply,
    QuestionExplanation,
    SearchExplanation,
)
from memoryd.domain.ranking.calibration import Floors
from memoryd.domain.ranking.fusion import standout
from memoryd.domain.ranking.questions import Question
from memoryd.search.answer import Answer
from memoryd.search.hits import Hit, HitFocus, HitLines, citation_of

DIGITS = 4


def hit_explanation(hit: Hit, floors: Floors | None) -> HitExplanation:
    """Tell where a hit stood in each arm and what moved it, and what its evidence was held against."""
    rise = None if hit.cosine is None or floors is None else standout(hit.cosine, floors.noise)
    return HitExplanation(
        base_score=round(hit.base_score, DIGITS),
        merged_rank=hit.ranks.merged,
        rerank_rank=hit.ranks.reading,
        rerank_score=_rounded(hit.relevance),
        words_rank=hit.ranks.words,
        bm25=_rounded(hit.bm25),
        vector_rank=hit.ranks.vector,
        cosine=_rounded(hit.cosine),
        standout=_rounded(rise),
        terms=list(hit.terms),
        decay=round(hit.decay.factor, DIGITS),
        age_days=hit.decay.age_days,
        copies=[str(citation_of(copy)) for copy in hit.copies],
        focus=None if hit.snippet.focus is None else _focus(hit.snippet.focus),
        because=hit.because,
    )


def _focus(focus: HitFocus) -> FocusExplanation:
    return FocusExplanation(terms=list(focus.terms), passage=None if focus.near is None else lines_reply(focus.near))


def lines_reply(lines: HitLines) -> LinesReply:
    return LinesReply(start_line=lines.start_line, end_line=lines.end_line)


def answer_explanation(answer: Answer) -> SearchExplanation:
    """Tell how the question was understood and what the evidence was held against."""
    notes, conversations = answer.floors, answer.conversation_floors
    return SearchExplanation(
        question=_question(answer.question),
        floors=None if notes is None else floors_explanation(notes),
        conversation_floors=None if conversations is None else floors_explanation(conversations),
    )


def _question(question: Question) -> QuestionExplanation:
    filters = question.filters
    return QuestionExplanation(
        terms=list(question.terms),
        phrases=list(question.phrases),
        excluded=list(question.excluded),
        paths=[*filters.paths, *(path for group in filters.within for path in group)],
        sources=[source for source in filters.sources if source],
        since=filters.since,
        until=filters.until,
    )


def floors_explanation(floors: Floors) -> FloorsExplanation:
    """Tell what evidence was held against."""
    has_vectors = floors.deviations is not None
    return FloorsExplanation(
        share=round(floors.share, DIGITS),
        weights={term: round(weight, DIGITS) for term, weight in floors.idf.weights.items()},
        deviations=_rounded(floors.deviations),
        vector_floor=_rounded(floors.vector_floor) if has_vectors else None,
        clear_floor=_rounded(floors.clear_floor) if has_vectors else None,
        noise_mean=_rounded(floors.noise.mean) if has_vectors else None,
        noise_deviation=_rounded(floors.noise.deviation) if has_vectors else None,
        vectors=floors.vectors,
    )


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, DIGITS)
