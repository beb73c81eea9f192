"""Passages of documents among what is recalled: those that are no memories, told as search tells them."""

from collections.abc import Sequence
from datetime import date

from memoryd.domain.memories.recall_filters import AskedFor
from memoryd.domain.memories.recall_order import SPAN_LIFT, Lifts, Placed, verdict_of
from memoryd.domain.memories.times.spans import DaySpan
from memoryd.domain.ranking.calibration import Verdict
from memoryd.domain.ranking.filters import date_in_name
from memoryd.memory.recall.recalled import RecalledPassage
from memoryd.search.hits import Hit


def placed_passage(hit: Hit, asking: AskedFor) -> RecalledPassage:
    """Return a passage with what it is worth; the day of its document may lift it."""
    day = date_in_name(hit.chunk.path)
    lifts = {Lifts.TEMPORAL: SPAN_LIFT} if _is_inside(day, asking.span) else {}
    verdict = hit.verdict or Verdict.WEAK
    return RecalledPassage(
        hit,
        Placed(
            base_score=hit.score,
            lifts=lifts,
            verdict=verdict_of(verdict, lifts, asking),
            is_noise=hit.is_noise,
            day=day,
        ),
    )


def says_something(hit: Hit) -> bool:
    """Tell whether a passage has more than headings: of a page that reflect wrote they alone are text."""
    return any(line.strip() and not line.lstrip().startswith("#") for line in hit.chunk.text.split("\n"))


def is_on(hit: Hit, places: Sequence[tuple[str, int, int]]) -> bool:
    """Tell whether what answers best of a passage lies on one of these lines (path, first, last) of memories."""
    focus = hit.snippet.focus
    first = focus.lines.start_line if focus else hit.chunk.start_line
    last = focus.lines.end_line if focus else hit.chunk.end_line
    return any(path == hit.chunk.path and first <= end and start <= last for path, start, end in places)


def _is_inside(day: date | None, span: DaySpan | None) -> bool:
    return day is not None and span is not None and span.first <= day <= span.last
