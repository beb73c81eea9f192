"""What status tells of a text model: who it is, whether it can be asked, and why not."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from memoryd.embed.local.worker_process import WorkerState


class TextModelPhase(StrEnum):
    """What stands between a question and its answer."""

    WARMING = "warming"
    """It was not looked at yet."""
    DOWNLOADING = "downloading"
    READY = "ready"
    FAILED = "failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class CallCount:
    """Questions that were sent today (UTC), and how many may be; None: as many as are asked."""

    today: int
    per_day: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class TextModelState:
    """The phase, why, and since when. `destination` is the host that memory text is sent to; None: none is."""

    provider: str
    model: str
    phase: TextModelPhase
    reason: str
    since: datetime
    destination: str | None = None
    calls: CallCount | None = None
    worker: WorkerState | None = None


class PhaseRecord:
    """A phase and why, and since when it is so."""

    def __init__(self, now: datetime) -> None:
        self.phase, self.reason, self.since = TextModelPhase.WARMING, "starting", now

    def become(self, phase: TextModelPhase, reason: str, now: datetime) -> bool:
        """Note the phase; tell whether it is another one."""
        is_new = phase is not self.phase
        if is_new:
            self.since = now
        self.phase, self.reason = phase, reason
        return is_new
