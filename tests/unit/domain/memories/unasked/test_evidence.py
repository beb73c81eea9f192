"""Evidence for an item beside a message: each kind of evidence, and what does not count."""

from collections.abc import Sequence
from typing import Any

import pytest

from memoryd.domain.memories.entities import EntitySlug
from memoryd.domain.memories.unasked.evidence import Item, ItemWeight, MessageEvidence, parts_first, term_weight
from memoryd.domain.memories.unasked.german import GERMAN_MAX
from memoryd.domain.memories.unasked.messages import read_message
from memoryd.domain.ranking.calibration import Idf
from memoryd.domain.ranking.fusion import Noise
from memoryd.domain.text.words import query_terms

JUNE = EntitySlug("june")
NOISE = Noise(0.1, 0.1)


def weighed(
    text: str,
    items: Sequence[tuple[str, Sequence[str]]],
    *,
    is_about_june: bool = False,
    cosines: Sequence[float] = (),
    weight: float = 4.0,
    chunks: int = 50,
    noise: Noise = NOISE,
) -> list[ItemWeight]:
    """Weigh items, given as a text with its matching terms; each term of the message weighs 4."""
    terms = query_terms(text)
    evidence = MessageEvidence(
        read_message(text, names_entity=is_about_june),
        idf=Idf(chunks, dict.fromkeys(terms, weight)),
        noise=noise,
        entities={JUNE: (1.0, 3)} if is_about_june else {},
        names={JUNE: frozenset({"june"})} if is_about_june else {},
    )
    near = [*cosines, *[None] * (len(items) - len(cosines))]
    slugs = (JUNE,) if is_about_june else ()
    return evidence.of([Item(content, matching, near[at], slugs) for at, (content, matching) in enumerate(items)])


def is_included(text: str, content: str, terms: Sequence[str] = (), **options: Any) -> bool:
    return weighed(text, [(content, terms)], **options)[0].is_included


def test_rare_word_includes_item() -> None:
    first, second = weighed("where did I put the ladder?", [("The ladder is in the shed.", ["ladder"]), ("Rain.", [])])
    assert (first.is_included, second.is_included) == (True, False)
    assert first.kinds["words"]


def test_word_counts_no_less_than_its_synonym_in_few_notes() -> None:
    items = [("I am allergic to mango.", ["allergic"]), ("Maya gets hives, an allergy to peanuts.", [])]
    same, other = weighed("what am I allergic to?", items, weight=0.4, chunks=6)
    assert same.is_included
    assert same.kinds["words"] == other.kinds["meaning"] > 0
    assert not weighed("what am I allergic to?", items, weight=0.4, chunks=60)[0].is_included


def test_request_to_remember_matches_no_earlier_request() -> None:
    texts = ("Merk dir, dass der Klempner am Freitag kommt", "Remember that the painter is here on Friday")
    items = [(one, query_terms(one)) for one in texts]
    for message in ("Merk dir das nicht: ich gehe ins Kino", "Remember that I am off to the cinema"):
        matching = [(text, [term for term in terms if term in query_terms(message)]) for text, terms in items]
        assert not any(one.is_included for one in weighed(message, matching)), message


def test_one_word_is_too_little_in_a_general_question() -> None:
    item = ("The ladder is in the shed.", ["ladder"])
    assert not is_included("what is a ladder", *item)


@pytest.mark.parametrize(
    ("text", "line", "matching"),
    [
        ("when is skat", "Skat is on Wednesdays now.", ["skat"]),
        ("wann ist skat", "Skat ist ab jetzt mittwochs.", ["skat"]),
        ("skat when", "Skat is on Wednesdays now.", ["skat"]),
        ("skat wann", "Skat ist ab jetzt mittwochs.", ["skat"]),
        ("wer ist mein chef", "Mein Chef ist Herr Kowalski.", ["chef"]),
        ("where's the ladder", "The ladder is in the shed.", ["ladder"]),
        ("备用钥匙在哪", "备用钥匙给我妈了。", ["备用", "用钥", "钥匙"]),
    ],
)
def test_question_word_with_one_word_is_about_that_word(text: str, line: str, matching: list[str]) -> None:
    assert weighed(text, [(line, matching)])[0].kinds["asked"] > 0.5


def test_character_pairs_of_one_word_count_once() -> None:
    library = ("图书馆的座位要提前预约。", ["图书", "书馆"])
    assert not is_included("世界上最大的图书馆是哪个", *library, weight=6.0)
    both = ("图书馆的暖气坏了。", ["图书", "书馆", "暖气"])
    assert is_included("图书馆的暖气谁来修", *both, weight=6.0)


def test_german_word_of_general_question_is_no_second_evidence() -> None:
    item = ("Ich trinke meinen Kaffee ohne Zucker.", ["kaffee"])
    assert not is_included("Warum ist Kaffee bitter?", *item, weight=6.5)
    mine = weighed("soll ich uns Kaffee kaufen?", [item], weight=6.5)[0]
    assert mine.is_included
    assert mine.kinds["meaning"]


def test_question_about_own_habit_includes_item() -> None:
    works, work = ("I work at Siemens.", ["work"]), ("The work on the bridge goes on.", ["work"])
    for message in ("do you remember where I work?", "where do I work"):
        assert [one.is_included for one in weighed(message, [works, work], weight=1.0)] == [True, False], message
    assert is_included("wo wohnen wir?", "Wir wohnen in Bonn.", ["wohnen"], weight=1.0)
    for message in ("where should I work tomorrow?", "how can I work on this?", "what do I need for work?"):
        assert not is_included(message, *works, weight=1.0), message


def test_number_counts_unless_it_is_the_year_of_a_date() -> None:
    items = [("Room 2012 has the samples.", ["2012"])]
    assert weighed("who has the key of room 2012?", items)[0].score > 0
    assert weighed("who won on 3 May 2012?", items)[0].score == 0


def test_plain_question_about_one_thing_includes_its_line() -> None:
    passage = ("The canary takes 35 minutes.", ["canary"])
    assert is_included("how long is the canary", *passage)
    assert not is_included("the canary is so long", *passage)
    assert is_included("wann war der TÜV", "Der Wagen muss im Februar zum TÜV.", ["tuv"])


@pytest.mark.parametrize(
    ("text", "asks"),
    [
        ("was kostet der Dachboden", True),
        ("was at the dentist today, all fine", False),
        ("was thinking of getting a new camera", False),
    ],
)
def test_german_question_word_asks_nothing_in_english(text: str, asks: bool) -> None:
    line = (text.removeprefix("was "), [text.split()[-1].lower()])
    assert bool(weighed(text, [line])[0].kinds.get("asked")) is asks


def test_question_that_names_an_entity_needs_less_evidence() -> None:
    line = ("June has the ladder and the saw.", ())
    asked, told = (
        weighed(text, [line], is_about_june=True)[0]
        for text in ("how is the paint for June made", "the paint for June is made")
    )
    assert asked.kinds["asked"] > 0
    assert "asked" not in told.kinds or not told.kinds["asked"]


def test_beginning_of_a_compound_counts_less_than_the_word() -> None:
    whole, beginning = (
        weighed("Die neue Arbeitsplatte soll morgen hoch", [(text, ["arbeitsplatte"])])[0].kinds["words"]
        for text in ("Die Arbeitsplatte ist aus Eiche.", "Weber zahlt spät, nur gegen Geld arbeiten.")
    )
    assert 0 < beginning < whole


def test_concept_in_frequent_words_weighs_little() -> None:
    frequent, rare = (
        weighed(text, [(line, ())])[0].kinds["meaning"]
        for text, line in (
            ("Ben swapped until Wednesday", "Fixed the bug by locking the row."),
            ("is there a deadline", "The form is due in June."),
        )
    )
    assert 0 < frequent < rare


def test_short_word_must_match_literally() -> None:
    message = "should I call Hi Fi Records about my hi fi?"
    assert weighed(message, [("He lost his hat.", ["hi"])])[0].score == 0
    assert weighed("is my van taxed?", [("Two vans are parked.", ["van"])])[0].score > 0


def test_acronym_matches_initials_but_no_lower_case_word() -> None:
    mister, request = weighed(
        "who looks at my MR?", [("The plumber is Mr Kaya.", ["mr"]), ("Merge requests need a second pair of eyes.", [])]
    )
    assert (mister.is_included, request.is_included) == (False, True)


def test_small_numbers_and_common_words_weigh_little() -> None:
    assert term_weight("7", 5.0) == 0
    assert term_weight("40718", 5.0) == 5
    assert term_weight("wednesday", 5.0) < term_weight("thermostat", 5.0)
    assert term_weight("的人", 5.0) < term_weight("我家", 5.0) * 2 < term_weight("复诊", 5.0)


def test_entity_selects_lines_and_concepts_rank_them() -> None:
    diet, car = weighed(
        "I'm cooking for June on Sunday, what should I mind?",
        [("June is allergic to sesame.", ["june"]), ("June sold her car.", ["june"])],
        is_about_june=True,
    )
    assert diet.score > car.score > 0
    assert diet.is_included
    assert diet.kinds["meaning"]


def test_cosine_counts_only_above_noise() -> None:
    far, near = weighed("how do I get the stain out?", [("Vinegar.", []), ("Soda.", [])], cosines=[0.2, 0.7])
    assert far.score == 0
    assert near.score > 0


def test_each_part_is_represented_among_first_three() -> None:
    assert parts_first([0, 0, 0, 1, 2, 0]) == [0, 3, 4, 1, 2, 5]
    assert parts_first([0, 1, 2, 3]) == [0, 1, 2, 3]
    assert parts_first([]) == []


def test_weak_item_is_excluded_beside_complete_match() -> None:
    all_of_it = ["boiler", "manual", "old", "cellar"]
    items = [("The manual of the old boiler is in the cellar.", all_of_it), ("A manual gearbox.", ["manual"])]
    strong, weak = weighed("where did I put the manual of the old cellar boiler?", items)
    assert (strong.is_included, weak.is_included) == (True, False)
    assert weighed("where did I put the manual of the gearbox?", items[1:])[0].is_included


def test_item_belongs_to_the_part_it_answers() -> None:
    boiler, passport = weighed(
        "I need the boiler manual, and where is my passport?",
        [("The boiler manual is in the attic.", ["boiler", "manual"]), ("The passport is new.", ["passport"])],
    )
    assert (boiler.part, passport.part) == (0, 1)
    assert boiler.is_included
    assert passport.is_included


def test_number_counts_only_as_a_name() -> None:
    items = [("Cue 47 is the storm.", ["47"])]
    assert weighed("when does number 47 end?", items)[0].score > weighed("are 47 chairs enough?", items)[0].score == 0


def test_words_for_an_entity_are_no_further_evidence() -> None:
    text, lines = "my wife has a headache", [("June is his wife.", ["wife"]), ("June cannot stand smoke.", [])]
    terms = query_terms(text)
    evidence = MessageEvidence(
        read_message(text, names_entity=False),
        idf=Idf(50, dict.fromkeys(terms, 4.0)),
        noise=Noise(0.1, 0.1),
        entities={JUNE: (0.75, 3)},
        names={},
        called={JUNE: frozenset({"wife"})},
    )
    is_wife, smoke = evidence.of([Item(content, matching, None, (JUNE,)) for content, matching in lines])
    assert smoke.score == is_wife.score > 0


NEAREST: Sequence[tuple[str, Sequence[str]]] = (
    ("The ladder is in the shed.", ["ladder"]),
    ("Bo lent me his steps.", []),
    ("Rain.", []),
    ("Figs.", []),
)


@pytest.mark.parametrize(
    ("noise", "expected"),
    [
        (Noise(0.3, 0.1, unrelated=(0.1, 0.1)), [True, True, False, False]),
        (Noise(0.3, 0.1), [True, False, False, False]),
        (Noise(0.3, 0.1, is_clear=False, unrelated=(0.1, 0.1)), [True, False, False, False]),
    ],
    ids=["far above unrelated", "unrelated unknown", "unclear model"],
)
def test_nearest_item_is_included_beside_word_match(noise: Noise, expected: list[bool]) -> None:
    text = "where did I put my ladder after we had painted the front of the house?"
    weights = weighed(text, NEAREST, cosines=[0.2, 0.45, 0.35, 0.1], noise=noise)
    assert [one.is_included for one in weights] == expected


def test_general_request_includes_nothing_by_meaning() -> None:
    noise = Noise(0.3, 0.1, unrelated=(0.1, 0.1))
    assert not any(one.is_included for one in weighed("put that in a table", NEAREST, cosines=[0.45] * 4, noise=noise))


@pytest.mark.parametrize(
    ("message", "note", "word"),
    [
        ("noch nicht ganz fertig", "Papa macht den Hof noch bis 2028, nicht ich.", "noch"),
        ("geh mit dem Hund raus", "Sicherungen immer mit max_active_runs=1.", "mit"),
        ("will ich sehen", "Patenkind will den Mähdrescher.", "will"),
    ],
)
def test_german_function_word_counts_nothing(message: str, note: str, word: str) -> None:
    assert not weighed(message, [(note, [word])], weight=7.0)[0].score


def test_english_word_that_is_also_german_counts() -> None:
    assert is_included("where is my hat", "The red hat hangs in the hall.", ["hat"], weight=4.0)


def test_weight_of_german_word_is_limited() -> None:
    (found,) = weighed("ich will den Hänger holen", [("Baum holen bei Overmeyer.", ["holen"])], weight=7.7)
    assert 0 < found.score <= GERMAN_MAX


def test_code_counts_more_than_a_word() -> None:
    message = "washer flashing E18 what was that"
    code, word = weighed(message, [("machine E18 again = filter", ["e18"]), ("Washer.", ["washer"])], weight=6.6)
    assert code.is_included
    assert code.score > word.score > 0


def test_rare_word_in_general_message_includes_nothing() -> None:
    (found,) = weighed("kayak vs canoe", [("Mia paddles the red kayak.", ["kayak"])], weight=6.6)
    assert not found.is_included


@pytest.mark.parametrize(
    ("text", "item", "expected"),
    [
        ("should I make us some toast with the eggs?", "Crumbs of the toaster make him ill.", True),
        ("who do I ask for a lift?", "The lifts of the mill are slow.", True),
        ("when do we go to drydock?", "The barge goes to dry dock in May.", True),
        ("when do we go to dry dock?", "The barge goes to the drydock in May.", True),
        ("when do we mend the tow bar?", "The tower leans.", False),
    ],
)
def test_word_family_and_compound_spellings_match(text: str, item: str, expected: bool) -> None:
    assert is_included(text, item, weight=7.0) is expected


def test_statement_about_unknown_entity_needs_more_evidence() -> None:
    assert not is_included("I finally got the stove lit.", "The stove takes birch.", ["stove"])
    assert is_included(
        "I finally got the stove and the flue clean.", "Flue and stove: clean in May.", ["stove", "flue", "clean"]
    )


def test_words_without_apostrophe_and_chinese_times_weigh_little() -> None:
    assert term_weight("whats", 6.6) == term_weight("doesnt", 6.6) == 0
    assert term_weight("周末", 5.0) < term_weight("钥匙", 5.0)


def test_words_weigh_less_in_passage_of_a_note() -> None:
    line, passage = Item("The oar is cracked.", ["oar"]), Item("Jobs\nThe oar is cracked.", ["oar"], is_passage=True)
    evidence = MessageEvidence(
        read_message("is my oar mended?", names_entity=False),
        idf=Idf(50, {"oar": 4.0, "mended": 4.0}),
        noise=Noise(0.1, 0.1),
        entities={},
        names={},
    )
    one, other = evidence.of([line, passage])
    assert one.score > other.score > 0
