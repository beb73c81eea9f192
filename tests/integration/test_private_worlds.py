"""After any order of changes to notes and rules, no private text is in the index or was sent to the embedder.

MEMORYD_PRIVACY_EXAMPLES says how many programs are tried.
"""

import asyncio
import os
import tempfile
from contextlib import AsyncExitStack
from pathlib import Path

from hypothesis import given, settings
from msgspec.structs import replace

from memoryd.domain.syncplan import WaitTimes
from tests.fakes import FakeEmbedder
from tests.integration.indexing import QUICK, Stage, staged
from tests.private_world import PrivateWorld, Restart, Step, all_bytes, held, programs
from tests.sweeps import whole_or

EXAMPLES = int(os.environ.get("MEMORYD_PRIVACY_EXAMPLES", whole_or(3, 15)))
HASTY = replace(QUICK, settle=0.005, grace=WaitTimes(file=0.03, root=30))


async def _follow(stage: Stage, world: PrivateWorld, state: Path) -> None:
    sent = len(stage.embedder.embedded)
    await stage.sync(seconds=30)
    forbidden = world.settle()
    if stage.indexer.state.hold is None:
        await stage.embed(seconds=30)
    assert held(forbidden, all_bytes(state)) == set()
    assert held(forbidden, "\n".join(stage.embedder.embedded[sent:]).encode()) == set()
    assert held(world.never_public, "\n".join(stage.embedder.embedded).encode()) == set()
    for word in world.public:
        assert await stage.found(word), f"{word} is public and not found"


async def assert_kept_private(program: list[list[Step]], folder: Path) -> None:
    workspace, state, embedder = folder / "workspace", folder / "state", FakeEmbedder()
    world = PrivateWorld(workspace, seed=len(program))
    async with AsyncExitStack() as stack:
        stage = await stack.enter_async_context(staged(workspace, state, settings=HASTY, embedder=embedder))
        for steps in program:
            for step in steps:
                if isinstance(step, Restart):
                    await stack.aclose()
                world.do(step)
            if any(isinstance(step, Restart) for step in steps):
                stage = await stack.enter_async_context(staged(workspace, state, settings=HASTY, embedder=embedder))
            await _follow(stage, world, state)


@settings(max_examples=EXAMPLES)
@given(programs)
def test_no_program_reveals_private_text(program: list[list[Step]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(assert_kept_private(program, Path(folder)))
