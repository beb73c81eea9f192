"""Adding and removing aliases in front matter; the rest of the page stays identical."""

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from memoryd.domain.memories.entities import slug_of
from memoryd.domain.memories.entity_edits import AliasEditError, aliases_in, is_made_for, with_alias, without_alias

names = st.one_of(
    st.sampled_from(["Pete", "王方", "Room 102", "no", "a: b", "# x", "O'Neil", "Smith, John", '"q"', "1", "Zoë", "-"]),
    st.text(st.characters(exclude_categories=("C", "Z"), exclude_characters="[]"), min_size=1, max_size=12),
)
keys = st.lists(
    st.sampled_from(
        [
            "title: The man # said Anna\n",
            "tags: [a, b]\n",
            "note: |\n  two\n  lines\n",
            "# a comment\n",
            "memory: true\n",
        ]
    ),
    unique=True,
    max_size=4,
)
bodies = st.sampled_from(
    ["", "# Peter\n", "\n# Peter\n\nText.\n", "no end", "---\nrule\n", "# Peter\n\n- W @Peter: x\n"]
)


@st.composite
def alias_lists(draw: st.DrawFn) -> str:
    old = draw(st.lists(st.sampled_from(["Old", "'Quoted One'", '"Dr. P"', "王芳"]), unique=True, max_size=3))
    style = draw(st.sampled_from(["none", "flow", "loose", "block", "flat"]))
    if style == "none" or (not old and style in ("block", "flat")):
        return ""
    if style == "flow":
        return f"aliases: [{', '.join(old)}] # his\n"
    if style == "loose":
        return f"aliases: [ {' , '.join(old)}{' ,' if old else ''} ]\n"
    dash = "  - " if style == "block" else "- "
    return "aliases: # his\n" + "".join(f"{dash}{one}  # said\n" for one in old)


@given(alias_lists(), keys, keys, bodies, names, st.booleans())
def test_adding_and_removing_alias_restores_page(
    listed: str, before: list[str], after: list[str], body: str, alias: str, has_front: bool
) -> None:
    others = [one for one in after if one not in before]
    page = f"---\n{''.join(before)}{listed}{''.join(others)}---\n{body}" if has_front else body
    assume(not has_front or before or listed or others)
    assume(slug_of(alias) not in {slug_of(one) for one in ("Old", "Quoted One", "Dr. P", "王芳")})
    merged = with_alias(page, "Peter", alias)
    assert [*map(slug_of, aliases_in(merged))] == [*map(slug_of, (*aliases_in(page), alias))]
    assert without_alias(merged, alias) == page


@pytest.mark.parametrize("listed", ['["# x"] # his', '[Old, "# x"]', '["# x", Old] # his', "[ '# x' ]"])
def test_alias_with_comment_sign_is_removed(listed: str) -> None:
    left = without_alias(f"---\naliases: {listed}\n---\n", "# x")
    assert aliases_in(left) == (("Old",) if "Old" in listed else ())
    assert ("# his" in left) == ("# his" in listed)
    assert "Old" not in listed or left.startswith("---\naliases: [Old]")


@given(names)
def test_page_made_for_an_alias_is_removed_with_it(alias: str) -> None:
    page = with_alias(None, "Peter", alias)
    assert page.endswith("---\n# Peter\n")
    assert aliases_in(page) == (" ".join(alias.split()),)
    assert is_made_for(page, alias)
    assert without_alias(page, alias) == ""


@pytest.mark.parametrize(
    ("page", "expected"),
    [
        ("---\naliases: Old\n---\n", "---\naliases: [Old, Pete]\n---\n"),
        ("---\naliases: Smith, John # one\n---\n", '---\naliases: ["Smith, John", Pete] # one\n---\n'),
        ("---\naliases: # none yet\na: 1\n---\n", "---\naliases: [Pete] # none yet\na: 1\n---\n"),
        ("---\na: 1\naliases: [\n  Old, # first\n  Older\n]\n---\n", None),
        ("---\na: 1\n---\nx", "---\na: 1\naliases:\n  - Pete\n---\nx"),
    ],
)
def test_alias_is_added_in_the_style_of_the_list(page: str, expected: str | None) -> None:
    edited = with_alias(page, "Peter", "Pete")
    assert expected is None or edited == expected
    assert aliases_in(edited)[-1] == "Pete"


@pytest.mark.parametrize(
    "page",
    [
        "---\naliases: {a: b}\n---\n",
        "---\naliases: [Old]\naliases: [Older]\n---\n",
        "---\n{aliases: [Old]}\n---\n",
        "---\naliases: [Old\nb: 1\n---\n",
        "---\naliases: [[Old]]\n---\n",
        "---\naliases: &all [Old]\n---\n",
        f"---\nx: {'[' * 5000}{']' * 5000}\n---\n",
        "---\n" + "aliases: [" + ", ".join(f"a{n}" for n in range(64)) + "]\n---\n",
    ],
)
def test_unsafe_edit_is_refused(page: str) -> None:
    with pytest.raises(AliasEditError):
        with_alias(page, "Peter", "Pete")


def test_comment_stays_when_its_alias_is_removed() -> None:
    page = "---\naliases:\n  - Pete # since school\n  - P\n---\n"
    assert without_alias(page, "PETE") == "---\naliases:\n# since school\n  - P\n---\n"
