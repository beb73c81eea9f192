"""The table of indexed, left-out and failed files."""

from msgspec.structs import replace

from memoryd.domain.documents import FileStat, RelativePath
from memoryd.domain.syncplan import IndexedFile
from memoryd.index.state import FileTable

A, B = RelativePath("memory/a.md"), RelativePath("memory/b.md")


def known(inode: int = 1) -> IndexedFile:
    return IndexedFile(FileStat(1, inode, 10, 5, 5), 6)


def test_file_is_indexed_or_left_out() -> None:
    table = FileTable()
    table.put(A, known())
    table.forget([A])
    table.leave_out(A, known(), "it says so")
    assert table.knows(A)
    assert not table.indexed
    assert table.has_left_out
    assert table.reasons == {A: "it says so"}
    table.put(A, known())
    assert table.indexed == {A: known()}
    assert not table.has_left_out
    assert not table.reasons


def test_unchanged_file_stays_what_it_was() -> None:
    table = FileTable()
    table.put(A, known())
    table.leave_out(B, known(), "it says so")
    for path in (A, B):
        table.fail(path, "no permission", now=1)
        table.touch(path, known(2))
    assert table.indexed == {A: known(2)}
    assert table.view(is_forced=False) == {A: known(2), B: known(2)}
    assert table.reasons == {B: "it says so"}


def test_every_file_is_stale_when_forced() -> None:
    table = FileTable()
    table.put(A, known())
    table.leave_out(B, known(), "it says so")
    assert all(file.is_stale for file in table.view(is_forced=True).values())
    assert not any(file.is_stale for file in table.view(is_forced=False).values())


def test_indexed_file_is_renamed() -> None:
    table = FileTable()
    table.put(A, known())
    table.rename(A, B, known(2))
    assert table.indexed == {B: known(2)}
    assert not table.knows(A)


def test_left_out_file_is_renamed_unless_stale() -> None:
    for is_same in (True, False):
        table = FileTable()
        table.leave_out(A, known(), "it says so")
        table.rename(A, B, replace(known(), is_stale=not is_same))
        assert table.knows(B) is is_same
        assert not table.knows(A)


def test_failure_keeps_its_start_until_the_file_is_gone() -> None:
    table = FileTable()
    assert table.fail(A, "no permission", now=1) == 1
    assert table.fail(A, "broken disk", now=5) == 1
    assert table.reasons == {A: "broken disk"}
    table.keep_failures([A])
    assert table.fail(A, "broken disk", now=6) == 1
    table.keep_failures([B])
    assert not table.reasons
    assert table.fail(A, "broken disk", now=7) == 7


def test_hold_comes_before_other_reasons_and_ends_with_release() -> None:
    table = FileTable()
    table.leave_out(A, known(), "it says so")
    table.hold(A, "nobody can say")
    assert (table.undecided, table.reasons) == (1, {A: "nobody can say"})
    table.release()
    assert (table.undecided, table.reasons) == (0, {A: "it says so"})


def test_opened_index_replaces_the_table() -> None:
    table = FileTable()
    table.leave_out(A, known(), "it says so")
    table.fail(A, "no permission", now=1)
    table.learn({B: known()})
    assert table.view(is_forced=False) == {B: known()}
    assert not table.reasons


def test_file_that_came_back_is_not_removed() -> None:
    table = FileTable()
    for path in (A, B):
        table.put(path, known())
    table.forget([A, B])
    table.put(A, known())
    assert table.removed == {B: known()}
    table.forget([A])
    assert list(table.removed) == [B, A]
