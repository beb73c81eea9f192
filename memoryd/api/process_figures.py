"""What a process takes of the machine, as the system tells it now."""

from dataclasses import dataclass

import psutil


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessFigures:
    """One process: its memory, its time of processors since its start, its threads and open files."""

    rss_bytes: int
    cpu_seconds: float
    threads: int
    files: int


def process_figures(pid: int) -> ProcessFigures | None:
    """Return what a process takes, None if there is none of this number, or another one may not look at it."""
    try:
        process = psutil.Process(pid)
        with process.oneshot():
            spent = process.cpu_times()
            return ProcessFigures(
                rss_bytes=process.memory_info().rss,
                cpu_seconds=spent.user + spent.system,
                threads=process.num_threads(),
                files=process.num_fds(),
            )
    except (psutil.Error, OSError):
        return None
