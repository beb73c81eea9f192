"""Ids of memories: stable, independent of white space; entities, time and scope are part of them."""

from hypothesis import given
from hypothesis import strategies as st

from memoryd.domain.memories.entities import MAX_SLUG_BYTES, entity_page, slug_of
from memoryd.domain.memories.kinds import memory_id, short_id
from tests.unit.domain.memories.books import line_of

GOLDEN = {
    "- W: The door code is 4711": "6d6ee755-34e7-5194-a952-449407ac5832",
    "- W @Peter: Currently in Marrakech (Nov 27–Dec 1, 2025) for Andy’s birthday.": (
        "0e6a7806-4cce-5c8d-a295-24dfa5f3c362"
    ),
    "- O(c=0.5, at=2025-11, scope=agent:main) @[Two Words] @王芳: 喜欢喝茶": "bd8ab755-678f-5183-be6f-406d8b85f828",
    "- S: Caf\u00e9": "13c84789-c17a-56da-ad75-38987cbe231d",
}


def test_ids_are_stable() -> None:
    assert {text: line_of(text).id for text in GOLDEN} == GOLDEN


def id_of(text: str) -> str:
    return line_of(text).id


def test_id_does_not_depend_on_attributes_and_notation() -> None:
    one = id_of("- O(c=0.5) @Peter: prefers tea")
    same = [
        "* preference(c=0.9, pin) @peter: prefers\n    tea",
        "- O @PETER: prefers \u3000tea ",
        "+ W @Peter @peter: prefers tea",
    ]
    assert {id_of(text) for text in same} == {one}
    assert id_of("- W: Cafe\u0301") == id_of("- W: Caf\u00e9")
    other = ["- O @Anna: prefers tea", "- O: prefers tea", "- O(at=2025-11) @Peter: prefers tea"]
    other += ["- O(scope=global) @Peter: prefers tea", "- O @Peter: prefers teas", "- O @Peter: Prefers tea"]
    assert len({one, *map(id_of, other)}) == len(other) + 1


@given(
    st.text(max_size=9),
    st.lists(st.text(max_size=4).map(slug_of), max_size=3),
    st.text(max_size=9),
    st.text(max_size=9),
)
def test_id_separates_its_parts(scope: str, slugs: list[str], at: str, text: str) -> None:
    slug_list = [slug_of(one) for one in slugs]
    one = memory_id(scope=scope, slugs=slug_list, at=at, text=text)
    assert one == memory_id(scope=scope, slugs=reversed([*slug_list, *slug_list]), at=at, text=f" {text}\n")
    assert one.startswith(short_id(one))
    moved = memory_id(scope=scope + at, slugs=slug_list, at="", text=text)
    assert (one == moved) == (at == "")


@given(st.text(min_size=1, max_size=300))
def test_slug_is_a_safe_file_name_and_idempotent(name: str) -> None:
    slug = slug_of(name)
    assert slug_of(slug) == slug
    assert not set("/\\\0\n") & set(slug)
    assert not slug.startswith((".", "#", "~"))
    assert len(slug.encode()) <= MAX_SLUG_BYTES
    assert entity_page(slug) == f"bank/entities/{slug}.md"


def test_slugs_ignore_case_and_distinguish_similar_names() -> None:
    assert slug_of("The  Castle") == slug_of("the-castle") == slug_of("The-Castle") == "the-castle"
    assert slug_of("王 芳") == "王-芳"
    distinct = [
        "Room 101",
        "Room 102",
        "Level -1",
        "Level 1",
        "Weiß",
        "Weiss",
        "a/b",
        "a-b",
        "José",
        "Jose",
        "C",
        "C++",
    ]
    assert len({slug_of(name) for name in distinct}) == len(distinct)
    assert len({slug_of("x" * 200 + end) for end in "abc"}) == 3
