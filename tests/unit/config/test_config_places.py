"""The position of each key in the text of a file."""

import json

from hypothesis import given
from hypothesis import strategies as st

from memoryd.config.loading.raw import DEPTH_MAX, Place, places

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda below: st.lists(below, max_size=4) | st.dictionaries(st.text(max_size=6), below, max_size=4),
    max_leaves=20,
)


def test_keys_and_items_have_places_whatever_comments_and_spelling() -> None:
    text = "{ // a: no key\n  a: { 'b c': [1, { d: ',}' }], /* e: */ },\r\n  \"\\u0066\": -.5,\n}"
    found = places(text).of_keys
    assert found == {
        ("a",): Place(2, 3),
        ("a", "b c"): Place(2, 8),
        ("a", "b c", 0): Place(2, 16),
        ("a", "b c", 1): Place(2, 19),
        ("a", "b c", 1, "d"): Place(2, 21),
        ("f",): Place(3, 3),
    }


def test_sentence_is_placed_by_its_key_or_the_nearest_one_above() -> None:
    found = places("{\n agents: {\n  list: [{\n   id: 'a' }] } }")
    assert found.of_sentence("agents.list[0].id: a is used before") == Place(4, 4)
    assert found.of_sentence("agents.list[0].workspace: must not be empty") == Place(3, 10)
    assert found.of_sentence("agents.defaults has no effect") == Place(2, 2)
    assert found.of_sentence("MEMORYD_OFFLINE: must be 1 or 0") is None
    assert found.of_sentence("(nothing)") is None
    assert found.near(("agents", "list", 0, "sockets", 3)) == Place(3, 10)


def test_every_repeated_key_is_found() -> None:
    assert places("{a: 1, b: {c: 1,\n c: 2}, a: 3}").repeated == ((("b", "c"), Place(2, 2)), (("a",), Place(2, 9)))


def _paths(value: object, here: tuple[int | str, ...] = ()) -> set[tuple[int | str, ...]]:
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return {path for key, below in pairs for path in ((*here, key), *_paths(below, (*here, key)))}


@given(VALUES, st.sampled_from([None, 1]))
def test_every_key_of_any_json_has_a_place(value: object, indent: int | None) -> None:
    assert places(json.dumps(value, indent=indent)).of_keys.keys() == _paths(value)


@given(st.text(alphabet="{}[]:,'\"/*\\ab \n", max_size=40))
def test_invalid_json_has_places_within_its_lines(text: str) -> None:
    lines = text.count("\n") + 1
    assert all(1 <= place.line <= lines for place in places(text).of_keys.values())


def test_deep_nesting_is_followed_to_a_limit() -> None:
    """Naming a place takes time proportional to its depth."""
    found = places("[" * 100_000).of_keys
    assert 0 < len(found) <= DEPTH_MAX
