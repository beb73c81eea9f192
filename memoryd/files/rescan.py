"""A scan of some files, for which the last scan of all is brought up to date: what a question waits for.

It stats those files and no others, by the rules of a whole scan, and gives up wherever these could say something else
than before: then all is scanned.
"""

import os
import stat as stat_module
from collections.abc import Iterable, Sequence
from dataclasses import replace

from memoryd.domain.documents import RelativePath
from memoryd.domain.media import modality_of
from memoryd.files.scan_rules import ScanRoot, ScanRules
from memoryd.files.scanner import RootState, Scan, folder_id, look_at_root, take


def may_be_brought_up(before: Scan, roots: Sequence[ScanRoot], rules: ScanRules) -> bool:
    """Tell whether what a scan found elsewhere holds, as long as no folder and no rule changes."""
    # through a link, or by a glob, a change comes from where nobody watches
    is_plain = not rules.follow_symlinks and not any(root.pattern for root in roots)
    return is_plain and not before.unreadable and all(report.root in roots for report in before.roots)


def rescan(before: Scan, roots: Sequence[ScanRoot], rules: ScanRules, names: Iterable[RelativePath]) -> Scan | None:
    """Return `before` with these files as they are now; None if more than they may have changed. Blocks."""
    wanted = set(names)
    found = replace(
        before,
        files={path: stat for path, stat in before.files.items() if path not in wanted},
        roots=list(before.roots),
        skipped=[one for one in before.skipped if one.path not in wanted],
    )
    by_path = {str(root.path): root for root in roots}
    for at in wanted:
        path = os.path.normpath(rules.workspace / at)
        root = by_path.get(path)
        if not (_look_at(path, at, rules, found) if root is None else _look_at_file_root(root, rules, found)):
            return None
    return found


def _look_at(path: str, at: RelativePath, rules: ScanRules, found: Scan) -> bool:
    folder, name = os.path.split(path)
    if modality_of(name) is not None or folder not in found.folders:
        # which pictures are documents depends on the root that they lie in
        return False
    try:
        if folder_id(folder) != found.folders[folder]:
            return False
        info = os.lstat(path)
    except FileNotFoundError:
        # if its folder went with it, the next event says so, and until then it is as gone as it is
        return os.path.isdir(folder)  # noqa: PTH112
    except OSError:
        return False
    if stat_module.S_ISLNK(info.st_mode) or stat_module.S_ISDIR(info.st_mode):
        return False
    if not rules.is_ignored(at):
        take(name, at, info, found.folders[folder][0], rules, found)
    return True


def _look_at_file_root(root: ScanRoot, rules: ScanRules, found: Scan) -> bool:
    """Look at a root that was a file, or nothing, and is to be one still."""
    if root.path.is_dir():
        return False
    report = look_at_root(root, rules, found)
    found.roots = [report if one.root == root else one for one in found.roots]
    return report.state in (RootState.OK, RootState.MISSING)
