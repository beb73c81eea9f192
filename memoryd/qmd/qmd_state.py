"""What one agent's qmd says of itself at one moment."""

from dataclasses import dataclass
from pathlib import Path

from memoryd.qmd.mcp_server import ServerPhase
from memoryd.qmd.program import Program
from memoryd.qmd.upkeep_state import UpkeepState
from memoryd.search.protocol import Fallback


@dataclass(frozen=True, slots=True, kw_only=True)
class QmdState:
    """One agent's qmd; `program` is None until it has been found, `export_trouble` says what is not exported."""

    program: Program | None
    search_mode: str
    home: Path
    server: ServerPhase
    pid: int | None
    restarts: int
    upkeep: UpkeepState
    exported: int | None
    """Transcripts that are exported for it; None where they are not to be."""
    export_trouble: str
    fallback: Fallback | None
    is_given_up: bool = False
    """Whether its server failed so often that it is tried only now and then."""
