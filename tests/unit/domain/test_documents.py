import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoryd.domain.documents import is_document_name, is_hidden, is_utf8_name, printable_name


@pytest.mark.parametrize(
    "name", ["MEMORY.md", "a.MD", "2026-10-18.md", "日记.md", "a b.md", "-x.md", "x.sync-conflict-1.md"]
)
def test_markdown_file_is_document(name: str) -> None:
    assert is_document_name(name)


@pytest.mark.parametrize(
    "name",
    [
        ".md",
        ".hidden.md",
        ".#MEMORY.md",
        ".MEMORY.md.swp",
        ".syncthing.a.md.tmp",
        ".a.md.Ab12Cd",
        "#a.md#",
        "#a.md",
        "a.md~",
        "4913",
        "a.md.tmp",
        "sedAbC123",
        "a.txt",
        "md",
        "",
    ],
)
def test_editor_leftovers_and_other_files_are_no_documents(name: str) -> None:
    assert not is_document_name(name)


def test_tool_folders_are_hidden() -> None:
    assert is_hidden(".git")
    assert is_hidden(".memory")
    assert not is_hidden("memory")


@given(st.binary(min_size=1, max_size=40))
def test_any_name_can_be_shown(raw: bytes) -> None:
    name = raw.decode("utf-8", "surrogateescape")
    printable_name(name).encode()
    assert is_utf8_name(name) == (raw.decode("utf-8", "replace").encode() == raw)


def test_invalid_utf8_is_shown_as_escapes() -> None:
    assert printable_name("caf\udce9.md") == "caf\\xe9.md"
