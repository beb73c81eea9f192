"""The daemon in a hurry: what it tries again after seconds or minutes, it tries again after tenths of a second.

A test that would sleep out a back-off names it as the program to run (`RunningDaemon(…, program=HASTY)`). Nothing else
differs: these waits are arguments of constructors and constants of modules, and no keys of the configuration.
"""

from datetime import timedelta
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

from memoryd import retry
from memoryd.agents.conversations import conversations
from memoryd.agents.conversations.forgetting import Forgetting
from memoryd.agents.status import status
from memoryd.agents.workspace import parts, qa, settings
from memoryd.api.http.loopback import LoopbackPort
from memoryd.api.http.server import Server
from memoryd.daemon.lock import keep_lock
from memoryd.daemon.main import main
from memoryd.embed import choice, embedding
from memoryd.embed.embedding import RemoteEmbedding
from memoryd.embed.local import local_model
from memoryd.llm import writing
from memoryd.models import download
from memoryd.sessions.qa_store import QaMaintenance

HASTY = ("-P", str(Path(__file__)))
"""What Python is given to run; without the folder of this file, which holds names that nobody is to import."""


def shorten(function: Any, **shorter: object) -> None:
    """Give parameters other defaults."""
    positional, named = function.__defaults__ or (), function.__kwdefaults__ or {}
    names = function.__code__.co_varnames[: function.__code__.co_argcount][-len(positional) :] if positional else ()
    unknown = shorter.keys() - {*names, *named}
    assert not unknown, f"{function.__qualname__} has no {unknown}"
    function.__defaults__ = tuple(shorter.get(name, it) for name, it in zip(names, positional, strict=True))
    function.__kwdefaults__ = {name: shorter.get(name, it) for name, it in named.items()}


def lower(module: ModuleType, **constants: float) -> None:
    """Give constants that are looked up at each use smaller values."""
    for name, value in constants.items():
        assert getattr(module, name) > value, f"{module.__name__}.{name}"
        setattr(module, name, value)


def prefer(module: ModuleType, name: str, **values: object) -> None:
    """Have a module make values of a type with other defaults."""
    setattr(module, name, partial(getattr(module, name), **values))


def hurry() -> None:
    """Shorten what the daemon waits of its own accord."""
    # the longest is longer than a question waits for its turn, as it is otherwise: it hears of the outage
    prefer(retry, "BreakerRule", first_delay=0.1, longest_delay=4.0)
    for module in (choice, writing):
        prefer(module, "CallTimeouts", hold=timedelta(seconds=1))
    # long enough in the end for a test to see that it is still tried
    pauses = tuple(timedelta(seconds=seconds) for seconds in (0.1, 0.1, 0.1, 3))
    prefer(download, "DownloadTimeouts", pauses=pauses)
    shorten(Server.__init__, check_every=timedelta(seconds=0.2))
    shorten(LoopbackPort.__init__, retry=timedelta(seconds=0.2))
    shorten(Forgetting.run, retry_seconds=0.2)
    lower(conversations, OPEN_SECONDS=1.0)
    prefer(parts, "TurnTaking", poll_seconds=0.2)
    lower(status, NEW_PARTS_SECONDS=1.0)
    lower(embedding, FALLBACK_POLL_SECONDS=0.1)
    shorten(RemoteEmbedding.__init__, poll_seconds=0.2)
    lower(local_model, POLL_SECONDS=0.2)
    lower(settings, ON_SEARCH_SECONDS=0.5)
    shorten(qa.WorkspaceQa.__init__, poll_seconds=0.3)
    shorten(qa.WorkspaceQa.read, seconds=1.0)
    lower(qa, RETRY_SECONDS=0.3, OPEN_SECONDS=1.0)
    shorten(QaMaintenance.__init__, retry_seconds=0.3)
    shorten(keep_lock, poll_seconds=0.2)


if __name__ == "__main__":
    hurry()
    main()
