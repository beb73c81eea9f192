"""Which agents share a ledger, and where a ledger may not be written."""

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from memoryd.agents.workspace.settings import Ledgers
from memoryd.config.agents import Agent
from memoryd.config.root import Config
from memoryd.errors import Denied
from memoryd.store.ledger.ledger import Ledger


@pytest.fixture
def executor() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(4) as pool:
        yield pool


def agents_of(listed: list[dict[str, Any]], **sections: object) -> list[Agent]:
    return Config.model_validate({"agents": {"list": listed}, **sections}).resolved_agents()


def inside(workspace: Path) -> dict[str, Any]:
    return {"workspace": str(workspace), "memorySearch": {"store": {"path": ".memory/index.sqlite"}}}


def test_agents_whose_indexes_share_a_folder_share_the_ledger(tmp_path: Path, executor: ThreadPoolExecutor) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "same").symlink_to("notes")
    places = {"a": "notes", "b": "same", "c": "others"}
    agents = agents_of([{"id": name, **inside(tmp_path / place)} for name, place in places.items()])
    ledgers = Ledgers(agents, executor)
    first, second, third = (ledgers.of(agent) for agent in agents)
    assert first is second
    assert first is not third
    assert [name for name, _ in ledgers.loops()] == ["ledger a", "ledger c"]


@pytest.mark.parametrize("is_read_only", [False, True])
async def test_read_only_memory_keeps_a_ledger_out_of_workspaces(
    tmp_path: Path, executor: ThreadPoolExecutor, is_read_only: bool
) -> None:
    agents = agents_of(
        [{"id": "a", **inside(tmp_path / "notes")}, {"id": "b", "workspace": str(tmp_path / "others")}],
        memory={"readOnly": is_read_only},
    )
    ledgers = Ledgers(agents, executor)
    in_workspace, in_state = (ledgers.of(agent) for agent in agents)
    assert await in_state.store_answer("b", "s", 1, "x")
    if is_read_only:
        with pytest.raises(Denied):
            await in_workspace.store_answer("a", "s", 1, "x")
    else:
        assert await in_workspace.store_answer("a", "s", 1, "x")
    await ledgers.close()
    assert (tmp_path / "notes" / ".memory").exists() is not is_read_only


def test_separated_agent_also_reads_the_ledger_it_shared(tmp_path: Path, executor: ThreadPoolExecutor) -> None:
    place = {"workspace": str(tmp_path / "notes")}
    chunks = {"memorySearch": {"chunking": {"tokens": 200}}}
    first, second, apart = agents_of([{"id": "a", **place}, {"id": "b", **place}, {"id": "c", **place, **chunks}])
    ledgers = Ledgers([first, second, apart], executor)
    assert ledgers.of(apart) is not ledgers.of(first)
    assert ledgers.before(apart) is ledgers.of(first)
    assert ledgers.before(first) is None
    assert ledgers.before(second) is None


async def test_agent_that_becomes_first_also_reads_its_former_ledger(
    tmp_path: Path, executor: ThreadPoolExecutor
) -> None:
    place = {"workspace": str(tmp_path / "notes")}
    apart = {"id": "b", **place, "memorySearch": {"chunking": {"tokens": 200}}}
    _, second = agents_of([{"id": "a", **place}, apart])
    assert await Ledger(second.ledger_path, executor).store_answer("b", "s", 1, "x")
    (alone,) = agents_of([apart])
    ledgers = Ledgers([alone], executor)
    former = ledgers.before(alone)
    assert former is not None
    assert former.path == second.ledger_path != ledgers.of(alone).path
    assert ledgers.of_workspace(Path(os.path.realpath(alone.workspace))) == [ledgers.of(alone), former]
    assert await former.pending_answer("b", "s", 1) == "x"
    assert [name for name, _ in ledgers.loops()] == ["ledger b", "ledger b before"]
    await ledgers.close()
