"""How much of its history a ledger keeps of one workspace."""

from dataclasses import dataclass
from typing import Final

import apsw

_COUNT: Final = """
SELECT (SELECT count(*) FROM changes WHERE workspace = ?1),
    (SELECT ifnull(sum(octet_length(hunks)), 0) FROM changes WHERE workspace = ?1),
    (SELECT count(*) FROM proposals WHERE workspace = ?1), (SELECT count(*) FROM reflect_runs WHERE workspace = ?1)
"""


@dataclass(frozen=True, slots=True)
class HistoryCount:
    """Rows of changes, of proposals and of runs of reflect, and the bytes of the lines that undoing changes takes."""

    changes: int = 0
    change_bytes: int = 0
    proposals: int = 0
    runs: int = 0


def count_history(db: apsw.Connection, workspace: str) -> HistoryCount:
    """Count what is kept of a workspace, by its real path."""
    return HistoryCount(*db.execute(_COUNT, (workspace,)).get)
