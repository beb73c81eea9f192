"""Maintenance of qmd: updates, stopping when idle, and fewer builtin vectors while it works; with the stand-in."""

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from memoryd.agents.workspace.workspaces import make_vectors_in_outages
from memoryd.embed.current import ModelPhase
from memoryd.qmd.server import QmdServer, ServerPhase, ServerTimes
from memoryd.sidecar.process import ChildSpec, allowed_environment
from tests.fakes import FakeEmbedder
from tests.integration.composed import Composed, composed
from tests.integration.qmd_standin import ANSWER, QUESTION, StandIn, write_embed_model
from tests.integration.test_qmd_faults import answered_by, eventually_answered_by_qmd
from tests.integration.tiny_gguf import gguf
from tests.sweeps import swept
from tests.waiting import eventually_async


def settings(standin: StandIn, *, update: dict[str, object] | None = None, **more: object) -> dict[str, object]:
    return {"command": str(standin.program), "update": {"debounceMs": 100, **(update or {})}, **more}


async def test_boot_sync_is_waited_for_if_configured(tmp_path: Path, workspace: Path, standin: StandIn) -> None:
    standin.behave(update="wait")
    waits = settings(standin, update={"waitForBootSync": True})
    async with composed(tmp_path, workspace, waits) as running:
        asking = asyncio.ensure_future(running.search(QUESTION, deadline=30))
        await eventually_async(lambda: standin.calls("update"))
        assert not asking.done()
        standin.behave(update="ok")
        found = await asking
        assert (found.engine.name, found.hits[0].chunk.path) == ("qmd", ANSWER)


async def test_wait_for_boot_sync_ends_with_the_question(tmp_path: Path, workspace: Path, standin: StandIn) -> None:
    standin.behave(update="wait")
    waits = settings(standin, update={"waitForBootSync": True}, limits={"timeoutMs": 300})
    async with composed(tmp_path, workspace, waits) as running:
        assert "did not answer within" in await answered_by(running, "builtin", within=2)


async def test_boot_sync_is_not_waited_for_by_default(tmp_path: Path, workspace: Path, standin: StandIn) -> None:
    standin.behave(update="wait")
    async with composed(tmp_path, workspace, settings(standin)) as running:
        await eventually_async(lambda: standin.calls("update"))
        assert "starting" in await answered_by(running, "builtin", within=1)


async def test_delayed_first_update_runs_on_demand(tmp_path: Path, workspace: Path, standin: StandIn) -> None:
    late = settings(standin, update={"startup": "idle", "startupDelayMs": 3_600_000})
    async with composed(tmp_path, workspace, late) as running:
        assert "starting" in await answered_by(running, "builtin", within=1)
        assert not standin.calls("update")
        assert await running.sidecar.qmd.maintenance.follow(embeds=False)
        await eventually_answered_by_qmd(running)
        await answered_by(running, "qmd")


async def test_index_and_vectors_are_refreshed_at_their_intervals(
    tmp_path: Path, workspace: Path, standin: StandIn
) -> None:
    write_embed_model(tmp_path)
    often = settings(standin, searchMode="vsearch", update={"interval": "1s", "embedInterval": "1s"})
    async with composed(tmp_path, workspace, often):
        await eventually_async(lambda: len(standin.calls("update")) >= 3 and len(standin.calls("embed")) >= 3)


@swept("way", ["hang", "ignore TERM", "stop"], 1)
async def test_f084_hanging_embed_is_ended_and_retried(
    tmp_path: Path, workspace: Path, standin: StandIn, way: str
) -> None:
    """A hanging embed is ended at its deadline, reported as the reason, and retried later."""
    write_embed_model(tmp_path)
    standin.behave(embed=way)
    short = settings(standin, searchMode="vsearch", update={"embedTimeoutMs": 2000})
    async with composed(tmp_path, workspace, short) as running:
        await eventually_async(
            lambda: "qmd embed did not end within" in (running.sidecar.qmd.maintenance.state.vector_trouble or "")
        )
        assert "qmd embed did not end within" in await answered_by(running, "builtin", within=1)
        standin.behave(embed="ok")
        await eventually_async(lambda: running.sidecar.qmd.maintenance.state.vector_trouble is None)
        await eventually_answered_by_qmd(running)


async def test_many_changes_make_few_updates(tmp_path: Path, workspace: Path, standin: StandIn) -> None:
    slow = settings(standin, update={"debounceMs": 3_600_000})
    async with composed(tmp_path, workspace, slow) as running:
        await running.ready()
        before = len(standin.calls("update"))
        for number in range(10):
            (workspace / "memory" / f"new-{number}.md").write_text(f"Note {number}.\n")
            await running.indexed()
        assert len(standin.calls("update")) == before
        await running.sidecar.qmd.maintenance.follow(embeds=False)
        assert len(standin.calls("update")) == before + 1


@pytest.mark.parametrize("damage", ["missing", "broken", "other"])
async def test_lost_configuration_is_written_again(
    tmp_path: Path, workspace: Path, standin: StandIn, damage: str
) -> None:
    async with composed(tmp_path, workspace, settings(standin)) as running:
        await running.ready()
        file = running.sidecar.qmd.home.config_file
        wanted = file.read_bytes()
        if damage == "missing":
            file.unlink()
        else:
            file.write_text("{{{" if damage == "broken" else "collections: {theirs: {path: /, pattern: '*'}}\n")
        await running.sidecar.qmd.maintenance.follow(embeds=False)
        assert file.read_bytes() == wanted
        assert bool(standin.calls("theirs")) == (damage == "other"), (
            "foreign collections are removed from its index too"
        )


@swept("written", ["", "{{{", '{"updatedAt": "soon"}', "[]"], 1)
async def test_damaged_record_of_last_update_causes_another(
    tmp_path: Path, workspace: Path, standin: StandIn, written: str
) -> None:
    async with composed(tmp_path, workspace, settings(standin)) as running:
        await running.ready()
        home = running.sidecar.qmd.home
    (home.root / "memoryd.json").write_text(written)
    before = len(standin.calls("update"))
    async with composed(tmp_path, workspace, settings(standin)) as running:
        await running.ready()
        assert len(standin.calls("update")) > before
        await answered_by(running, "qmd")


async def test_idle_server_is_stopped_and_restarted_on_demand(standin: StandIn) -> None:
    spec = ChildSpec(command=(str(standin.program), "mcp"), environment=allowed_environment(os.environ))
    server = QmdServer(
        spec=lambda: spec, warm_up=lambda: None, on_ready=lambda: None, times=ServerTimes(idle=0.2, start_wait=10)
    )
    running = asyncio.ensure_future(server.run())
    try:
        for turn in (1, 2):
            content, _ = await server.call("query", {}, seconds=10)
            assert content["results"]
            assert len(standin.calls("mcp")) == turn
            await eventually_async(lambda: server.phase is ServerPhase.IDLE)
            await eventually_async(lambda: not standin.alive())
        assert server.restarts == 0
    finally:
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)


async def test_builtin_vectors_are_made_only_during_outages(tmp_path: Path, workspace: Path, standin: StandIn) -> None:
    embedder = FakeEmbedder()
    async with composed(tmp_path, workspace, settings(standin)) as running, standing_in(running):
        await running.ready()
        embedding_loop = running.workspace.index.embedding_loop
        # qmd counts as out during its first start
        await eventually_async(lambda: embedding_loop.is_paused)
        await running.workspace.embedding.slot.set(ModelPhase.READY, embedder=embedder)
        await eventually_async(lambda: embedding_loop.missing_vectors > embedding_loop.pending)
        await answered_by(running, "qmd")
        assert embedder.embedded == []
        standin.behave(mcp="exit 1", query="exit 1", mcp_query="exit 1")
        await answered_by(running, "builtin")
        await eventually_async(lambda: embedder.embedded and embedding_loop.missing_vectors == embedding_loop.pending)
        standin.behave(mcp="ok", query="ok", mcp_query="ok")
        await eventually_async(lambda: running.sidecar.qmd.server.is_available)
        await eventually_answered_by_qmd(running)
        await eventually_async(lambda: running.qmd.is_healthy and embedding_loop.is_paused)
        made = len(embedder.embedded)
        (workspace / "memory" / "new.md").write_text("The walrus is called Ferdinand.\n")
        await running.indexed()
        await eventually_async(lambda: embedding_loop.missing_vectors > embedding_loop.pending)
        assert len(embedder.embedded) == made


async def test_no_builtin_vectors_while_qmd_makes_its_own(tmp_path: Path, workspace: Path, standin: StandIn) -> None:
    write_embed_model(tmp_path)
    standin.behave(embed="wait")
    embedder = FakeEmbedder()
    async with composed(tmp_path, workspace, settings(standin, searchMode="vsearch")) as running:
        await eventually_async(lambda: standin.calls("embed"))
        async with standing_in(running):
            await running.workspace.embedding.slot.set(ModelPhase.READY, embedder=embedder)
            assert "no vectors yet" in await answered_by(running, "builtin")
            embedding_loop = running.workspace.index.embedding_loop
            await eventually_async(lambda: embedding_loop.missing_vectors > embedding_loop.pending)
            assert running.qmd.is_healthy
            standin.behave(embed="exit 1")
            await eventually_async(lambda: embedder.embedded)


@asynccontextmanager
async def standing_in(running: Composed) -> AsyncIterator[None]:
    """Let the builtin index take over during short outages of qmd."""
    embedding_loop = running.workspace.index.embedding_loop
    task = asyncio.ensure_future(
        make_vectors_in_outages(embedding_loop, [running.qmd], failure_seconds=0.2, poll_seconds=0.02)
    )
    yield
    task.cancel()


@pytest.mark.parametrize("place", ["configured", "shared"])
async def test_qmd_can_delete_only_a_link_to_the_model(
    tmp_path: Path, workspace: Path, standin: StandIn, place: str
) -> None:
    model = write_embed_model(tmp_path)
    if place == "configured":
        model = model.rename(tmp_path / "qwen3-embedding.gguf")
    named = {"provider": "local", "local": {"modelPath": str(model)}} if place == "configured" else {}
    standin.behave(embed="delete models")
    async with composed(tmp_path, workspace, settings(standin, searchMode="vsearch"), search=named) as running:
        await eventually_async(lambda: "deleted" in (running.sidecar.qmd.maintenance.state.vector_trouble or ""))
        role, told, meant = standin.noted("deleted")[0]
        assert (role, meant) == ("embed", str(model)), "it saw the model"
        assert Path(told).name == model.name, "it derives the family from the file name"
        assert model.read_bytes() == gguf()
        standin.behave(embed="ok")
        await running.sidecar.qmd.maintenance.follow(embeds=True)
        assert running.sidecar.qmd.maintenance.state.vector_trouble is None
        assert Path(told).resolve() == model, "the deleted link is restored"


async def test_file_that_is_no_model_is_not_given_to_qmd(tmp_path: Path, workspace: Path, standin: StandIn) -> None:
    diary = tmp_path / "diary.gguf"
    diary.write_bytes(gguf())
    named = {"provider": "local", "local": {"modelPath": str(diary)}}
    async with composed(tmp_path, workspace, settings(standin, searchMode="vsearch"), search=named) as running:
        maintenance = running.sidecar.qmd.maintenance
        await eventually_async(lambda: maintenance.state.vector_trouble is None)
        diary.write_text("Dear diary, I am no model.\n")
        standin.behave(embed="delete models")
        before = len(standin.calls("embed"))
        await maintenance.follow(embeds=True)
        assert "not a GGUF model" in (maintenance.state.vector_trouble or "")
        assert str(diary) in (maintenance.state.vector_trouble or "")
        assert len(standin.calls("embed")) == before
        assert diary.read_text() == "Dear diary, I am no model.\n"
        assert maintenance.state.models is not None
        assert not maintenance.state.models["embed"].path.is_symlink()
