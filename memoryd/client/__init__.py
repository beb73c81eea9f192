"""A small blocking client of the daemon's socket, for scripts and for memoryctl.

    from memoryd.client import Client

    with Client() as memory:
        for hit in memory.search("which port does the gateway use")["results"]:
            print(hit["path"], hit["startLine"], hit["snippet"])

Replies are the decoded JSON, see memoryd.replies. All calls may raise DaemonNotRunning, NotPermitted,
DeadlineExceeded (no reply within the time-out), NotNow, RequestError with its subclasses, and MemorydError
for a fault of the daemon's own. One Client serves one thread. Only the standard library is imported.
"""

from memoryd.client.calls import ChangeBounds, Client, MemoryBounds, RecallBounds, SearchBounds, StatementOptions
from memoryd.client.connection import Asker, ListBounds, undo_command

__all__ = [
    "Asker",
    "ChangeBounds",
    "Client",
    "ListBounds",
    "MemoryBounds",
    "RecallBounds",
    "SearchBounds",
    "StatementOptions",
    "undo_command",
]
