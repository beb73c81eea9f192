"""The daemon in its loop, with the signals that it takes. To import this is to import everything."""

import asyncio
import signal
from collections.abc import Callable

from memoryd.config.loading.load import Loaded
from memoryd.daemon.app import Daemon, listen
from memoryd.daemon.lock import DaemonLock
from memoryd.daemon.notify import Notifier
from memoryd.daemon.own_log import OwnLog


async def run(
    loaded: Loaded,
    notifier: Notifier,
    lock: DaemonLock,
    own_log: OwnLog,
    read: Callable[[], Loaded],
    *,
    is_hung_up: Callable[[], bool],
) -> None:
    """Serve until SIGTERM or SIGINT; raises what `Daemon.run` raises. `is_hung_up`: SIGHUP has come already."""
    daemon = Daemon(loaded, notifier, lock, own_log, read)
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, _stop_once, daemon, loop, number)
    loop.add_signal_handler(signal.SIGHUP, daemon.reload)
    if is_hung_up():
        daemon.reload()
    await daemon.run(lambda: listen(loaded.config.resolved_agents()))


def _stop_once(daemon: Daemon, loop: asyncio.AbstractEventLoop, number: signal.Signals) -> None:
    """Stop in order at the first signal; the second one ends the process at once."""
    daemon.stop()
    loop.remove_signal_handler(number)
    signal.signal(number, signal.SIG_DFL)
