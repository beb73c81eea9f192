"""Entities that a message refers to without a name, by descriptions in memories."""

from collections.abc import Sequence

from memoryd.domain.memories.unasked.descriptions import (
    DESCRIBED,
    KIN,
    NAMED,
    OF_A_KIND,
    PART_OF_NAME,
    Descriptions,
)
from tests.unit.domain.memories.books import book_from

LINES = (
    "- W @Hanna: Hanna is Oskar's wife, a surveyor.",
    "- W @Bruno: Bruno the parrot bites.",
    "- W @Vera-Lindqvist: Vera Lindqvist is the harbour master in Visby.",
    "- W @周明: 周明是李雪的丈夫，在银行上班。",
    "- W @Tax: The tax is due in May.",
)


def descriptions_in(lines: Sequence[str]) -> Descriptions:
    return Descriptions().of(book_from({"memory/2026-10-01.md": lines}))


def entities_in(text: str, lines: Sequence[str] = LINES) -> dict[str, float]:
    return {str(slug): confidence for slug, confidence in descriptions_in(lines).entities_meant_in(text, ()).items()}


def test_kinship_to_the_owner_refers_to_entity() -> None:
    assert entities_in("a present for my missus") == {"hanna": KIN}
    assert entities_in("给老公订生日蛋糕") == {"周明": KIN}


def test_noun_of_a_line_refers_to_its_entity() -> None:
    assert entities_in("who feeds the parrot?") == {"bruno": DESCRIBED}
    assert entities_in("mail the harbour people") == {"vera-lindqvist": DESCRIBED}


def test_part_of_name_takes_precedence_over_description() -> None:
    assert entities_in("Lindqvist called about the harbour") == {"vera-lindqvist": PART_OF_NAME}


def test_name_has_highest_confidence() -> None:
    found = descriptions_in(LINES)
    (slug,) = found.entities_meant_in("Bruno?", [next(iter(found.book.memories.values())).slugs[0]]).items()
    assert slug[1] == NAMED
    assert entities_in("buy milk") == {}


def test_changed_book_has_its_own_descriptions() -> None:
    first = descriptions_in(LINES)
    later = first.of(book_from({"memory/2026-10-02.md": ["- W @Bruno: Bruno the parrot bites."]}))
    assert set(later.entities_meant_in("my wife and the parrot", ())) == {"bruno"}


def test_description_of_several_entities_refers_to_none() -> None:
    lines = [f"- W @{name}: {name} is the neighbour." for name in ("Ada", "Bo", "Cy")]
    assert entities_in("ask the neighbour", lines) == {}


def described(line: str, entity: str, text: str) -> bool:
    return entity.lower() in entities_in(text, [f"- W {line}", f"- W @{entity}: {entity} sings."])


def test_noun_beside_a_name_describes_it_in_any_line() -> None:
    assert described("@Oskar: Oskar's mother Ingrid turns eighty.", "Ingrid", "a cake for Oskar's mum")
    assert described("@Shop: The bookkeeper is Ingrid.", "Ingrid", "mail the bookkeeper")
    assert described("@Ingrid: Ingrid, the other twin, fences.", "Ingrid", "the kids need shoes")
    assert described("@Ingrid: Ingrid is the elder of the twins by an hour.", "Ingrid", "the kids need shoes")
    assert described("@店面: 合伙人是战友老聂，他出钱。", "老聂", "问问合伙人")
    assert not described("@Oskar: Oskar's mother Astrid turns eighty.", "Ingrid", "a cake for Oskar's mum")


def test_group_noun_and_given_name_refer_to_entity() -> None:
    assert described("@Oskar: Oskar's twins are Ingrid and Bo.", "Ingrid", "a present for the twins")
    assert described("@Oskar: Oskar's twins are Ingrid and Bo.", "Bo", "a present for the twins")
    assert described("@Ingrid: The donkey of Ingrid is called Platero.", "Ingrid", "new shoes for Platero")
    assert described("@Ingrid: 七号驴叫小灰。", "Ingrid", "小灰吃什么")
    assert not described("@Ingrid: Ingrid called at noon.", "Ingrid", "noon tea")


def test_chinese_role_precedes_the_name() -> None:
    assert described("@周大爷: 房东周大爷不用微信。", "周大爷", "给房东打个电话")
    assert described("@周大爷: 女儿住在周大爷楼上。", "周大爷", "给女儿打个电话") is False


def test_name_in_lower_case_is_a_noun() -> None:
    lines = [
        "- W @Hens: There are nine hens.",
        "- W @Return: Return is a band.",
        "- W @Tax-Return: The tax return is due in May.",
        "- W @Peter: Peter writes from peter@farm.example.",
    ]
    assert descriptions_in(lines).nouns == {"hens", "tax-return"}
    assert entities_in("give a function two return values", lines) == {"tax-return": DESCRIBED}


def test_parents_refer_to_mother_and_father() -> None:
    assert entities_in("请爸妈吃饭", ["- W @爸: 爸不喝酒。", "- W @妈: 妈吃素。"]).keys() == {"爸", "妈"}


def test_wide_word_has_lower_confidence() -> None:
    lines = ["- W @Olaf: Olaf is Ada's son."]
    assert entities_in("the lad's school called", lines) == {"olaf": KIN}
    assert entities_in("ten names for a baby seal", lines) == {"olaf": OF_A_KIND}


def test_common_word_is_no_description() -> None:
    assert not described("@Ingrid: Ingrid is on the second line.", "Ingrid", "a second lamp")


def test_words_for_entities_are_reported() -> None:
    found = descriptions_in(LINES)
    text = "my missus and the parrot"
    assert {str(slug): words for slug, words in found.words_for(text, found.entities_meant_in(text, ())).items()} == {
        "hanna": "missus",
        "bruno": "parrot",
    }
