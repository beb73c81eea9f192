"""Checking of citations: the cited line is verified, moved, edited or gone."""

import pytest

from memoryd.domain.documents import parse
from memoryd.domain.memories.book import Book, CitedState, book_of, check_citation, cite
from tests.unit.domain.memories.books import source_of

LOG = "memory/2025-11-27.md"


def book(*lines: tuple[str, int, str]) -> Book:
    return book_of(source_of(*line) for line in lines)


CITED = cite(source_of(LOG, 12, "W @Peter: in Marrakech"))


def test_citation_with_id_round_trips() -> None:
    assert parse(str(CITED)) == CITED
    assert str(CITED).startswith(f"{LOG}#L12@")


@pytest.mark.parametrize(
    ("lines", "total", "state"),
    [
        ([(LOG, 12, "W @Peter: in Marrakech"), (LOG, 13, "B: slept")], 20, CitedState.VERIFIED),
        ([(LOG, 15, "W @Peter: in Marrakech"), (LOG, 12, "B: slept")], 20, CitedState.MOVED),
        ([("memory/2025-11-28.md", 3, "W @Peter: in  Marrakech")], None, CitedState.MOVED),
        ([(LOG, 12, "W @Peter: in Fes")], 20, CitedState.EDITED),
        ([], 20, CitedState.EDITED),
        ([(LOG, 2, "B: slept")], 5, CitedState.GONE),
        ([], None, CitedState.GONE),
    ],
)
def test_cited_line_has_state(lines: list[tuple[str, int, str]], total: int | None, state: CitedState) -> None:
    assert check_citation(book(*lines), CITED, total).state is state


def test_moved_memory_has_new_place_preferring_same_note() -> None:
    now = book((LOG, 40, "W @Peter: in Marrakech"), ("memory/2025-11-20.md", 12, "W @Peter: in Marrakech"))

    assert str(check_citation(now, CITED, 50).now).startswith(f"{LOG}#L40@")


def test_citation_without_id_has_a_note() -> None:
    found = check_citation(book((LOG, 12, "W @Peter: in Fes")), parse(f"{LOG}#L12"), 20)

    assert (found.state, bool(found.note)) == (CitedState.VERIFIED, True)
    assert check_citation(book(), parse(f"{LOG}#L30"), 20).state is CitedState.GONE
