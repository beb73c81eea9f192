"""The retained line: parsing, rendering, and malformed lines."""

import html

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoryd.domain.memories.kinds import Kind, Network, ShortId, is_belief, kind_named, network_of
from memoryd.domain.memories.line import MAX_TEXT, Attributes, Provenance, RetainedLine, parse_line, render
from memoryd.domain.memories.malformed_lines import MalformedLine
from tests.unit.domain.memories.books import line_of


def test_examples_of_the_reference_parse() -> None:
    peter = line_of("- W @Peter: Currently in Marrakech (Nov 27–Dec 1, 2025) for Andy’s birthday.")
    assert (peter.kind, peter.network, peter.entities) == (Kind.WORLD, Network.WORLD, ("Peter",))
    assert peter.text == "Currently in Marrakech (Nov 27–Dec 1, 2025) for Andy’s birthday."
    assert peter.attributes == Attributes()
    crash = line_of(
        "- B @warelay: I fixed the Baileys WS crash by wrapping connection.update handlers in try/catch "
        "(see memory/2025-11-27.md)."
    )
    assert (crash.kind, crash.network, crash.slugs) == (Kind.EXPERIENCE, Network.EXPERIENCE, ("warelay",))
    assert crash.text.endswith("in try/catch (see memory/2025-11-27.md).")
    replies = line_of(
        "- O(c=0.95) @Peter: Prefers concise replies (&lt;1500 chars) on WhatsApp; long content goes into files."
    )
    assert (replies.kind, replies.attributes.confidence, replies.entities) == (Kind.OPINION, 0.95, ("Peter",))
    assert replies.text.startswith("Prefers concise replies (&lt;1500 chars)")
    assert html.unescape(replies.text) != replies.text


@pytest.mark.parametrize(
    ("written", "canonical"),
    [
        ("* w  @王芳：喜欢喝茶", "- W @王芳: 喜欢喝茶"),
        ("+ Opinion （ C = .9 ，pin ） @[Two  Words] @The-Castle : x", "- O(c=0.9, pin) @[Two Words] @The-Castle: x"),
        ("- project_state(at=2025-11): open", "- project_state(at=2025-11): open"),
        (
            "- O(tags=a b, tags=c, supports=1A2B3C4D, i=1, from=USER): x",
            "- O(i=1, supports=1a2b3c4d, from=user, tags=a b c): x",
        ),
        ("- W(at=2025-11-27 .. 2025-12-01): x", "- W(at=2025-11-27..2025-12-01): x"),
        ("- W @a, @b、＠c: x", "- W @a @b @c: x"),
        ("- W @张三@李四：在一起", "- W @张三 @李四: 在一起"),
        ("- W(scope=agent:main:cron): x", "- W(scope=agent:main:cron): x"),
        ("- W:\n   the first\n\n\tthe second  ", "- W: the first\n    the second"),
        ("S: no mark", "- S: no mark"),
        ("- W: @Peter: is text", "- W: @Peter: is text"),
        ("- LESSON(): x", "- lesson: x"),
    ],
)
def test_line_has_one_canonical_form(written: str, canonical: str) -> None:
    assert render(line_of(written)) == canonical
    assert line_of(canonical) == line_of(written)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("- 0(c=.9): x", "did you mean O?"),
        ("- 0 @Peter: x", "did you mean O?"),
        ("- Opnion @Peter: x", "did you mean opinion?"),
        ("- experiense: x", "did you mean experience?"),
        ("- O(c=1.9): x", "c is a number from 0 to 1"),
        ("- O(c=ninety): x", "is no number from 0 to 1"),
        ("- O(conf=0.9): x", "did you mean c?"),
        ("- W(form=user): x", "did you mean from?"),
        ("- W(at=2025-02-30): x", "at is a day"),
        ("- W(at=2025-12-01..2025-11-27): x", "ends before it begins"),
        ("- W(supports=12): x", "first eight signs"),
        ("- W(c=.5, c=.6): x", "c occurs twice"),
        ("- W(pin=yes): x", "pin has no value"),
        ("- W(c): x", "c has no value"),
        ("- W(from=usr): x", "did you mean user?"),
        ("- W @Peter likes tea", "a colon is missing"),
        ("- W likes tea", "a colon is missing"),
        ("- W Peter: likes tea", "as @Name"),
        ("- O(c=.9 @Peter: x", "the bracket is not closed"),
        ("- O[c=.9]: x", "round brackets"),
        ("- W:", "no text"),
        ("- W @Peter:   \n", "no text"),
    ],
)
def test_malformed_line_has_a_reason(text: str, reason: str) -> None:
    found = parse_line(text)
    assert isinstance(found, MalformedLine)
    assert reason in found.reason


@pytest.mark.parametrize(
    "text",
    [
        "",
        "- ",
        "- plain words",
        "- World peace is far",
        "- [ ] task",
        "- Peter: likes tea",
        "# W",
        "- note to self",
        "---",
    ],
)
def test_prose_is_no_retained_line(text: str) -> None:
    assert parse_line(text) is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("- plain: words", RetainedLine(Kind.OPINION, "plain: words")),
        ("- (c=.9) @Peter: x", RetainedLine(Kind.OPINION, "x", ("Peter",), Attributes(confidence=0.9))),
        ("- @王芳：喜欢茶", RetainedLine(Kind.OPINION, "喜欢茶", ("王芳",))),
        ("- W: x", RetainedLine(Kind.WORLD, "x")),
        ("- (see below) x: y", RetainedLine(Kind.OPINION, "(see below) x: y")),
        ("- facts: x", RetainedLine(Kind.OPINION, "facts: x")),
    ],
)
def test_page_supplies_default_kind(text: str, expected: RetainedLine) -> None:
    assert parse_line(text, default_kind=Kind.OPINION) == expected


def test_rule_and_malformed_line_of_page_are_no_memories() -> None:
    assert parse_line("* * *", default_kind=Kind.WORLD) is None
    assert parse_line("-", default_kind=Kind.WORLD) is None
    assert isinstance(parse_line("- Opnion @Peter: x", default_kind=Kind.WORLD), MalformedLine)
    assert isinstance(parse_line("- (c=7): x", default_kind=Kind.WORLD), MalformedLine)


TEXTS = st.text() | st.text(
    st.sampled_from("a:@[]()（）：,，=- \n\r\t`~<!-#*王芳\u202e\ud800\x00\u2028\u3000"), max_size=60
)
WORDS = st.text(
    st.characters(exclude_characters=",，()（）=＝;+", exclude_categories=["Z", "C"]), min_size=1, max_size=8
)
IDS = st.lists(st.from_regex(r"[0-9a-f]{8}", fullmatch=True).map(ShortId), max_size=3).map(tuple)
SHARES = st.none() | st.floats(0, 1)
ATTRIBUTES = st.builds(
    Attributes,
    confidence=SHARES,
    importance=SHARES,
    at=st.sampled_from(["", "2025-11", "2025-11-27", "2025-11-27..2025-12-01", "2025-01..2025-03"]),
    scope=st.just("") | WORDS,
    supports=IDS,
    contradicts=IDS,
    supersedes=IDS,
    provenance=st.none() | st.sampled_from(Provenance),
    tags=st.lists(WORDS, max_size=3).map(tuple),
    is_pinned=st.booleans(),
)
NAMES = st.text(st.characters(exclude_characters="[]［］"), min_size=1, max_size=12).filter(
    lambda name: bool(name.strip())
)
LINES = st.builds(
    RetainedLine,
    st.sampled_from(Kind),
    TEXTS.filter(lambda text: bool(text.strip())),
    st.lists(NAMES, max_size=3).map(tuple),
    ATTRIBUTES,
)


@given(LINES)
def test_rendered_line_parses(line: RetainedLine) -> None:
    assert parse_line(render(line)) == line
    assert line_of(render(line)).id == line.id


def test_line_with_maximum_attributes_round_trips() -> None:
    ids = tuple(ShortId(f"{at:08x}") for at in range(64))
    maximum = Attributes(
        0.123456789,
        1e-7,
        "2025-01-01..2025-12-31",
        "x" * 200,
        ids,
        ids,
        ids,
        Provenance.IMPORT,
        ("y" * 15,) * 64,
        beside=ids,
    )
    line = RetainedLine(Kind.PROJECT_STATE, "x", tuple(f"{at:0200}" for at in range(64)), maximum)
    assert parse_line(render(line)) == line


@given(TEXTS)
def test_any_text_parses_and_renders(text: str) -> None:
    for kind in (None, Kind.WORLD):
        found = parse_line(text, default_kind=kind)
        if isinstance(found, RetainedLine):
            assert parse_line(render(found)) == found


@given(LINES)
def test_rendered_memory_opens_no_fence_or_comment(line: RetainedLine) -> None:
    first, *rest = render(line).split("\n")
    assert first.startswith("- ")
    assert all(one.startswith("    ") and not one.strip().startswith(("```", "~~~", "<!--")) for one in rest)


def test_text_up_to_maximum_length_is_one_memory() -> None:
    line = RetainedLine(Kind.WORLD, ("字 and words: " * 8_000)[:MAX_TEXT])
    assert parse_line(render(line)) == line
    for kind in (None, Kind.WORLD):
        longer = parse_line(f"- W @Peter: {'字' * (MAX_TEXT + 1)}", default_kind=kind)
        assert isinstance(longer, MalformedLine)
        assert "at most" in longer.reason
    assert isinstance(parse_line(f"- plain {'字' * MAX_TEXT}", default_kind=Kind.WORLD), MalformedLine)


@pytest.mark.parametrize(
    "invalid",
    [
        {"confidence": 1.5},
        {"importance": float("nan")},
        {"at": "2025"},
        {"at": "2025-13"},
        {"scope": "two words"},
        {"tags": ("a,b",)},
        {"tags": ("",)},
        {"tags": ("x" * 200,) * 6},
        {"supports": (ShortId("xyz"),)},
    ],
)
def test_invalid_attribute_is_refused(invalid: dict[str, object]) -> None:
    with pytest.raises(ValueError):
        Attributes(**invalid)  # type: ignore[arg-type]  # each is wrong in its value


@pytest.mark.parametrize("entities", [("",), (" ",), ("a]b",), ("x" * 201,), ("a",) * 65])
def test_invalid_entity_is_refused(entities: tuple[str, ...]) -> None:
    with pytest.raises(ValueError):
        RetainedLine(Kind.WORLD, "x", entities)


def test_kinds_have_letters_networks_and_importance() -> None:
    assert [kind_named(letter) for letter in "WbOs"] == [Kind.WORLD, Kind.EXPERIENCE, Kind.OPINION, Kind.OBSERVATION]
    assert kind_named("Project_State") is Kind.PROJECT_STATE
    assert kind_named("x") is None
    assert {kind: network_of(kind) for kind in (Kind.ENTITY, Kind.LESSON, Kind.PREFERENCE, Kind.NOTE)} == {
        Kind.ENTITY: Network.WORLD,
        Kind.LESSON: Network.EXPERIENCE,
        Kind.PREFERENCE: Network.OPINION,
        Kind.NOTE: Network.OBSERVATION,
    }
    assert [kind for kind in Kind if is_belief(kind)] == [Kind.OPINION, Kind.PREFERENCE]
    assert [RetainedLine(kind, "x").importance for kind in (Kind.ENTITY, Kind.SESSION, Kind.NOTE)] == [0.9, 0.4, 0.5]
    assert RetainedLine(Kind.ENTITY, "x", (), Attributes(importance=0.1)).importance == 0.1


PIECES = [
    "@",
    "[",
    "W",
    "O(",
    "*",
    "- ",
    "-",
    "：",
    ":",
    "`",
    "\u0301",
    "(",
    "=",
    ",",
    "c=1,",
    "@a ",
    "@[",
    " ",
    "\n",
    "\n ",
    "\t",
]


@pytest.mark.parametrize("piece", [*PIECES, "a", "0", "王", "\ud800", "<!--", "pin,", "tags=a ", "）", "_"])
def test_hostile_text_is_parsed_in_linear_time(piece: str) -> None:
    for head in ("- ", "- W", "- W ", "- W @", "- W @[", "- W(", "- O(c=", "- (", "- @", "- W @a ", "- W: "):
        text = (head + piece * 100_000)[:100_000]
        for kind in (None, Kind.WORLD):
            found = parse_line(text, default_kind=kind)
            assert not isinstance(found, MalformedLine) or len(found.text) <= 200
