"""What is remembered of a batch job: one small file each, so that a job that was paid for survives memoryd.

No text and no key stands in it, only hashes of the texts.
"""

import json
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import Final

import structlog

from memoryd.files.writing import replace_file

log = structlog.get_logger(__name__)

SUFFIX: Final = ".batch.json"


class Stage(StrEnum):
    """How far a job is."""

    SUBMITTING = "submitting"
    """Written before the provider is asked: after a kill it may or may not know the job."""
    RUNNING = "running"
    CANCELLING = "cancelling"
    OVER = "over"


@dataclass(frozen=True, slots=True)
class BatchJob:
    """A job; times are seconds since the epoch. `keys` are the hashes of its texts, `files` the provider's."""

    name: str
    fingerprint: str
    keys: tuple[str, ...]
    created: float
    stage: Stage = Stage.SUBMITTING
    id: str = ""
    files: tuple[str, ...] = ()
    ended: float = 0.0


class JobFolder:
    """The files of the jobs. Its methods block; OSError passes."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def load(self) -> list[BatchJob]:
        """Return every job, oldest first; a file that cannot be read is left alone."""
        if not self._folder.is_dir():
            return []
        jobs = [job for path in sorted(self._folder.glob(f"*{SUFFIX}")) if (job := _read(path)) is not None]
        return sorted(jobs, key=lambda job: job.created)

    def save(self, job: BatchJob) -> None:
        """Write a job, whole or not at all."""
        self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        # a job that was paid for must outlast a loss of power
        replace_file(self._path(job), json.dumps(asdict(job)).encode(), is_durable=True)

    def remove(self, job: BatchJob) -> None:
        """Forget a job."""
        self._path(job).unlink(missing_ok=True)

    def _path(self, job: BatchJob) -> Path:
        return self._folder / f"{job.name}{SUFFIX}"


def _read(path: Path) -> BatchJob | None:
    try:
        fields = json.loads(path.read_text(encoding="utf-8"))
        job = BatchJob(**fields)
        return replace(job, keys=tuple(job.keys), files=tuple(job.files), stage=Stage(job.stage))
    except (OSError, ValueError, TypeError) as exc:
        log.warning("cannot read the note of a batch job", path=str(path), reason=str(exc))
        return None
