"""Proposals of reflect, made from memories and logs by rules."""

from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from memoryd.domain.documents import RelativePath
from memoryd.domain.memories.abstracts import copies_across_scopes, near_copies
from memoryd.domain.memories.book import Book
from memoryd.domain.memories.changes.diffs import apply_diff
from memoryd.domain.memories.kinds import Kind
from memoryd.domain.memories.reflect.core import CoreFile, core_changes
from memoryd.domain.memories.reflect.pages import shared_memories
from memoryd.domain.memories.reflect.proposals import (
    ProposalKind,
    ProposalState,
    ProposedChange,
    contradiction_change,
    has_retain,
    inferred_lines,
    recurrences,
    recurring_names,
    retain_change,
    select_proposals,
    sentences_of,
)
from memoryd.domain.memories.sections import memory_sections
from memoryd.domain.memories.times.spans import is_due, last_due
from memoryd.domain.text.lines import encode_padded
from tests.unit.domain.memories.books import book_from

SINCE = date(2025, 11, 1)
CORE = "# Memory\n\n- The gate code is 1234.\n"


def book_of_day(*lines: str) -> Book:
    return book_from({"memory/2025-11-20.md": lines})


def changes_of(book: Book, text: str = CORE, room: int = 12_000) -> tuple[list[ProposedChange], int]:
    return core_changes(CoreFile(RelativePath("MEMORY.md"), text, room), shared_memories(book, {}), SINCE)


def proposed_core(book: Book, text: str = CORE, room: int = 12_000) -> list[str]:
    """Return the core file that each proposal would produce."""
    return [apply_diff(text, change.diff) or "" for change in changes_of(book, text, room)[0]]


def names_in(sentence: str) -> list[str]:
    return [name for name in ("Peter", "Graz", "王芳") if name in sentence]


@pytest.mark.parametrize(
    "line",
    [
        "- W(i=0.9) @Peter: Peter is allergic to nuts.",
        "- entity @Peter: Peter is allergic to nuts.",
        "- B(pin) @Peter: Peter is allergic to nuts.",
    ],
)
def test_durable_fact_is_proposed_as_one_line(line: str) -> None:
    assert proposed_core(book_of_day(line)) == [f"{CORE}- Peter is allergic to nuts.\n"]


@pytest.mark.parametrize(
    "line",
    [
        "- W @Peter: Peter has a dog.",
        "- B(i=0.9) @Peter: I called Peter.",
        "- W(i=0.9, scope=agent:a) @Peter: Peter earns 4000.",
        "- W(i=0.9): The gate code is 1234.",
    ],
)
def test_ordinary_private_or_known_fact_is_not_proposed(line: str) -> None:
    assert proposed_core(book_of_day(line)) == []


def test_fact_repeated_on_three_days_is_durable() -> None:
    days = {f"memory/2025-11-{day}.md": ["- W @Peter: Peter has a dog."] for day in (10, 11, 12)}
    assert proposed_core(book_from(days)) == [f"{CORE}- Peter has a dog.\n"]


def test_full_core_file_gets_no_proposal() -> None:
    book = book_of_day("- W(i=0.9) @Peter: Peter is allergic to nuts.")
    assert changes_of(book, CORE, len(CORE) + 10) == ([], 1)


def test_superseded_line_is_replaced() -> None:
    book = book_from(
        {
            "memory/2025-11-01.md": ["- W: The gate code is 1234."],
            "memory/2025-11-09.md": ["- W: The gate code is 4711."],
        }
    )
    assert proposed_core(book) == ["# Memory\n\n- The gate code is 4711.\n"]
    both = f"{CORE}- The gate code is 4711.\n"
    assert proposed_core(book, both) == ["# Memory\n\n- The gate code is 4711.\n"]


CODES = {
    "memory/2025-11-01.md": ["- W @Gate: The gate code is 1234."],
    "memory/2025-11-05.md": ["- W @Gate: The gate code is 2345."],
    "memory/2025-11-09.md": ["- W @Gate: The gate code is 4711."],
}


@pytest.mark.parametrize(
    "line",
    [
        "- **the gate code** is 1234",
        "- Gate: the gate code is `2345`!",
        "* The gate code is 1234.",
        "- GATE: The gate code is 1234",
    ],
)
def test_line_with_earlier_value_is_replaced_in_any_notation(line: str) -> None:
    assert proposed_core(book_from(CODES), f"# Memory\n\n{line}\n") == ["# Memory\n\n- The gate code is 4711.\n"]


@pytest.mark.parametrize(
    "line",
    [
        "- the gate code is 4711",
        "- the gate code is 9999",
        "- Shed: the gate code is 1234",
        "- The gate code is 1234, and the shed is open",
        "The gate code is 1234.",
    ],
)
def test_other_line_of_core_file_is_kept(line: str) -> None:
    assert proposed_core(book_from(CODES), f"# Memory\n\n{line}\n") == []


def test_ambiguous_line_is_kept() -> None:
    others = {path: [line.replace("@Gate", "@Shed") for line in lines] for path, lines in CODES.items()}
    both = book_from({path: [*CODES[path], *lines] for path, lines in others.items()})
    assert proposed_core(both, "- the **gate code** is 2345\n") == []
    assert proposed_core(both, "- Shed: the **gate code** is 2345\n") == ["- Shed: The gate code is 4711.\n"]


def test_repeated_earlier_value_is_current() -> None:
    again = {**CODES, "memory/2025-11-12.md": ["- W @Gate: the gate code is 1234."]}
    assert proposed_core(book_from(again), "- The **gate code** is 1234\n") == []


def test_only_experiences_recur() -> None:
    def noted(kind: str) -> Book:
        places = {"20": "kitchen", "21": "garden", "22": "cellar"}
        return book_from(
            {
                f"memory/2025-11-{day}.md": [f"- {kind} @Wren: The cable broke, {where}."]
                for day, where in places.items()
            }
        )

    assert recurrences(noted("W").memories.values(), SINCE) == ()
    assert [one.word for one in recurrences(noted("B").memories.values(), SINCE)] in (["cable"], ["broke"])


def test_retain_section_is_proposed_only_where_it_parses() -> None:
    lines = inferred_lines("Peter moved to a house at the river in Graz.\n", names_in)
    path = RelativePath("memory/2025-11-20.md")
    plain = retain_change(path, lines, "# Day\n\nPeter.\n")
    assert plain is not None
    edited = apply_diff("# Day\n\nPeter.\n", plain.diff)
    assert edited == "# Day\n\nPeter.\n\n## Retain\n- W @Peter @Graz: Peter moved to a house at the river in Graz.\n"
    for text in ("# Day\n\n```\nopen\n", "a\n<!-- memoryd:begin -->\n", "---\nx: 1\n---\n~~~\n"):
        change = retain_change(path, lines, text)
        result = apply_diff(text, change.diff) if change else None
        assert result is None or [one.line for one in memory_sections(encode_padded(result), path).lines] == list(lines)


def test_contradiction_changes_line_of_its_day() -> None:
    notes = {
        "memory/2025-11-17.md": ["- O @Mo: does not like long release notes"],
        "memory/2025-11-20.md": ["- O @Mo: does not like long release notes"],
    }
    book = book_from(notes)
    (evidence,) = book.memories.values()
    text = "\n\n- O @Mo: does not like long release notes\n"
    change = contradiction_change(evidence, evidence, date(2025, 11, 20), text)
    assert change is not None
    assert change.path == "memory/2025-11-20.md"


def test_decided_proposals_do_not_come_back() -> None:
    book = book_of_day("- W(i=0.9) @Peter: Peter is allergic to nuts.")
    first, moved = (changes_of(book, text)[0] for text in (CORE, f"{CORE}- more\n"))
    assert first[0].diff != moved[0].diff
    for state in ProposalState:
        chosen = select_proposals(moved, {first[0].id: state})
        assert bool(chosen) == (state is ProposalState.OUTDATED)
    assert first[0].kind is ProposalKind.CORE_IN


@pytest.mark.parametrize(
    ("sentence", "kind"),
    [
        ("Peter moved to a house at the river in Graz.", Kind.WORLD),
        ("I fixed the heating of Peter with a new valve.", Kind.EXPERIENCE),
        ("Peter prefers the night train to the aeroplane.", Kind.OPINION),
        ("王芳搬到了青石巷57号。", Kind.WORLD),
        ("王芳喜欢喝很淡的茶。", Kind.OPINION),
    ],
)
def test_plain_sentence_is_inferred_literally(sentence: str, kind: Kind) -> None:
    found = inferred_lines(f"# Day\n\nA quiet day. {sentence}\n", names_in)
    assert [(line.text, line.kind) for line in found] == [(sentence, kind)]


@pytest.mark.parametrize(
    "text",
    [
        "Maybe Peter moved to a house in Graz in 2024.",
        "If Peter moved to Graz, he would have a garden now.",
        "Has Peter moved to the house at the river in Graz?",
        "He moved with Peter to the house at the river.",
        "> Peter moved to a house at the river in Graz.",
        "```\nPeter moved to a house at the river in Graz.\n```",
        "# Peter moved to a house at the river in Graz.",
        "| Peter moved to a house | in Graz at the river |",
        "Somebody moved to a house at the river in Vienna.",
        "Peter has the password hunter2-hunter2-hunter2 for the server: password=hunter2hunter2hunter2",
        "王芳可能搬到了青石巷57号。",
        "Peter smiles.",
    ],
)
def test_doubtful_sentence_is_not_inferred(text: str) -> None:
    assert inferred_lines(f"# Day\n\n{text}\n", names_in) == ()


def test_at_most_five_unstated_lines_are_inferred_per_log() -> None:
    text = "\n\n".join(f"Peter moved the box number {number} to Graz." for number in range(20))
    found = inferred_lines(text, names_in)
    assert len(found) == 5
    assert not {line.id for line in inferred_lines(text, names_in, [found[0].id])} & {found[0].id}
    assert not inferred_lines(text, names_in, (), lambda _: True)


def test_retain_heading_is_recognised() -> None:
    assert has_retain("# Day\n\n## Retain\n")
    assert not has_retain("# Day\n\nWhat to retain\n")


def test_recurring_names_are_found() -> None:
    texts = ["Then we met Zora in town.", "I called Zora about Monday.", "We saw Ben on Monday."]
    assert recurring_names(texts) == {"Zora"}


@given(st.text(max_size=400))
@example("000000\r\u3400")
def test_inferred_lines_are_part_of_any_text(text: str) -> None:
    for line in inferred_lines(text, lambda _: ["X"]):
        # a memory ends its lines with plain line feeds
        assert line.text in " ".join(sentences_of(text)).replace("\r\n", "\n").replace("\r", "\n")


@pytest.mark.parametrize("sign", ["a", " ", ". ", "I ", "# ", "- ", "我们", "Peter ", "<!--", "[["])
def test_hostile_log_is_parsed_in_linear_time(sign: str) -> None:
    assert len(inferred_lines(sign * (100_000 // len(sign)), names_in)) <= 5


def torn_cable_on(*days: int) -> Book:
    words = ["was mended", "was replaced", "was found", "was sold", "is back", "is new", "broke"]
    return book_from({f"memory/2025-11-{day:02}.md": [f"- B @Wren: The torn cable {words[day % 7]}."] for day in days})


def test_recurrence_on_three_days_is_an_observation_with_ids() -> None:
    assert not recurrences(torn_cable_on(3, 4).memories.values(), SINCE)
    (found,) = recurrences(torn_cable_on(3, 4, 5).memories.values(), SINCE)
    assert (found.entity, len(found.memories)) == ("Wren", 3)
    assert all(one.id[:8] in found.line.text for one in found.memories)
    assert found.line.kind is Kind.OBSERVATION
    # the line stays until there are twice as many memories
    assert recurrences(torn_cable_on(3, 4, 5, 6).memories.values(), SINCE)[0].line == found.line
    assert len(recurrences(torn_cable_on(3, 4, 5, 6, 7, 8).memories.values(), SINCE)[0].memories) == 6


def test_recurrence_before_the_window_is_ignored() -> None:
    assert not recurrences(torn_cable_on(3, 4, 5).memories.values(), date(2025, 11, 6))


def test_near_copies_have_the_same_entities() -> None:
    said = "Anna told the whole long story about the old red boat on the lake in spring {}."
    book = book_from(
        {"memory/2025-11-03.md": [f"- B @Anna: {said.format(one)}" for one in (1, 2)] + [f"- B @Eva: {said.format(3)}"]}
    )
    assert len(near_copies(book.memories.values())) == 1


def test_copies_across_scopes_are_pairs() -> None:
    lines = ["- W @Anna: Anna has the key", "- W(scope=global) @Anna: Anna **has** the key"]
    book = book_from({"memory/2025-11-03.md": lines, "memory/2025-11-04.md": ["- W(scope=global) @Anna: nothing else"]})
    (pair,) = copies_across_scopes(book.memories.values())
    assert {one.line.attributes.scope for one in book.memories.values() if one.id in pair.values()} == {"", "global"}


VIENNA = ZoneInfo("Europe/Vienna")


def moment(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=VIENNA)


def test_time_of_day_is_due_once_after_a_long_sleep() -> None:
    at = time(3, 30)
    assert is_due(None, moment("2026-11-22T09:00"), at, VIENNA)
    assert is_due(moment("2026-11-15T03:30"), moment("2026-11-22T09:00"), at, VIENNA)
    assert not is_due(moment("2026-11-22T09:00"), moment("2026-11-23T03:29"), at, VIENNA)
    assert is_due(moment("2026-11-22T09:00"), moment("2026-11-23T03:30"), at, VIENNA)


def test_skipped_or_repeated_local_time_is_due_once() -> None:
    at = time(2, 30)
    assert last_due(moment("2026-03-29T12:00"), at, VIENNA) == moment("2026-03-29T03:30")
    first = datetime(2026, 10, 25, 0, 30, tzinfo=UTC)
    assert last_due(moment("2026-10-25T12:00"), at, VIENNA) == first
    assert not is_due(first, first + timedelta(hours=1), at, VIENNA)


@given(
    st.datetimes(datetime.fromisoformat("2025-01-01"), datetime.fromisoformat("2027-01-01")),
    st.times(),
    st.sampled_from(["UTC", "Europe/Vienna", "Asia/Kolkata"]),
)
def test_last_due_lies_within_the_last_day(now: datetime, at: time, zone: str) -> None:
    here = now.replace(tzinfo=ZoneInfo("UTC"))
    due = last_due(here, at.replace(second=0, microsecond=0), ZoneInfo(zone))
    assert timedelta(0) <= here - due <= timedelta(hours=25)
