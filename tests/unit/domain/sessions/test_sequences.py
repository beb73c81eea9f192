"""Choice of turns for a message: session, order, budget and reason."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from memoryd.domain.documents import SessionId
from memoryd.domain.sessions.documents import AnswerRetention, Totals, totals
from memoryd.domain.sessions.making_turns import message_keys
from memoryd.domain.sessions.sequences import Chosen, IndexedTurns, MessageKeys, SequenceChoice, choose, sequence
from memoryd.domain.sessions.turns import Session, search_only
from memoryd.domain.text.tokens import estimate
from tests.unit.domain.sessions.conversations import BEGUN, SESSIONS, conversation

BOILER = conversation("boiler", "hi", "the boiler loses pressure", "which valve of the boiler leaks", "thanks", "bye")
TRIP = conversation("trip", "trip to Lisbon in May", "which hotel in Lisbon has parking", "and the flights")
ANBAU = conversation("anbau", "装修预算怎么安排", "厨房的瓷砖选什么颜色", "施工队什么时候来")


def indexed(*sessions: Session) -> IndexedTurns:
    found = IndexedTurns()
    for session in sessions:
        found.put(session)
    return found


ALL = indexed(BOILER, TRIP, ANBAU)


def chosen(message: str, current: Session | None = None, run: int = 1) -> SequenceChoice:
    keys = message_keys(message)
    return choose(keys, current.id if current else None, ALL.matches(keys, run=run))


@pytest.mark.parametrize(
    ("message", "session", "seq"),
    [
        ("was it the valve of the boiler that leaks?", BOILER, 3),
        ("the hotel with parking in Lisbon", TRIP, 2),
        ("厨房瓷砖的颜色", ANBAU, 2),
        ("装修的预算是多少", ANBAU, 1),
    ],
)
def test_other_session_is_shown_up_to_the_match(message: str, session: Session, seq: int) -> None:
    for current in (None, *(one for one in (BOILER, TRIP, ANBAU) if one != session)):
        choice = chosen(message, current)
        assert (choice.session, choice.last_seq, choice.why) == (session.id, seq, Chosen.OTHER_MATCHES)
        assert choice.sentence.startswith(f"the turns of {session.id} up to the match: turn {seq} matches (“")


@pytest.mark.parametrize(("run", "last_seq"), [(1, 2), (2, 2), (3, 3), (4, 4), (9, 5)])
def test_turns_after_match_fill_a_short_run(run: int, last_seq: int) -> None:
    choice = chosen("how is the pressure", run=run)
    assert (choice.session, choice.match and choice.match.seq, choice.last_seq) == ("boiler", 2, last_seq)
    assert ("with the match" in choice.sentence) == (last_seq > 2)


def test_words_of_neighbouring_turns_add_up() -> None:
    one = conversation("one", "a boat for the lake", "what does the licence cost", "and the mooring")
    many = indexed(one, *(conversation(f"s{at}", f"boat number {at}", "its licence") for at in range(3)))
    keys = MessageKeys(("mooring", "licence", "boat"))
    best = many.matches(keys, run=3)[0]
    assert (best.session, best.seq, best.words) == ("one", 3, keys.tokens)
    assert best.score > many.matches(keys, run=1)[0].score


def test_message_with_fewer_matching_words_scores_lower() -> None:
    (vague,) = ALL.matches(MessageKeys(("pressure",)), run=1)
    (clear,) = ALL.matches(MessageKeys(("pressure", "boiler")), run=1)
    assert vague.score < clear.score


def test_answered_conversation_ranks_before_one_that_only_asks() -> None:
    asked = conversation("asked", "when do we sail to Korfu")
    answered = conversation("answered", "when does our ship sail to Korfu")
    answered = replace(answered, turns=(replace(answered.turns[0], answer="On the 3rd of May."),))
    for known in (answered, search_only(answered)):
        found = indexed(known, search_only(asked)).matches(message_keys("when do we sail to Korfu"))
        assert [one.session for one in found] == ["answered", "asked"]


def test_words_common_in_the_language_count_less() -> None:
    sessions = conversation("common", "a long story"), conversation("rare", "a mooring")
    with_commonness = IndexedTurns(lambda word: 0.2 if word == "long" else 0.0)
    for session in sessions:
        with_commonness.put(session)
    assert [one.session for one in with_commonness.matches(MessageKeys(("long", "mooring")))] == ["rare", "common"]
    assert (
        indexed(*sessions).matches(MessageKeys(("long",)))[0].score
        > with_commonness.matches(MessageKeys(("long",)))[0].score
    )


def test_answered_turn_replaces_its_question() -> None:
    topics = conversation("trip", "trip to Lisbon in May", "which hotel in Lisbon has parking")
    last = replace(TRIP.turns[1], answer="Hotel Avenida", tokens=("hotel", "avenida"), topics=("hotel_avenida",))
    answered = replace(TRIP, turns=(TRIP.turns[0], last, TRIP.turns[2]))
    grown = indexed(BOILER, topics, ANBAU, replace(answered, turns=answered.turns[:2]), answered)
    fresh = indexed(BOILER, answered, ANBAU)
    for keys in (MessageKeys(("hotel", "avenida")), MessageKeys(("parking",)), message_keys("Lisbon in May")):
        assert grown.matches(keys, run=2) == fresh.matches(keys, run=2)
    assert indexed(answered, TRIP).matches(message_keys("parking")) == indexed(TRIP).matches(message_keys("parking"))


def test_weak_match_shows_last_turns_of_current_session() -> None:
    choice = chosen("is there any pressure", BOILER)
    assert (choice.session, choice.last_seq, choice.why) == ("boiler", None, Chosen.CURRENT_MATCHES)
    assert choice.sentence.startswith("the last turns of the current session, boiler: turn 2 matches (“pressure”")


def test_clear_match_shows_turns_around_it_in_current_session() -> None:
    choice = chosen("which valve of the boiler leaks", BOILER, run=2)
    assert (choice.session, choice.last_seq, choice.why) == ("boiler", 3, Chosen.CURRENT_MATCHES)
    assert choice.sentence.startswith("the turns of the current session, boiler, around turn 3, which matches (“")
    assert "the same words" in choice.sentence


ELSEWHERE = conversation("elsewhere", "hmm, which valve", "嗯 我想想", "and then the umbrella stand broke")


@pytest.mark.parametrize(
    "message",
    [
        "hmm, are you sure?",
        "Hmmmm",
        "嗯 然后呢",
        "ok, well, go on then",
        "顺便说一句，很好",
        "uh huh",
        "and then?",
        "哈哈哈好吧",
    ],
)
def test_fillers_match_nothing(message: str) -> None:
    assert message_keys(message).is_empty
    assert message_keys(message).takes_up
    found = indexed(ELSEWHERE, TRIP)
    assert choose(message_keys(message), TRIP.id, found.matches(message_keys(message))).session == "trip"


@pytest.mark.parametrize(
    ("message", "session"),
    [
        ("and will it need an umbrella?", "trip"),
        ("which umbrella?", "elsewhere"),
        ("by the way, that umbrella?", "elsewhere"),
    ],
)
def test_reference_stays_unless_other_session_matches_clearly(message: str, session: str) -> None:
    found, keys = indexed(ELSEWHERE, TRIP), message_keys(message)
    assert choose(keys, TRIP.id, found.matches(keys)).session == session


def test_turn_is_found_by_meaning_alone() -> None:
    keys = message_keys("lodgings with a garage")
    assert ALL.matches(keys) == []
    near = {TRIP.id: {2: 0.6}, SessionId("gone"): {1: 1.0}}
    (match,) = ALL.matches(keys, near=near)
    assert (match.session, match.seq, match.nearness) == ("trip", 2, 0.6)
    assert match.score == pytest.approx(0.24)
    choice = choose(keys, BOILER.id, [match])
    assert (choice.session, choice.why) == ("trip", Chosen.OTHER_MATCHES)
    assert "its meaning is near" in choice.sentence
    assert choose(replace(keys, takes_up=True), BOILER.id, [match]).session == "boiler"


def test_words_decide_run_before_meaning() -> None:
    (match,) = ALL.matches(MessageKeys(("flights",)), run=1, near={TRIP.id: {1: 0.9}})
    assert match.seq == 3
    assert match.score == pytest.approx(0.36)


def test_turns_are_ordered_by_time() -> None:
    first, second, late = TRIP.turns
    mixed = replace(TRIP, turns=(first, second, replace(late, timestamp=first.timestamp + timedelta(seconds=1))))
    assert [turn.seq for turn in mixed.in_order] == [1, 3, 2]
    assert [turn.seq for turn in sequence(mixed)] == [1, 3, 2]
    assert [turn.seq for turn in sequence(mixed, last_seq=3)] == [1, 3]
    grown = indexed(TRIP)
    grown.put(mixed)
    (match,) = grown.matches(message_keys("and the flights"), run=2)
    assert (match.seq, match.last_seq) == (3, 3)
    assert mixed.begun == first.timestamp
    assert TRIP.in_order is TRIP.turns


@pytest.mark.parametrize("message", ["and that one?", "好的", "quantum chromodynamics", "???"])
def test_current_session_is_shown_if_nothing_matches(message: str) -> None:
    choice = chosen(message, TRIP)
    assert (choice.session, choice.last_seq, choice.why) == ("trip", None, Chosen.NOTHING_MATCHES)


def test_no_session_and_no_match_give_nothing() -> None:
    assert chosen("quantum chromodynamics").session is None
    assert choose(None, None, []).sentence == "no session is known, and nothing matches the message"


def test_near_hash_alone_is_a_match() -> None:
    keys = replace(message_keys("which valve of the boiler leaks"), tokens=("boilers",), topics=())
    (match,) = ALL.matches(keys)
    assert (match.session, match.seq, match.bits, match.words) == ("boiler", 3, 0, ())


def test_rare_words_count_more() -> None:
    many = indexed(*(conversation(f"s{number}", f"boiler notes {number}") for number in range(20)), TRIP)
    keys = MessageKeys(("boiler", "parking"))
    assert many.matches(keys)[0].session == "trip"


def test_newest_of_equal_sessions_ranks_first() -> None:
    later = replace(
        TRIP,
        id=SessionId("later"),
        turns=tuple(replace(turn, timestamp=BEGUN.replace(year=2027)) for turn in TRIP.turns),
    )
    for sessions in ((TRIP, later), (later, TRIP)):
        assert indexed(*sessions).matches(message_keys("parking"))[0].session == "later"


def test_current_session_is_listed_after_very_many_turns() -> None:
    many = conversation("many", *["which boiler valve leaks"] * 500)
    keys = message_keys("which boiler valve leaks, and thanks for the pressure")
    found = indexed(BOILER, many).matches(keys, always=SessionId("boiler"))
    assert {one.session for one in found} == {"boiler", "many"}


def test_current_session_is_listed_after_all_others() -> None:
    many = indexed(*(conversation(f"s{number}", "which boiler valve leaks") for number in range(20)), BOILER)
    keys = MessageKeys(("boiler", "valve", "leaks", "hi"))
    current = many.matches(replace(keys, tokens=("boiler", "tea")), limit=2, always=SessionId("boiler"))
    assert [one.session for one in current if one.session == "boiler"] == ["boiler"]
    assert len(many.matches(keys, limit=2)) == 2


@given(st.lists(SESSIONS, max_size=5), st.lists(st.sampled_from(["boiler", "trip", "anbau"]), max_size=3))
def test_changed_index_matches_a_fresh_one(sessions: list[Session], dropped: list[str]) -> None:
    grown, current = indexed(BOILER, TRIP, ANBAU), {one.id: one for one in (BOILER, TRIP, ANBAU)}
    for session in sessions:
        grown.put(session)
        current[session.id] = session
    for name in dropped:
        grown.drop(SessionId(name))
        current.pop(SessionId(name), None)
    assert len(grown) == sum(len(one.turns) for one in current.values())
    keys = message_keys("which hotel has parking and a boiler, 厨房")
    fresh = indexed(*current.values()).matches(keys)
    assert {(one.session, one.words) for one in grown.matches(keys)} == {(one.session, one.words) for one in fresh}


def test_changed_turn_is_found_by_its_new_words() -> None:
    changed = replace(
        BOILER, turns=(*BOILER.turns[:1], replace(BOILER.turns[1], tokens=("radiator",)), *BOILER.turns[2:])
    )
    grown = indexed(BOILER)
    grown.put(changed)
    assert [one.seq for one in grown.matches(MessageKeys(("radiator",)))] == [2]
    assert grown.matches(MessageKeys(("pressure",))) == []


def answered(*answers: str | None) -> Session:
    session = conversation("s", *(f"q{number}" for number in range(len(answers))))
    turns = tuple(replace(turn, answer=answer) for turn, answer in zip(session.turns, answers, strict=True))
    return replace(session, turns=turns)


def test_budget_drops_oldest_turns_and_long_answers() -> None:
    session = answered("short", "long " * 400, "short", None, "short")
    found = sequence(session, budget=60)
    assert [(turn.seq, turn.answer) for turn in found] == [
        (1, "short"),
        (2, None),
        (3, "short"),
        (4, None),
        (5, "short"),
    ]
    spent = sum(estimate(turn.question) + estimate(turn.answer or "") for turn in found[3:])
    assert [turn.seq for turn in sequence(session, budget=spent)] == [4, 5]
    assert [(turn.seq, turn.answer) for turn in sequence(session, budget=0)] == [(5, None)]


def test_budget_drops_turns_far_from_the_match() -> None:
    session = answered("short", "short", "long " * 400, "short", "short")
    assert [(turn.seq, turn.answer) for turn in sequence(session, match=2, budget=10)] == [
        (1, "short"),
        (2, "short"),
        (3, None),
        (4, "short"),
    ]
    assert [turn.seq for turn in sequence(session, match=1, budget=3)] == [1]


@given(SESSIONS, st.integers(0, 6), st.integers(0, 40), st.none() | st.integers(0, 40))
def test_sequence_is_a_run_within_its_budget(session: Session, turns: int, budget: int, last: int | None) -> None:
    found = sequence(session, last_seq=last, match=last, turns=turns, budget=budget)
    seqs = [turn.seq for turn in session.in_order]
    reached = seqs[: seqs.index(last) + 1] if last in seqs else seqs
    assert [turn.seq for turn in found] == (reached[-len(found) :] if found else [])
    assert len(found) <= turns
    assert len(found) <= 1 or sum(estimate(one.question) + estimate(one.answer or "") for one in found) <= budget


@given(SESSIONS, st.floats(0, 1))
def test_pruning_keeps_all_questions(session: Session, threshold: float) -> None:
    pruned = AnswerRetention(threshold).pruned(session)
    assert [turn.question for turn in pruned.turns] == [turn.question for turn in session.turns]
    assert {turn.significance > threshold for turn in pruned.turns if turn.answer is not None} <= {True}
    assert pruned.answers <= session.answers


def test_age_of_session_is_that_of_its_last_turn() -> None:
    last = BOILER.last_activity
    assert not AnswerRetention().is_old(last, last + timedelta(days=30))
    assert AnswerRetention().is_old(last, last + timedelta(days=30, seconds=1))
    assert not AnswerRetention().is_old(last, last - timedelta(days=99))


def test_totals_are_added() -> None:
    assert totals([(7, 3)]) == Totals(7, 3)
    assert Totals(7, 3).ratio == 0.43
    assert totals([]).ratio == 0
