"""`leash.py PARENT PROGRAM ARGUMENT…`: execute a program that is killed when its parent ends.

A daemon killed by SIGKILL cannot stop its children, so the kernel does it (Linux). The setting survives exec. It is
tied to the *thread* that forked: only the thread that runs the event loop may start children.
"""

import ctypes
import os
import resource
import sys

_PR_SET_PDEATHSIG = 1
# a number, since importing `signal` takes longer than the rest of this program
_SIGKILL = 9


def main(parent: int, command: list[str]) -> None:
    """Set the death signal, forbid core dumps (they would contain memory texts) and execute `command`."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, _SIGKILL)
        # a parent that died before the call above sends no signal
        if os.getppid() != parent:
            sys.exit("parent is gone")
    try:
        os.execv(command[0], command)
    except OSError as exc:
        sys.exit(f"cannot execute {command[0]}: {exc.strerror}")


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2:])
