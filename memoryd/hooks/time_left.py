"""How long this process is there already: Python's own start counts against what a prompt may wait."""

import os
import time

_STARTED = 22
"""The field of `/proc/self/stat` that has the start of the process, in ticks since the machine began: proc(5)."""
_NAME_ENDS = b") "
_FIELDS_BEFORE = 3
"""Behind the name, which may hold blanks, the third field comes first."""


def seconds_since_start() -> float:
    """Return the age of this process, to a hundredth of a second; without /proc at least the time that it computed."""
    try:
        descriptor = os.open("/proc/self/stat", os.O_RDONLY | os.O_CLOEXEC)
        try:
            fields = os.read(descriptor, 4096).rpartition(_NAME_ENDS)[2].split()
        finally:
            os.close(descriptor)
        started = int(fields[_STARTED - _FIELDS_BEFORE]) / os.sysconf("SC_CLK_TCK")
        return max(0.0, time.clock_gettime(time.CLOCK_BOOTTIME) - started)
    except (OSError, ValueError, IndexError, AttributeError):
        return time.process_time()
