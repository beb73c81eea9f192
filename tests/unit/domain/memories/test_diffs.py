"""Diffs of one file: application to the original, and to changed texts if unambiguous."""

from time import process_time

from hypothesis import example, given
from hypothesis import strategies as st

from memoryd.domain.memories.changes.diffs import apply_diff, changed_lines, is_applied, rebase_diff, unified_diff

LINES = st.lists(
    st.sampled_from(["a", "b", "", "@@ -1 +1 @@", "--- a", "+x", "c\rc", "d\x0c", "\\ No newline at end of file"])
)
TEXTS = st.builds(lambda lines, end: "\n".join(lines) + end, LINES, st.sampled_from(["", "\n"]))


@given(before=TEXTS, after=TEXTS)
def test_diff_applies_to_its_original(before: str, after: str) -> None:
    diff = unified_diff("MEMORY.md", before, after)
    assert (diff == "") == (before == after)
    if diff:
        found = apply_diff(before, diff)
        assert found == after


@given(before=TEXTS, after=TEXTS, grown=TEXTS)
@example(before="d\x0c", after="", grown="d\x0c\n")
def test_diff_applies_to_other_text_completely_or_not_at_all(before: str, after: str, grown: str) -> None:
    diff = unified_diff("MEMORY.md", before, after)
    found = apply_diff(grown, diff) if diff else None
    if found is not None:
        # lines outside the diff are still there, in order
        rest = iter(lines_of(found))
        kept = [line for line in lines_of(grown) if line not in lines_of(before)]
        assert all(line in rest for line in kept)


def lines_of(text: str) -> list[str]:
    """Split as a diff does; unlike `str.splitlines`, a form feed is no line end."""
    return text.removesuffix("\n").split("\n")


def test_diff_applies_to_moved_lines() -> None:
    before = "# Core\n\n- Anna sells honey\n- the port is 1\n- end\n"
    diff = unified_diff("MEMORY.md", before, before.replace("port is 1", "port is 2"))
    assert apply_diff("a line above\n" + before, diff) == "a line above\n" + before.replace("port is 1", "port is 2")


def test_ambiguous_diff_is_not_applied() -> None:
    before = "- the port is 1\n"
    diff = unified_diff("MEMORY.md", before, "- the port is 2\n")
    assert apply_diff(f"x\n{before}y\n{before}", diff) is None
    assert apply_diff(f"x\n{before}", diff) == "x\n- the port is 2\n"
    assert apply_diff("- the port is 3\n", diff) is None


def test_diff_creates_a_file() -> None:
    diff = unified_diff("MEMORY.md", "", "# Core\n")
    assert diff.startswith("--- /dev/null\n+++ b/MEMORY.md\n")
    assert apply_diff("", diff) == "# Core\n"
    assert apply_diff("somebody wrote it meanwhile\n", diff) is None


def test_changed_lines_do_not_depend_on_position() -> None:
    one = unified_diff("m", "a\nb\n", "a\nb\nc\n")
    other = unified_diff("m", "z\na\nb\n", "z\na\nb\nc\n")
    assert one != other
    assert changed_lines(one) == changed_lines(other) == "+c\n"


CORE = "# Core\n\n- a\n- b\n"


def test_diff_is_rebased_over_a_nearby_change() -> None:
    more = unified_diff("m", CORE, f"{CORE}- c\n")
    found = rebase_diff(CORE, CORE.replace("- b", "- B"), more)
    assert found is not None
    assert apply_diff(CORE.replace("- b", "- B"), found) == "# Core\n\n- a\n- B\n- c\n"
    assert changed_lines(found) == changed_lines(more)


def test_diff_of_long_note_is_rebased_fast() -> None:
    note = "".join(f"- line {number}\n\n" for number in range(10_000))
    edit = unified_diff("m", note, note.replace("- line 5000\n", "- another\n"))
    began = process_time()
    found = rebase_diff(note, f"{note}- c\n", edit)
    assert process_time() - began < 5
    assert found is not None
    assert changed_lines(found) == changed_lines(edit)


def test_rebased_addition_follows_earlier_one() -> None:
    more = unified_diff("m", CORE, f"{CORE}- d\n")
    found = rebase_diff(CORE, f"{CORE}- c\n", more)
    assert found is not None
    assert apply_diff(f"{CORE}- c\n", found) == f"{CORE}- c\n- d\n"


def test_conflicting_diff_is_not_rebased() -> None:
    assert rebase_diff(CORE, CORE.replace("- b", "- B"), unified_diff("m", CORE, CORE.replace("- b", "- z"))) is None


@given(before=TEXTS, after=TEXTS)
def test_applied_diff_is_recognised(before: str, after: str) -> None:
    diff = unified_diff("m", before, after)
    assert not diff or not after or is_applied(after, diff)


@given(before=TEXTS, first=TEXTS, second=TEXTS)
def test_rebased_diff_applies_to_new_text(before: str, first: str, second: str) -> None:
    diff = unified_diff("m", before, second)
    found = rebase_diff(before, first, diff) if diff else None
    assert not found or apply_diff(first, found) is not None
