"""A chat server in its own thread, for tests that call it from another process."""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from tests.contract.chat_server import ChatServer


@contextmanager
def served(server: ChatServer) -> Iterator[ChatServer]:
    """Serve until the block ends."""
    started, ending = threading.Event(), asyncio.Event()
    loop = asyncio.new_event_loop()

    async def serve() -> None:
        async with server.running():
            started.set()
            await ending.wait()

    thread = threading.Thread(target=lambda: loop.run_until_complete(serve()))
    thread.start()
    started.wait(60)
    try:
        yield server
    finally:
        loop.call_soon_threadsafe(ending.set)
        thread.join()
        loop.close()
