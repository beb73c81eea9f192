"""Recall with each backend: memories from the builtin index, passages from the configured engine."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from memoryd.agents.retained.recall import RecallOptions
from memoryd.domain.access import Admitted
from memoryd.memory.recall.query import RecalledPassage
from memoryd.qmd.server import ServerPhase
from tests.integration.composed import Composed, composed
from tests.integration.qmd_standin import StandIn
from tests.real_qmd import real_qmd
from tests.waiting import eventually_async

LOG = """# Friday

The heron stood at the weir all morning.

## Retain

- W @Heron: The heron at the weir has ring number 17.
- W(scope=agent:other) @Heron: The heron nests behind the ultramarin shed.
"""


@pytest.fixture(params=["qmd", "fallback"])
async def running(request: pytest.FixtureRequest, tmp_path: Path, workspace: Path) -> AsyncIterator[Composed]:
    (workspace / "memory" / "2026-11-06.md").write_text(LOG)
    if request.param == "qmd":
        command = real_qmd()
    else:
        program = StandIn(tmp_path / "standin")
        program.behave(mcp="exit 1", query="crash")
        command = str(program.program)
    async with composed(tmp_path, workspace, {"command": command, "update": {"debounceMs": 100}}) as found:
        await found.indexed()
        await eventually_async(lambda: found.sidecar.qmd.maintenance.state.is_current)
        if request.param == "qmd":
            await eventually_async(lambda: found.sidecar.qmd.server.phase is ServerPhase.READY)
        yield found


async def test_memories_come_from_the_index_and_passages_from_the_engine(
    running: Composed, request: pytest.FixtureRequest
) -> None:
    recall = running.memory.retained.recall
    found = await recall.recall("heron weir", RecallOptions(k=10), Admitted("main", is_direct=True))
    memories = found.memories
    passages = [item for item in found.items if isinstance(item, RecalledPassage)]
    assert [item.memory.line.text for item in memories] == ["The heron at the weir has ring number 17."]
    assert not any("ultramarin" in item.hit.chunk.text for item in passages)
    is_qmd = "qmd" in request.node.callspec.params.values()
    assert (found.result.engine.name == "qmd") == is_qmd
    assert (found.result.fallback is None) == is_qmd
    places = {(item.lead.source.path, item.lead.source.start_line) for item in memories}
    assert places == {("memory/2026-11-06.md", 7)}
