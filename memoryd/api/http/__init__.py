"""Transport: sockets, the loopback port, limits, and the gate that a reload closes."""

import sys
from types import ModuleType

_SUPERVISORS = "uvicorn.supervisors"
if _SUPERVISORS not in sys.modules:
    # the supervisors of a stand-alone uvicorn would import multiprocessing and watchfiles, which take 1 MiB
    _unused = sys.modules[_SUPERVISORS] = ModuleType(_SUPERVISORS)
    vars(_unused).update(ChangeReload=None, Multiprocess=None)
    import uvicorn as uvicorn

    del sys.modules[_SUPERVISORS]
