"""Markdown of a workspace that is not indexed because of where it lies: how much there is, so that nobody wonders."""

import os
from collections import deque
from collections.abc import Iterator
from itertools import islice

from memoryd.domain.documents import ROOT_FOLDERS, OutsideCount, RelativePath, is_document_name, is_hidden, is_utf8_name
from memoryd.files.private import is_private_file
from memoryd.files.scan_rules import ScanRules
from memoryd.files.scanner import Scan

MAX_FILES = 1000
MAX_ENTRIES = 20_000
"""Of all folders together, those nearest to the top first."""
_HEAD_BYTES = 64 * 1024


def count_outside(
    seen: Scan, rules: ScanRules, *, max_files: int = MAX_FILES, max_entries: int = MAX_ENTRIES
) -> OutsideCount:
    """Count the Markdown files below the workspace that a scan did not come upon; blocks, so run it in a thread.

    Left out are hidden, ignored and private ones, symlinks, and what cannot be read; all of them, while nobody can
    say what is private.
    """
    if rules.hold is not None or any(report.root.path == rules.workspace for report in seen.roots):
        return OutsideCount()
    known = {*seen.files, *(skipped.path for skipped in seen.skipped)}
    found = looked_at = 0
    for at in islice(_documents(rules, max_entries), max_entries):
        looked_at += 1
        found += at is not None and at not in known and not _is_private(at, rules)
        if found > max_files:
            return OutsideCount(max_files, is_more=True)
    return OutsideCount(found, is_more=found > 0 and looked_at == max_entries)


def _documents(rules: ScanRules, max_entries: int) -> Iterator[RelativePath | None]:
    """Yield one value for each entry of a folder, level by level: the path of a document, else None."""
    waiting = deque([(str(rules.workspace), "")])
    while waiting:
        folder, at = waiting.popleft()
        try:
            with os.scandir(folder) as entries:
                listed = list(islice(entries, max_entries))
        except OSError:
            continue
        for entry in listed:
            is_folder = entry.is_dir(follow_symlinks=False)
            if is_folder and _is_entered(f"{at}{entry.name}", entry, rules):
                waiting.append((entry.path, f"{at}{entry.name}/"))
            is_one = not is_folder and is_document_name(entry.name) and is_utf8_name(entry.name)
            is_one = is_one and entry.is_file(follow_symlinks=False) and not rules.is_ignored(f"{at}{entry.name}")
            yield RelativePath(f"{at}{entry.name}") if is_one else None


def _is_entered(at: str, entry: os.DirEntry[str], rules: ScanRules) -> bool:
    if is_hidden(entry.name) or not is_utf8_name(entry.name) or at in ROOT_FOLDERS:
        return False
    return entry.path != str(rules.excluded_folder) and not rules.is_ignored(f"{at}/")


def _is_private(at: str, rules: ScanRules) -> bool:
    """Tell whether its front matter keeps it out; so does what cannot be read, for nobody knows."""
    try:
        return is_private_file(rules.workspace, at, head_bytes=_HEAD_BYTES)
    except OSError:
        return True
