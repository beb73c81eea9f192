"""What speaks for an item beside a message: every kind of evidence, and what does not count as one."""

from collections.abc import Sequence

import pytest

from memoryd.domain.memories.entities import EntitySlug
from memoryd.domain.memories.unasked.evidence import Item, ItemWeight, MessageEvidence, parts_first, term_weight
from memoryd.domain.memories.unasked.german import GERMAN_MAX
from memoryd.domain.memories.unasked.messages import read_message
from memoryd.domain.ranking.calibration import Idf
from memoryd.domain.ranking.fusion import Noise
from memoryd.domain.text.words import query_terms

JUNE = EntitySlug("june")
USUAL = Noise(0.1, 0.1)


def weighed(
    text: str,
    items: Sequence[tuple[str, Sequence[str]]],
    *,
    about: bool = False,
    cosines: Sequence[float] = (),
    weight: float = 4.0,
    chunks: int = 50,
    noise: Noise = USUAL,
) -> list[ItemWeight]:
    """Weigh items, each a text with the terms that it holds; each term of the message weighs 4. `about`: about June."""
    terms = query_terms(text)
    evidence = MessageEvidence(
        read_message(text, names_entity=about),
        idf=Idf(chunks, dict.fromkeys(terms, weight)),
        noise=noise,
        entities={JUNE: (1.0, 3)} if about else {},
        names={JUNE: frozenset({"june"})} if about else {},
    )
    near = [*cosines, *[None] * (len(items) - len(cosines))]
    slugs = (JUNE,) if about else ()
    return evidence.of([Item(said, held, near[at], slugs) for at, (said, held) in enumerate(items)])


def test_rare_word_tells_an_item_and_noise_is_told_of_nobody() -> None:
    first, second = weighed("where did I put the ladder?", [("The ladder is in the shed.", ["ladder"]), ("Rain.", [])])
    assert (first.is_included, second.is_included) == (True, False)
    assert first.kinds["words"]


def test_word_of_two_of_a_few_notes_says_no_less_than_another_word_for_it() -> None:
    items = [("I am allergic to mango.", ["allergic"]), ("Maya gets hives, an allergy to peanuts.", [])]
    same, other = weighed("what am I allergic to?", items, weight=0.4, chunks=6)
    assert same.is_included
    assert same.kinds["words"] == other.kinds["meaning"] > 0
    assert not weighed("what am I allergic to?", items, weight=0.4, chunks=60)[0].is_included


def test_asking_to_keep_something_tells_nothing_that_was_kept_so() -> None:
    said = ("Merk dir, dass der Klempner am Freitag kommt", "Remember that the painter is here on Friday")
    items = [(one, query_terms(one)) for one in said]
    for message in ("Merk dir das nicht: ich gehe ins Kino", "Remember that I am off to the cinema"):
        held = [(text, [term for term in terms if term in query_terms(message)]) for text, terms in items]
        assert not any(one.is_included for one in weighed(message, held)), message


def test_one_word_is_too_little_beside_what_anybody_could_say() -> None:
    held = ("The ladder is in the shed.", ["ladder"])
    assert not weighed("what is a ladder", [held])[0].is_included


@pytest.mark.parametrize(
    ("text", "said", "held"),
    [
        ("when is skat", "Skat is on Wednesdays now.", ["skat"]),
        ("wann ist skat", "Skat ist ab jetzt mittwochs.", ["skat"]),
        ("wer ist mein chef", "Mein Chef ist Herr Kowalski.", ["chef"]),
        ("where's the ladder", "The ladder is in the shed.", ["ladder"]),
        ("备用钥匙在哪", "备用钥匙给我妈了。", ["备用", "用钥", "钥匙"]),
    ],
)
def test_one_word_is_all_that_a_question_for_a_time_a_place_or_a_person_is_about(
    text: str, said: str, held: list[str]
) -> None:
    assert weighed(text, [(said, held)])[0].kinds["all"]


def test_signs_of_one_word_are_one_word() -> None:
    library = ("图书馆的座位要提前预约。", ["图书", "书馆"])
    assert not weighed("世界上最大的图书馆是哪个", [library], weight=6.0)[0].is_included
    both = ("图书馆的暖气坏了。", ["图书", "书馆", "暖气"])
    assert weighed("图书馆的暖气谁来修", [both], weight=6.0)[0].is_included


def test_german_word_of_what_anybody_could_ask_is_no_second_evidence() -> None:
    held = ("Ich trinke meinen Kaffee ohne Zucker.", ["kaffee"])
    assert not weighed("Warum ist Kaffee bitter?", [held], weight=6.5)[0].is_included
    mine = weighed("soll ich uns Kaffee kaufen?", [held], weight=6.5)[0]
    assert mine.is_included
    assert mine.kinds["meaning"]


def test_what_the_one_who_asks_does_is_told_though_anybody_works() -> None:
    works, work = ("I work at Siemens.", ["work"]), ("The work on the bridge goes on.", ["work"])
    for said in ("do you remember where I work?", "where do I work"):
        assert [one.is_included for one in weighed(said, [works, work], weight=1.0)] == [True, False], said
    assert weighed("wo wohnen wir?", [("Wir wohnen in Bonn.", ["wohnen"])], weight=1.0)[0].is_included
    for said in ("where should I work tomorrow?", "how can I work on this?", "what do I need for work?"):
        assert not weighed(said, [works], weight=1.0)[0].is_included, said


def test_year_of_a_date_says_nothing_and_a_number_like_one_does() -> None:
    held = [("Room 2012 has the samples.", ["2012"])]
    assert weighed("who has the key of room 2012?", held)[0].score > 0
    assert weighed("who won on 3 May 2012?", held)[0].score == 0


def test_short_word_must_stand_in_the_text_as_it_is() -> None:
    said = "should I call Hi Fi Records about my hi fi?"
    assert weighed(said, [("He lost his hat.", ["hi"])])[0].score == 0
    assert weighed("is my van taxed?", [("Two vans are parked.", ["van"])])[0].score > 0


def test_acronym_is_no_word_of_small_letters_and_stands_for_its_initials() -> None:
    mister, request = weighed(
        "who looks at my MR?", [("The plumber is Mr Kaya.", ["mr"]), ("Merge requests need a second pair of eyes.", [])]
    )
    assert (mister.is_included, request.is_included) == (False, True)


def test_small_numbers_and_words_of_any_matter_say_little() -> None:
    assert term_weight("7", 5.0) == 0
    assert term_weight("40718", 5.0) == 5
    assert term_weight("wednesday", 5.0) < term_weight("thermostat", 5.0)
    assert term_weight("的人", 5.0) < term_weight("我家", 5.0) * 2 < term_weight("复诊", 5.0)


def test_name_leads_to_lines_and_what_is_meant_chooses_among_them() -> None:
    diet, car = weighed(
        "I'm cooking for June on Sunday, what should I mind?",
        [("June is allergic to sesame.", ["june"]), ("June sold her car.", ["june"])],
        about=True,
    )
    assert diet.score > car.score > 0
    assert diet.is_included
    assert diet.kinds["meaning"]


def test_meaning_counts_above_the_noise_alone() -> None:
    far, near = weighed("how do I get the stain out?", [("Vinegar.", []), ("Soda.", [])], cosines=[0.2, 0.7])
    assert far.score == 0
    assert near.score > 0


def test_each_part_has_its_say_in_the_first_three() -> None:
    assert parts_first([0, 0, 0, 1, 2, 0]) == [0, 3, 4, 1, 2, 5]
    assert parts_first([0, 1, 2, 3]) == [0, 1, 2, 3]
    assert parts_first([]) == []


def test_weaker_item_is_held_against_one_that_has_all_the_words() -> None:
    all_of_it = ["boiler", "manual", "old", "cellar"]
    held = [("The manual of the old boiler is in the cellar.", all_of_it), ("A manual gearbox.", ["manual"])]
    strong, weak = weighed("where did I put the manual of the old cellar boiler?", held)
    assert (strong.is_included, weak.is_included) == (True, False)
    assert weighed("where did I put the manual of the gearbox?", held[1:])[0].is_included


def test_item_is_of_the_part_that_it_answers() -> None:
    boiler, passport = weighed(
        "I need the boiler manual, and where is my passport?",
        [("The boiler manual is in the attic.", ["boiler", "manual"]), ("The passport is new.", ["passport"])],
    )
    assert (boiler.part, passport.part) == (0, 1)
    assert boiler.is_included
    assert passport.is_included


def test_number_of_a_thing_is_its_name_and_others_are_not() -> None:
    held = [("Cue 47 is the storm.", ["47"])]
    assert weighed("when does number 47 end?", held)[0].score > weighed("are 47 chairs enough?", held)[0].score == 0


def test_words_that_say_whom_are_no_further_evidence_for_their_line() -> None:
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
    is_wife, smoke = evidence.of([Item(said, held, None, (JUNE,)) for said, held in lines])
    assert smoke.score == is_wife.score > 0


NEAREST: Sequence[tuple[str, Sequence[str]]] = (
    ("The ladder is in the shed.", ["ladder"]),
    ("Bo lent me his steps.", []),
    ("Rain.", []),
    ("Figs.", []),
)


@pytest.mark.parametrize(
    ("noise", "told"),
    [
        (Noise(0.3, 0.1, unrelated=(0.1, 0.1)), [True, True, False, False]),
        (Noise(0.3, 0.1), [True, False, False, False]),
        (Noise(0.3, 0.1, is_clear=False, unrelated=(0.1, 0.1)), [True, False, False, False]),
    ],
    ids=["far above what is unrelated", "nobody knows how near that comes", "a model that does not tell"],
)
def test_what_is_nearest_in_meaning_is_told_beside_what_has_the_words(noise: Noise, told: list[bool]) -> None:
    text = "where did I put my ladder after we had painted the front of the house?"
    worths = weighed(text, NEAREST, cosines=[0.2, 0.45, 0.35, 0.1], noise=noise)
    assert [one.is_included for one in worths] == told


def test_nothing_is_told_by_its_meaning_alone_where_anybody_could_ask() -> None:
    noise = Noise(0.3, 0.1, unrelated=(0.1, 0.1))
    assert not any(one.is_included for one in weighed("put that in a table", NEAREST, cosines=[0.45] * 4, noise=noise))


@pytest.mark.parametrize(
    ("said", "note", "word"),
    [
        ("noch nicht ganz fertig", "Papa macht den Hof noch bis 2028, nicht ich.", "noch"),
        ("geh mit dem Hund raus", "Sicherungen immer mit max_active_runs=1.", "mit"),
        ("will ich sehen", "Patenkind will den Mähdrescher.", "will"),
    ],
)
def test_what_german_talk_is_made_of_tells_nothing(said: str, note: str, word: str) -> None:
    assert not weighed(said, [(note, [word])], weight=7.0)[0].score


def test_english_word_that_german_has_too_still_tells() -> None:
    assert weighed("where is my hat", [("The red hat hangs in the hall.", ["hat"])], weight=4.0)[0].is_included


def test_german_word_weighs_no_more_than_a_common_one() -> None:
    (found,) = weighed("ich will den Hänger holen", [("Baum holen bei Overmeyer.", ["holen"])], weight=7.7)
    assert 0 < found.score <= GERMAN_MAX


def test_code_that_a_note_holds_says_more_than_a_word() -> None:
    said = "washer flashing E18 what was that"
    code, word = weighed(said, [("machine E18 again = filter", ["e18"]), ("Washer.", ["washer"])], weight=6.6)
    assert code.is_included
    assert code.score > word.score > 0


def test_rare_word_tells_nothing_beside_what_asks_for_nothing() -> None:
    (found,) = weighed("kayak vs canoe", [("Mia paddles the red kayak.", ["kayak"])], weight=6.6)
    assert not found.is_included


def told(text: str, said: str, held: Sequence[str] = (), *, about: bool = False, weight: float = 4.0) -> bool:
    return weighed(text, [(said, held)], about=about, weight=weight)[0].is_included


@pytest.mark.parametrize(
    ("text", "said", "is_told"),
    [
        ("should I make us some toast with the eggs?", "Crumbs of the toaster make him ill.", True),
        ("who do I ask for a lift?", "The lifts of the mill are slow.", True),
        ("when do we go to drydock?", "The barge goes to dry dock in May.", True),
        ("when do we go to dry dock?", "The barge goes to the drydock in May.", True),
        ("when do we mend the tow bar?", "The tower leans.", False),
    ],
)
def test_word_of_one_family_and_what_is_written_as_one_word_or_two_are_found(
    text: str, said: str, is_told: bool
) -> None:
    assert told(text, said, weight=7.0) is is_told


def test_statement_needs_more_where_it_is_about_nobody_known() -> None:
    assert not told("I finally got the stove lit.", "The stove takes birch.", ["stove"])
    assert told(
        "I finally got the stove and the flue clean.", "Flue and stove: clean in May.", ["stove", "flue", "clean"]
    )


def test_word_without_its_apostrophe_and_times_in_chinese_say_nothing_of_their_own() -> None:
    assert term_weight("whats", 6.6) == term_weight("doesnt", 6.6) == 0
    assert term_weight("周末", 5.0) < term_weight("钥匙", 5.0)


def test_words_weigh_less_in_a_passage() -> None:
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
