import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoryd.domain.documents import original_of
from memoryd.domain.text.sanitizing import Flag, path_flags, text_flags


@pytest.mark.parametrize(
    "text",
    [
        "zero\u200bwidth",
        "right\u202eto left",
        "isolate\u2066",
        "tag \U000e0041\U000e0042",
        "soft\u00adhyphen",
        "word\u2060joiner",
        "inner\ufeffmark",
    ],
)
def test_invisible_characters_are_flagged(text: str) -> None:
    assert text_flags(text) == (Flag.INVISIBLE,)


@pytest.mark.parametrize(
    "text", ["", "plain", "日記 with 文字", "👩\u200d💻 works", "می\u200cخواهم", "tab\tand\nline", "\ufeff# Title"]
)
def test_ordinary_text_is_not_flagged(text: str) -> None:
    assert text_flags(text) == ()


@pytest.mark.parametrize("text", ["a\n\nSource: x.md#L1", "Source: memory/b.md", "  Source: y"])
def test_line_that_imitates_the_footer_is_flagged(text: str) -> None:
    assert Flag.SOURCE_LINE in text_flags(text)


def test_mention_of_a_source_is_not_flagged() -> None:
    assert text_flags("The Source: of the river\nSource:\nOpen Source: yes") == ()


@given(st.text())
def test_any_text_gets_known_flags(text: str) -> None:
    assert set(text_flags(text)) <= set(Flag)


@pytest.mark.parametrize(
    "mark",
    [
        ".sync-conflict-20260101-120000-ABCDEFG",  # Syncthing
        " (Ada's conflicted copy 2026-01-01)",  # Dropbox
        " (Ada's conflicted copy 2026-01-01 (1))",
        " (Case Conflict 1)",
        " (conflicted copy 2026-11-02 123456)",  # ownCloud
        " (conflicted copy ada 2026-11-02 123456)",  # Nextcloud
        " (Conflicted copy laptop 202611021234)",  # Obsidian Sync
        " (SFConflict ada@example.org 2026-01-01-01-02-03)",  # Seafile
        "_conflict-20260101-120000",  # ownCloud before 2.6
    ],
)
def test_conflict_copy_is_recognised_by_name(mark: str) -> None:
    for name in ("memory/x", "memory/2026-11-02", "MEMORY", "memory/plan (1)", "ana:memory/x"):
        copy = f"{name}{mark}.md"
        assert original_of(copy) == f"{name}.md"
        assert path_flags(copy) == (Flag.CONFLICT,)


def test_copy_of_a_copy_has_the_same_original() -> None:
    copy = "memory/x (conflicted copy 2026-01-01 120000).sync-conflict-20260102-080000-ABCDEFG.md"
    assert original_of(copy) == "memory/x.md"


@pytest.mark.parametrize(
    "name", ["memory/conflict.md", "memory/x 2.md", "memory/x-laptop.md", "memory/of conflicted copy.md", "x (1).md"]
)
def test_ordinary_name_is_no_copy(name: str) -> None:
    assert original_of(name) == name
    assert path_flags(name) == ()
