"""Newer versions of a fact: what counts as one, what is another fact, and chains and circles of them."""

from collections.abc import Iterable
from datetime import date, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoryd.domain.memories.book import Memory, MemorySource, book_of
from memoryd.domain.memories.facts.values import fact_skeleton, rough_words
from memoryd.domain.memories.kinds import Kind, MemoryId, short_id
from memoryd.domain.memories.line import Attributes, Provenance, RetainedLine
from memoryd.domain.memories.versions import Disagreement, Doubt, KnownVersions, Older
from memoryd.domain.text.sanitizing import Flag
from tests.package_trees import ROOT

SIMILARITY = Path(ROOT).parent / "tests" / "data" / "similarity"
DAY = date(2025, 11, 1)


def superseded(memories: Iterable[Memory]) -> Older:
    return KnownVersions().of({memory.id: memory for memory in memories}).older


def told(
    text: str,
    days: int = 0,
    row: int = 1,
    *,
    path: str = "",
    kind: Kind = Kind.WORLD,
    entities: tuple[str, ...] = (),
    standing: tuple[Flag, ...] = (),
    **keys: object,
) -> Memory:
    line = RetainedLine(kind, text, entities, Attributes(**keys))  # type: ignore[arg-type]  # a test's own words
    day = DAY + timedelta(days=days)
    source = MemorySource(path or f"memory/{day}.md", row, row, line, day, None, 1, standing)
    return Memory(line.id, (source,))


def doubts(*memories: Memory) -> list[Doubt]:
    """Return why memories disagree, none of which supersedes another."""
    known = KnownVersions().of({one.id: one for one in memories})
    assert known.older == {}
    return [one.doubt for one in known.disagreements]


def is_version(old: Memory, new: Memory) -> bool:
    found = superseded([new, old])
    assert found == superseded([old, new])
    return found == {new.id: (old.id,)}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("The door code is 4711", "The door code is 8832."),
        ("门锁密码是 4711", "门锁密码是 8832"),
        ("The Wi-Fi password is abc123", "The Wi-Fi password is Xyz-9"),
        ("Takes 10 mg of it every day", "Takes 20 mg of it every day"),
        ("每天吃 10 mg", "每天吃 20 mg"),
        ("每晚服用阿司匹林100mg", "每晚服用阿司匹林75mg"),
        ("Wi-Fi密码是sunny2024", "Wi-Fi密码是rainy88"),
        ("预算五万", "预算八万"),
        ("Phone: +49 30 123456", "Phone: +49 30 654321"),
        ("Wants to move to Lisbon in May.", "Wants to move to Lisbon in September."),
        ("例会改到每周三下午两点", "例会改到每周五上午十点"),
        ("Is vegetarian", "Isn't vegetarian any more"),
        ("外婆每晚吃三片药", "外婆每晚吃四片药"),
        ("房租涨到４５００元", "房租涨到5400元"),
        ("Lives at 14 Elm Lane", "Lives at 22 Elm Lane"),
        ("住在人民路8号", "住在人民路18号"),
        ("The dentist is on Nov 27", "The dentist is on December 3"),
        ("The review is on Friday at 10:00", "The review is on Monday at 9:00"),
        ("体检改到周三下午三点", "体检改到周五上午九点"),
        ("The wedding is in June", "The wedding is in July"),
        ("Likes coriander", "Does not like coriander"),
        ("She works at the mill", "She no longer works at the mill"),
        ("Doesn't carry a phone", "carries a phone"),
        ("喜欢香菜", "不喜欢香菜"),
    ],
)
def test_one_value_changed(old: str, new: str) -> None:
    assert is_version(told(old), told(new, 3))
    assert rough_words(old) == rough_words(new)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Room 101 is locked", "Room 102 is locked"),
        ("3号会议室有投影仪", "4号会议室有投影仪"),
        ("Takes 10 mg and 5 ml", "Takes 20 mg and 7 ml"),
        ("The dose is 5 mg", "The dose is 5 µg"),
        ("Call if fever > 39", "Call if fever < 39"),
        ("Anna signs for the shop", "Anne signs for the shop"),
        ("April signs for the shop", "June signs for the shop"),
        ("The first train leaves without us", "The second train leaves without us"),
    ],
)
def test_other_differences_are_other_facts(old: str, new: str) -> None:
    assert superseded([told(old), told(new, 3)]) == {}


@pytest.mark.parametrize("name", ["facts_en.tsv", "facts_zh.tsv"])
def test_no_name_unit_or_quantifier_is_a_value(name: str) -> None:
    rows = [line.split("\t")[:3] for line in (SIMILARITY / name).read_text(encoding="utf-8").splitlines()]
    kept_apart = {"name", "unit", "quantifier", "modality", "emoji"}
    pairs = [(old, new) for kind, old, new in rows if kind in kept_apart]
    assert len(pairs) > 25
    skeletons = ((fact_skeleton(old), fact_skeleton(new)) for old, new in pairs)
    alike = [(one, other) for one, other in skeletons if one and other and one.words == other.words]
    assert [one for one, other in alike if sum(map(str.__ne__, one.values, other.values)) == 1] == []


@given(st.sampled_from(["facts_en.tsv", "facts_zh.tsv"]), st.data())
def test_rough_words_agree_where_skeletons_do(name: str, data: st.DataObject) -> None:
    rows = [line.split("\t")[1:3] for line in (SIMILARITY / name).read_text(encoding="utf-8").splitlines()]
    old, new = data.draw(st.sampled_from(rows))
    first, second = fact_skeleton(old), fact_skeleton(new)
    if first is None or second is None:
        return
    assert first.words != second.words or rough_words(old) == rough_words(new)


def test_what_has_no_versions() -> None:
    old, new = "The round is 5 km", "The round is 8 km"
    for kind in (Kind.EXPERIENCE, Kind.OBSERVATION, Kind.LESSON, Kind.SUMMARY):
        assert superseded([told(old, kind=kind), told(new, 3, kind=kind)]) == {}
    assert superseded([told(old), told(new, 3, at="2025-11-04")]) == {}
    assert superseded([told(old, entities=("Anna",)), told(new, 3, entities=("Peter",))]) == {}
    assert superseded([told(old), told(new, 3, kind=Kind.PREFERENCE)]) == {}
    assert is_version(told(old), told(new, 3, kind=Kind.FACT)), "of one network"
    assert superseded([told(old), told(new, 3, scope="agent:main")]) == {}
    assert is_version(told(old, kind=Kind.PREFERENCE), told(new, 3, kind=Kind.PREFERENCE))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Sensor 3 is broken", "Sensor 4 is broken"),
        ("Camera 1 was offline", "Camera 2 was offline"),
        ("Highway 66 is closed", "Highway 67 is closed"),
        ("Extension 12 belongs to Anna", "Extension 13 belongs to Anna"),
        ("10.0.0.1 is the gateway", "10.0.0.2 is the gateway"),
        ("The host 10.0.0.1 is a printer", "The host 10.0.0.2 is a printer"),
        ("5 is a prime", "7 is a prime"),
        ("Pin 5 goes to ground", "Pin 6 goes to ground"),
        ("The flight on December 3 is booked", "The flight on December 10 is booked"),
        ("Paid 30 euros to the plumber", "Paid 45 euros to the plumber"),
        ("Won the race in 2019", "Won the race in 2021"),
        ("Has a child born in 2015", "Has a child born in 2018"),
        ("房间101是会议室", "房间102是会议室"),
        ("付了三十元给水管工", "付了四十五元给水管工"),
        ("On 3 May Peter slept badly.", "On 4 May Peter slept badly."),
        ("The build failed on 3 May", "The build failed on 4 May"),
        ("The server restarted at 9:00", "The server restarted at 11:00"),
        ("The workshop moved to 12 Elm Street", "The workshop moved to 7 Elm Street"),
        ("小宝5月3日发烧了", "小宝5月4日发烧了"),
    ],
)
def test_numbers_of_things_and_what_happened_have_no_versions(old: str, new: str) -> None:
    assert superseded([told(old), told(new, 3)]) == {}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("The gateway is 10.0.0.1", "The gateway is 10.0.0.2"),
        ("The dose of Mochi is 5 mg", "The dose of Mochi is 2.5 mg"),
        ("The stall charges 3 euros a cup", "The stall charges 4 euros a cup"),
        ("The stand-up is on Monday", "The stand-up is on Thursday"),
        ("The PIN 4711 opens it", "The PIN 8832 opens it"),
        ("The workshop has moved to 12 Elm Street", "The workshop has moved to 7 Elm Street"),
        ("每天吃 10 毫克", "每天吃 20 毫克"),
        ("The oven needs fifty minutes to heat up", "The oven now needs thirty-five minutes to heat up"),
        ("The rent is 900 euros", "Currently the rent is 950 euros"),
        ("门锁密码是 4711", "现在门锁密码是 8832"),
        ("门锁密码是 4711", "门锁密码是 8832"),
    ],
)
def test_values_behind_the_verb_have_versions(old: str, new: str) -> None:
    assert is_version(told(old), told(new, 3))


def test_chain_leads_from_the_newest_to_the_oldest() -> None:
    first, second, third = (told(f"The rent is {900 + days} euros", days) for days in (0, 5, 9))
    assert superseded([second, third, first]) == {third.id: (second.id,), second.id: (first.id,)}


def test_value_that_was_told_twice_is_superseded_twice() -> None:
    first, again, new = told("The code is 1"), told("the code is 1!", 2), told("The code is 2", 5)
    assert superseded([first, again, new]) == {new.id: (again.id, first.id)}
    newest = told("the code is 2.", 7)
    assert superseded([first, newest, again, new]) == {new.id: (again.id, first.id)}


def test_of_one_day_the_line_below_is_current() -> None:
    first, one, other = told("The code is 1"), told("The code is 2", 2, 4), told("The code is 3", 2, 9)
    assert superseded([first, one, other]) == {one.id: (first.id,), other.id: (one.id,)}
    assert is_version(told("The lab parcels go with Citysprint", 0, 2), told("The lab parcels go with Yodel", 0, 3))


def test_day_that_tells_many_values_tells_a_table() -> None:
    lines = [told(f"The lunch is at {hour}", 3, hour) for hour in (11, 12, 13)]
    assert superseded(lines) == {}
    first = told("The lunch is at 10")
    assert superseded([first, *lines]) == {one.id: (first.id,) for one in lines[:1]}


def test_habits_of_one_day_may_both_be_so() -> None:
    one, other = told("Callum works on Saturdays", 0, 2), told("Callum works on Sundays", 0, 3)
    assert doubts(one, other) == [Doubt.UNSURE]
    assert is_version(one, told("Callum works on Sundays", 1))


def test_order_within_a_page_without_a_date_is_not_known() -> None:
    page = "bank/world.md"
    one, other = told("The printer is a Brother", 0, 2, path=page), told("The printer is an HP", 0, 3, path=page)
    assert doubts(one, other) == [Doubt.UNSURE]


def test_explicit_words_hold_for_any_two_lines() -> None:
    old = told("Ran to the lake", kind=Kind.EXPERIENCE)
    new = told("Lives by the sea", supersedes=(short_id(old.id),))
    assert superseded([old, new]) == {new.id: (old.id,)}
    nobody = told("Lives by the river", supersedes=("00000000",))
    assert superseded([old, nobody]) == {}


@pytest.mark.parametrize(
    ("older", "newer", "is_superseded"),
    [
        (None, Provenance.USER, True),
        (Provenance.USER, None, True),
        (Provenance.AGENT, None, True),
        (Provenance.AGENT, Provenance.AGENT, True),
        (Provenance.TOOL, Provenance.IMPORT, True),
        (Provenance.TOOL, Provenance.AGENT, True),
        (None, Provenance.TOOL, False),
        (Provenance.USER, Provenance.AGENT, False),
        (Provenance.AGENT, Provenance.TOOL, False),
        (Provenance.AGENT, Provenance.IMPORT, False),
    ],
)
def test_who_is_below_disagrees_and_does_not_supersede(
    older: Provenance | None, newer: Provenance | None, is_superseded: bool
) -> None:
    old = told("The printer is a Brother", provenance=older)
    for named in ((), (short_id(old.id),)):
        new = told("The printer is an HP", 3, provenance=newer, supersedes=named)
        if is_superseded:
            assert is_version(old, new)
            continue
        assert superseded([old, new]) == {}
        known = KnownVersions().of({old.id: old, new.id: new})
        assert known.disagreements == (Disagreement(new.id, old.id, Doubt.AUTHORITY),)
        assert known.disagreements[0].leads == old.id


@pytest.mark.parametrize("names_it", [False, True])
def test_agent_leads_over_a_log_that_does_not_say_by_whom_it_is_and_over_no_page(names_it: bool) -> None:
    def against(path: str, by: Provenance) -> Disagreement:
        old = told("The printer is a Brother", path=path)
        named = (short_id(old.id),) if names_it else ()
        new = told("The printer is an HP", 3, provenance=by, supersedes=named)
        (found,) = KnownVersions().of({one.id: one for one in (old, new)}).disagreements
        assert found.leads == (old.id if found.doubt is Doubt.AUTHORITY else new.id)
        return found

    for path in ("MEMORY.md", "bank/world.md", "memory/printers.md"):
        assert against(path, Provenance.AGENT).doubt is Doubt.AUTHORITY
    log = "memory/2025-11-01-office.md"
    assert against(log, Provenance.AGENT).doubt is (Doubt.STATED if names_it else Doubt.UNSURE)
    assert against(log, Provenance.IMPORT).doubt is Doubt.AUTHORITY


def test_what_is_pinned_gives_way_to_people_alone() -> None:
    pinned = told("The printer is a Brother", provenance=Provenance.AGENT, is_pinned=True)
    assert doubts(pinned, told("The printer is an HP", 3, provenance=Provenance.AGENT)) == [Doubt.AUTHORITY]
    assert is_version(pinned, told("The printer is an HP", 3, provenance=Provenance.USER))


def test_what_a_person_said_before_an_agent_repeats_it_stays_theirs() -> None:
    by = Provenance.AGENT, Provenance.USER
    lines = [told("The printer is a Brother", provenance=one).sources[0] for one in by]
    both = Memory(lines[0].line.id, tuple(lines))
    assert doubts(both, told("The printer is an HP", 3, provenance=Provenance.AGENT)) == [Doubt.AUTHORITY]


def test_disagreement_ends_with_what_supersedes_one_of_both() -> None:
    old = told("The printer is a Brother", provenance=Provenance.USER)
    agents = told("The printer is an HP", 3, provenance=Provenance.AGENT)
    later = told("The printer is a Canon", 5, provenance=Provenance.AGENT)
    known = KnownVersions().of({one.id: one for one in (old, agents, later)})
    assert known.older == {later.id: (agents.id,)}
    assert known.disagreements == (Disagreement(later.id, old.id, Doubt.AUTHORITY),)
    person = told("The printer is an Epson", 7)
    known = known.of({one.id: one for one in (old, agents, later, person)})
    assert known.older == {later.id: (agents.id,), person.id: (later.id, old.id)}
    assert known.disagreements == ()


def test_lines_say_that_they_contradict_or_that_both_hold() -> None:
    old = told("The car is with Ben")
    against = told("Ida drives the car to work", 3, contradicts=(short_id(old.id),))
    assert doubts(old, against) == [Doubt.STATED]
    opinion = told("Tea is best", kind=Kind.OPINION)
    assert doubts(opinion, told("Coffee it is", 3, contradicts=(short_id(opinion.id),))) == [], "it is evidence"
    named = (short_id(old.id),)
    assert doubts(old, told("The car is with Ida", 3, beside=named)) == []
    assert doubts(old, told("Ida drives the car to work", 3, beside=named, contradicts=named)) == []


@pytest.mark.parametrize("text", ["The car is with Ida", "Ida drives the car to work"])
def test_who_is_below_does_not_settle_what_disagrees(text: str) -> None:
    agents = Provenance.AGENT
    old = told("The car is with Ben", provenance=Provenance.USER)
    named = (short_id(old.id),)
    settling = told(text, 3, beside=named, contradicts=named, provenance=agents)
    assert doubts(old, settling) in ([Doubt.AUTHORITY], [Doubt.STATED])
    superseding = told(text, 3, beside=named, supersedes=named, provenance=agents)
    assert doubts(old, superseding) == [Doubt.AUTHORITY]
    pinned = told("The car is with Ben", provenance=agents, is_pinned=True)
    assert doubts(pinned, settling) == [Doubt.AUTHORITY]
    # of agents among themselves either may, and a person of all
    by_agent = told("The car is with Ben", provenance=agents)
    assert doubts(by_agent, settling) == []
    assert doubts(old, told(text, 3, beside=named, contradicts=named, provenance=Provenance.USER)) == []


def test_entities_that_the_line_does_not_name_tell_subjects_apart() -> None:
    old, new = "The printer is a Brother", "The printer is an HP"
    assert is_version(told(old, entities=("Printer",)), told(new, 3))
    assert is_version(told("Anna lives in Bergen", entities=("Anna",)), told("Anna lives in Lyon", 3))
    assert superseded([told(old, entities=("Home",)), told(new, 3, entities=("Office",))]) == {}
    assert superseded([told("Lives in Bergen", entities=("Anna",)), told("Lives in Lyon", 3, entities=("Ben",))]) == {}
    assert is_version(told("Lives in Bergen", entities=("Anna",)), told("Lives in Lyon", 3, entities=("Anna",)))


def test_what_one_more_memory_would_do_is_told_without_the_others() -> None:
    old, other = told("The printer is a Brother"), told("The scanner is a Canon")
    known = KnownVersions().of({one.id: one for one in (old, other)})
    assert known.doubts(told("The printer is an HP", 3)) == ((told("The printer is an HP").id, old.id),)
    (doubt,) = known.doubts(told("The printer is an HP", 3, provenance=Provenance.AGENT))
    assert isinstance(doubt, Disagreement)
    assert known.doubts(told("The desk is an Ikea", 3)) == ()


def test_circle_is_broken_in_favour_of_the_later_line() -> None:
    old, new = told("tea"), told("coffee", 4)
    both = [
        told("tea", supersedes=(short_id(new.id),)),
        told("coffee", 4, supersedes=(short_id(old.id),)),
        told("bread", 5, supersedes=(short_id(new.id),)),
    ]
    assert superseded(both) == {new.id: (old.id,), both[2].id: (new.id,)}
    itself = told("cake", supersedes=(short_id(told("cake").id),))
    assert superseded([itself]) == {}


def older_than(found: dict[MemoryId, tuple[MemoryId, ...]], start: MemoryId) -> set[MemoryId]:
    seen: set[MemoryId] = set()
    waiting = list(found.get(start, ()))
    while waiting:
        one = waiting.pop()
        if one not in seen:
            seen.add(one)
            waiting += found.get(one, ())
    return seen


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5), st.integers(0, 9)), max_size=12))
def test_there_are_no_circles(links: list[tuple[int, int, int]]) -> None:
    ids = [short_id(told(f"thing {'abcdef'[at]}").id) for at in range(6)]
    lines: dict[int, Memory] = {}
    for newer, older, day in links:
        known = lines[newer].line.attributes.supersedes if newer in lines else ()
        lines[newer] = told(f"thing {'abcdef'[newer]}", day, supersedes=(*known, ids[older]))
    for at in range(6):
        lines.setdefault(at, told(f"thing {'abcdef'[at]}"))
    found = dict(superseded(lines.values()))
    assert not any(one in older_than(found, one) for one in found)


_SAID = ["The code is 1", "The code is 2", "The code is 3", "The gate is 1", "The gate is 2 and 3", "It rains"]
_SAID += ["The printer is a Brother", "The printer is an HP"]
_CHANGING = st.dictionaries(
    st.sampled_from(_SAID),
    st.tuples(st.integers(0, 4), st.sampled_from([Kind.WORLD, Kind.OPINION]), st.sampled_from([None, *_SAID])),
)


def stated(lines: dict[str, tuple[int, Kind, str | None]]) -> dict[MemoryId, Memory]:
    made = (
        told(text, day, kind=kind, supersedes=(short_id(told(names).id),) if names else ())
        for text, (day, kind, names) in sorted(lines.items())
    )
    return {memory.id: memory for memory in made}


@given(st.lists(_CHANGING, min_size=1, max_size=4))
def test_versions_that_follow_their_memories_are_those_of_them(
    books: list[dict[str, tuple[int, Kind, str | None]]],
) -> None:
    known, every = KnownVersions(), dict[MemoryId, Memory]()
    for lines in books:
        fresh = stated(lines)
        # what did not change is the same object, as in a book
        every = {one: every[one] if every.get(one) == memory else memory for one, memory in fresh.items()}
        known = known.of(every)
        assert list(known.older.items()) == list(superseded(fresh.values()).items())
        assert known.disagreements == KnownVersions().of(fresh).disagreements


def test_restated_value_is_current_again() -> None:
    texts = [("The code is 1", 0), ("The code is 2", 4), ("The code is 1", 8)]
    sources = [
        MemorySource("memory/x.md", at, at, told(text).line, DAY + timedelta(days=days), None, at)
        for at, (text, days) in enumerate(texts)
    ]
    one, two = told("The code is 1").id, told("The code is 2").id
    assert book_of(sources).superseded == {one: (two,)}
    assert book_of(sources[:2]).superseded == {two: (one,)}


@pytest.mark.parametrize("flag", [Flag.DEPRECATED, Flag.SUPERSEDED, Flag.STALE])
def test_what_holds_no_longer_supersedes_nothing_that_holds(flag: Flag) -> None:
    over = told("The shed code is 5512.", 9, standing=(flag,))
    for holds in (told("The shed code is 8024."), told("The shed code is 8024.", provenance=Provenance.AGENT)):
        assert is_version(over, holds)
    # nor by what a line says
    named = told("The shed has a code.", 9, standing=(flag,), supersedes=(short_id(over.id), short_id(holds.id)))
    ended = told("The shed has a lock.", superseded=(short_id(named.id),))
    known = KnownVersions().of({one.id: one for one in (holds, named, ended)})
    assert (known.older, known.disagreements) == ({}, ())
    # among themselves, and of drafts, it is as ever
    later = told("The shed code is 6613.", 12, standing=(flag,))
    assert superseded([holds, over, later]) == {later.id: (over.id,), holds.id: (later.id,)}
    assert is_version(told("The shed code is 8024."), told("The shed code is 1.", 3, standing=(Flag.DRAFT,)))


@pytest.mark.parametrize("days", [-3, 3])
def test_copy_of_a_conflict_follows_whatever_its_day(days: int) -> None:
    path = "memory/2025-11-01.sync-conflict-20251103-080000-ABCDEFG.md"
    original, copy = told("The pier is number 9."), told("The pier is number 4.", days, path=path)
    known = KnownVersions().of({one.id: one for one in (original, copy)})
    assert known.older == {}
    (pair,) = known.disagreements
    assert (pair.doubt, pair.leads, pair.older) == (Doubt.COPY, original.id, copy.id)


def test_line_that_holds_speaks_for_one_that_holds_no_longer() -> None:
    over, holds = (
        told("The code is 1", days, standing=standing).sources[0]
        for days, standing in ((8, (Flag.DEPRECATED,)), (0, ()))
    )
    newer = told("The code is 2", 4)
    book = book_of([over, holds, *newer.sources])
    (one,) = (memory for memory in book.memories.values() if memory.line.text == "The code is 1")
    assert one.sources == (holds, over)
    assert book.superseded == {newer.id: (one.id,)}


@pytest.mark.parametrize(
    "piece", ["a", "1", "一", "月", "Nov 27 ", "27-", "周一", " ", "one ", "不", "does not a", "10:00 ", "Friday "]
)
def test_hostile_length_is_read_in_one_pass(piece: str) -> None:
    text = (piece * 100_000)[:100_000]
    assert fact_skeleton(text) is None
    rough_words(text)
    assert fact_skeleton(text[:2_000]) is None or rough_words(text[:2_000]) == rough_words(text[:2_000])
