"""Standard input and output, taken for the protocol before anything heavy is imported that might print."""

import fcntl
import os


def claimed() -> tuple[int, int]:
    """Take standard input and output, and return their descriptors; what prints now, prints to stderr.

    What reads from now on finds nothing. That holds for Python, for what lies below it, and for children.
    """
    source, sink = (fcntl.fcntl(stream, fcntl.F_DUPFD_CLOEXEC, 3) for stream in (0, 1))
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    try:
        os.dup2(2, 1)
    except OSError:
        os.dup2(nothing, 1)  # stderr is closed
    os.close(nothing)
    return source, sink
