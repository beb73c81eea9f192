"""Items with a scope in their head are hidden with all their lines; a malformed scope is for the owner only."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoryd.domain.documents import RelativePath
from memoryd.domain.memories.entries import ChunkSettings, chunk_entries
from memoryd.domain.memories.kinds import Kind, Visibility
from memoryd.domain.memories.reflect.proposals import inferred_lines, sentences_of
from memoryd.domain.memories.sections import UNREAD, memory_sections, scoped_spans
from memoryd.domain.memories.visibility import hidden_lines, visible_text
from memoryd.domain.text.lines import encode_padded

LOG = RelativePath("memory/2025-11-27.md")
WORLD = RelativePath("bank/world.md")
OTHER = Visibility("other")
HEADS = [
    "- W(scope=agent:main) @Mona leak no colon",
    "- W(scope=agent:main, c=7) @Mona: leak",
    "- W(scope=agent:main, scope=agent:main) @Mona: leak",
    "- W(scope:agent:main) @Mona: leak",
    "- W (Scope = agent:main) @Mona: leak",
    "- W（scope＝agent:main） @Mona: leak",
    "- W[scope=agent:main] @Mona: leak",
    "- X(scope=agent:main) @Mona: leak",
    "- @Mona (scope=agent:main): leak",
    "- @[Mona Lisa Berg] W(scope=agent:main): leak",
    "- The code of the door (scope=agent:main) is leak",
    "- W(c=0.9,\n  scope=agent:main) @Mona: leak",
    "* W(scope=agent:main) @Mona leak",
    "1. W(scope=agent:main) @Mona: leak",
    "12) W(scope=agent:main) @Mona: leak",
    "- [ ] W(scope=agent:main) @Mona: leak",
    "- [x] W(scope=agent:main) @Mona: leak",
    "- **W**(scope=agent:main) @Mona: leak",
    "- `W(scope=agent:main)` @Mona: leak",
    "> - W(scope=agent:main) @Mona leak",
    "- groceries\n  - W(scope=agent:main) @Mona leak",
    "W(scope=agent:main) @Mona: leak",
    "-W(scope=agent:main) @Mona: leak",
]
MEANT = [
    "- W(scope=agent:main) @Mona: first\nleak",
    "- W(scope=agent:main) @Mona: first\n\n  leak",
    "- W(scope=agent:main) @Mona: first\n\n\n  second\n\n  leak",
    "- W(scope=agent:main) @Mona: first\n\n  - leak",
    "- W(scope=agent:main) @Mona: first\n\n  - W: leak",
    "- W(scope=agent:main) @Mona: first\n  ```\n  leak\n  ```",
    "- W @Mona: first\n  - W(scope=agent:main) @Mona: leak",
    "> - W(scope=agent:main) @Mona: first\n> leak",
    "- W(scope=agent:main) @Mona: first\n  second\nleak",
]
VISIBLE = [
    "- W @Mona: leak",
    "- W(scope=global) @Mona: leak",
    "- W(scope=agent:other) @Mona: leak",
    "The scope of it is leak",
    "- The scope of the work is clear: leak",
    "- We talked at length about it (the scope: small) and leak",
    "- fix(scope): leak",
    "- W(scope=agent:main) @Mona: first\n- leak",
    "- W(scope=agent:main) @Mona: first\n\nleak",
    "- W(scope=agent:main) @Mona: first\n### leak",
    "The new grant (scope=agent:read) of the telescope (leak)",
    "def f(scope=1): leak",
    "f(scope=1) is leak",
]


def visible_lines(text: str, path: RelativePath, visibility: Visibility) -> str:
    hidden = hidden_lines(encode_padded(text), path, visibility)
    return "\n".join(line for number, line in enumerate(text.split("\n"), start=1) if number not in hidden)


@pytest.mark.parametrize("text", [*HEADS, *MEANT])
@pytest.mark.parametrize("place", ["# Log\n\n{}\n", "# Log\n\n## Retain\n\n{}\n\n## Later\n\nplain\n"])
@pytest.mark.parametrize("path", [LOG, WORLD, RelativePath("bank/entities/Mona.md")])
def test_item_for_other_agent_is_hidden(text: str, place: str, path: RelativePath) -> None:
    note = place.format(text)
    assert "leak" not in visible_lines(note, path, OTHER)
    assert "leak" in visible_lines(note, path, Visibility("main", is_owner=True))


@pytest.mark.parametrize("text", [*HEADS, *MEANT])
@pytest.mark.parametrize("path", [LOG, WORLD])
def test_item_for_other_agent_is_in_no_visible_chunk(text: str, path: RelativePath) -> None:
    note = f"# Log\n\nbefore\n\n## Retain\n\n{text}\n\n## Later\n\nplain\n"
    entries = chunk_entries(note, ChunkSettings(400, 80), path)
    lines = memory_sections(encode_padded(note), path).lines
    scopes = {one.line.id: one.line.attributes.scope for one in lines}
    for entry in entries:
        scope = scopes.get(entry.memory, "") if entry.memory else entry.scope
        assert "leak" not in entry.text or not OTHER.admits(scope)
        assert visible_text(entry.text, path, Visibility("x", is_owner=True)).count("\n") == entry.text.count("\n")
    assert any("leak" in entry.text for entry in entries)
    assert any("plain" in entry.text and not entry.scope for entry in entries)


@pytest.mark.parametrize("text", VISIBLE)
def test_item_for_all_is_visible(text: str) -> None:
    assert "leak" in visible_lines(f"# Log\n\n{text}\n", LOG, OTHER)
    assert "leak" in visible_lines(f"# Log\n\n## Retain\n\n{text}\n", LOG, OTHER)


def test_agent_sees_its_own_well_formed_items() -> None:
    note = "- W(scope=agent:main) @Mona: first\n\n  and more\n- W(scope=agent:main, c=7) @Mona: broken\n"
    assert visible_lines(note, WORLD, Visibility("main")) == "- W(scope=agent:main) @Mona: first\n\n  and more\n"


def test_bullet_with_malformed_scope_is_no_memory() -> None:
    sections = memory_sections(encode_padded("- X(scope=agent:main) @Mona: leak\n- the lamp is on\n"), WORLD)
    assert [one.line.text for one in sections.lines] == ["the lamp is on"]
    assert [one.line for one in sections.misses] == [1]


PIECES = ["- W(scope=agent:main): a", "1. W(scope=agent:x) b", "  more", "", "lazy", "- W: c", "  - O(scope=global): d"]


@given(st.lists(st.sampled_from([*PIECES, "## Retain", "> - (scope=agent:y) e", "\t- f", "```"]), max_size=14))
def test_spans_are_complete_lines_in_order(lines: list[str]) -> None:
    text = "\n".join(lines)
    data = encode_padded(text)
    spans = scoped_spans(data, default=Kind.WORLD)
    for before, after in itertools.pairwise(spans):
        assert before.end <= after.start
        assert before.last_line < after.first_line
    starts = [sum(len(line) + 1 for line in lines[:at]) for at in range(len(lines) + 1)]
    for span in spans:
        assert span.start == starts[span.first_line - 1]
        assert span.end == min(starts[span.last_line], len(text))
        assert span.scope
    for path in (LOG, WORLD):
        entries = chunk_entries(text, ChunkSettings(400, 80), path)
        hidden = hidden_lines(data, path, OTHER)
        for entry in entries:
            inside = {*range(entry.start_line, entry.end_line + 1)} & hidden
            kept = [at for at in inside if lines[at - 1].strip()]
            assert not kept or entry.memory or not OTHER.admits(entry.scope), entry


@pytest.mark.parametrize(
    "text",
    [
        "(" * 100_000 + "scope",
        "scope=" * 20_000,
        " " * 100_000 + "scope",
        "- (scope " * 12_000,
        "> " * 50_000 + "scope=",
    ],
)
def test_hostile_lines_are_parsed_in_linear_time(text: str) -> None:
    """Each would take minutes with a backtracking pattern."""
    assert len(scoped_spans(encode_padded(text))) <= 1
    assert scoped_spans(encode_padded(text.replace("=", "=\n"))) is not None


def test_unreadable_scope_is_for_owner_only() -> None:
    assert not Visibility("main", "main").admits(UNREAD)
    assert Visibility("main", is_owner=True).admits(UNREAD)


@pytest.mark.parametrize("text", [*HEADS, *MEANT])
def test_item_with_scope_is_not_proposed(text: str) -> None:
    secret = "Mona Berg is allergic to walnuts leak."
    note = f"# Log\n\n{text.replace('leak', secret)}\n\nMona Berg is the owner of the boat.\n"
    assert not [sentence for sentence in sentences_of(note) if "leak" in sentence]
    assert [line.text for line in inferred_lines(note, lambda _: ["Mona Berg"])] == [
        "Mona Berg is the owner of the boat."
    ]
