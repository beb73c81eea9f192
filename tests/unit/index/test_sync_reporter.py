"""Reporting of how many files are not yet indexed."""

from msgspec.structs import replace

from memoryd.domain.documents import RelativePath
from memoryd.domain.syncplan import WaitTimes
from memoryd.index.state import FileTable, IndexEvents, SyncReporter


def test_file_read_twice_in_a_scan_is_counted_once() -> None:
    events = IndexEvents(
        on_scan=lambda _: None, on_commit=lambda: None, on_purge=lambda: None, publish=lambda _event, _data: None
    )
    reporter = SyncReporter(events, FileTable(), WaitTimes(file=2.0, root=60.0))
    path, other = RelativePath("memory/saved.md"), RelativePath("memory/other.md")
    reporter.unread, reporter.state = {path, other}, replace(reporter.state, pending_files=2)
    for paths in ([path], [path, other]):
        reporter.note_read(paths)
    assert reporter.state.pending_files == 0
    assert not reporter.unread
