"""The contract of every search backend: the builtin index, the real qmd, and the fallback from a broken qmd."""

import asyncio
import os
import time
from collections.abc import AsyncIterator, Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
import pytest_asyncio

from memoryd.domain.ranking.filters import Filters
from memoryd.qmd.server import ServerPhase
from memoryd.search.combined import FallbackSearch
from memoryd.search.protocol import Query, SearchBackend, SearchResult
from tests.daemon import write_workspace
from tests.integration.composed import Composed, composed
from tests.integration.qmd_standin import StandIn
from tests.real_qmd import real_qmd
from tests.waiting import eventually_async

KINDS = ["builtin", "qmd", "fallback"]
pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest.fixture(scope="module", autouse=True)
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A clean environment for the fixtures of this module."""
    with pytest.MonkeyPatch.context() as patch:
        for name in [name for name in os.environ if name.startswith(("MEMORYD_", "XDG_"))]:
            patch.delenv(name)
        folder = tmp_path_factory.mktemp("home")
        patch.setenv("HOME", str(folder))
        yield folder


@pytest_asyncio.fixture(params=KINDS, scope="module", loop_scope="module")
async def running(
    request: pytest.FixtureRequest, home: Path, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Composed]:
    """A workspace indexed by the backend; tests that write use words that no other test searches."""
    tmp_path = tmp_path_factory.mktemp(request.param)
    workspace = write_workspace(tmp_path / "workspace")
    for number in range(8):
        (workspace / "memory" / f"walk-{number}.md").write_text(f"# Walk {number}\n\nSaw a heron at the weir.\n")
    if request.param == "qmd":
        command = real_qmd()
    else:
        # the builtin index beside an unused qmd
        program = StandIn(tmp_path / "standin")
        program.behave(mcp="exit 1", query="crash")
        command = str(program.program)
    update = {"debounceMs": 100}
    async with composed(tmp_path, workspace, {"command": command, "update": update}) as found:
        await eventually_async(lambda: found.sidecar.qmd.maintenance.state.is_current)
        if request.param == "qmd":
            await eventually_async(lambda: found.sidecar.qmd.server.phase is ServerPhase.READY)
        yield found


@pytest.fixture
def backend(request: pytest.FixtureRequest, running: Composed) -> SearchBackend:
    return running.workspace.index.builtin if "builtin" in request.node.callspec.params.values() else running.qmd.search


async def ask(backend: SearchBackend, text: str, **more: object) -> SearchResult:
    return await backend.search(Query(text, **more))  # type: ignore[arg-type]  # the fields of Query


async def test_words_of_the_question_are_found_first(backend: SearchBackend) -> None:
    expected = {
        "GW-4172": "memory/2026-10-06.md",
        "what does it mean that a second process holds the lease": "memory/2026-10-06.md",
        "海边的木屋": "memory/2026-10-18.md",
        "which machine is called alder": "MEMORY.md",
    }
    for question, path in expected.items():
        found = await ask(backend, question)
        assert found.hits[0].chunk.path == path
        assert found.hits[0].is_literal


async def test_hits_are_exact_lines_of_files_on_disk(backend: SearchBackend, running: Composed) -> None:
    for question in ("heron at the weir", "GW-4172", "木屋"):
        for hit in (await ask(backend, question)).hits:
            lines = (running.notes / hit.chunk.path).read_text().split("\n")
            cited = "\n".join(lines[hit.chunk.start_line - 1 : hit.chunk.end_line])
            assert hit.chunk.text.rstrip("\n") in cited + "\n"
            assert 0 <= hit.score <= 1


async def test_limit_is_respected(backend: SearchBackend) -> None:
    assert len((await ask(backend, "heron", limit=3)).hits) == 3
    assert len((await ask(backend, "heron", limit=20)).hits) == 8


async def test_filters_apply(backend: SearchBackend) -> None:
    inside = await ask(backend, "heron gateway lease", filters=Filters(paths=["memory/walk-[12].md"]))
    assert {hit.chunk.path for hit in inside.hits} == {"memory/walk-1.md", "memory/walk-2.md"}
    october = Filters(since=datetime(2026, 10, 6, tzinfo=UTC), until=datetime(2026, 10, 7, tzinfo=UTC))
    assert [hit.chunk.path for hit in (await ask(backend, "lease heron", filters=october)).hits] == [
        "memory/2026-10-06.md"
    ]


async def test_unknown_words_find_nothing(backend: SearchBackend) -> None:
    found = await ask(backend, "xylophone quagga")
    assert found.hits == ()
    assert found.arms["lexical"].took_part


async def test_copies_fold_into_the_newest_and_other_facts_stay(backend: SearchBackend, running: Composed) -> None:
    text_of = "# Egrets\n\nThe ringed egret at the mill has number {}.\n"
    for day, text in enumerate(
        [text_of.format(17), text_of.format(17), text_of.format("**17**"), text_of.format(71)], start=1
    ):
        (running.notes / "memory" / f"2026-11-0{day}-egret.md").write_text(text)
    await running.indexed()
    await eventually_async(lambda: running.sidecar.qmd.maintenance.state.is_current)
    hits = (await ask(backend, "ringed egret mill")).hits
    copies = {hit.chunk.path: {copy.path for copy in hit.copies} for hit in hits}
    assert copies == {
        "memory/2026-11-03-egret.md": {"memory/2026-11-01-egret.md", "memory/2026-11-02-egret.md"},
        "memory/2026-11-04-egret.md": set(),
    }


async def test_odd_questions_are_harmless(backend: SearchBackend) -> None:
    for question in ("?!", " ", "\0", '"', "-", "lex: vec:", "a" * 4000, "(" * 200, "heron\n\nvec: x"):
        found = await ask(backend, question)
        assert all(hit.chunk.text for hit in found.hits)


async def test_deadline_is_respected(backend: SearchBackend) -> None:
    start = time.monotonic()
    await ask(backend, "heron", deadline=0.5)
    assert time.monotonic() - start < 1.5


async def test_concurrent_questions_are_all_answered(backend: SearchBackend) -> None:
    answers = await asyncio.gather(*(ask(backend, "heron") for _ in range(30)))
    assert all(len(found.hits) == 6 for found in answers)


async def test_saved_note_is_found_and_deleted_text_is_not(backend: SearchBackend, running: Composed) -> None:
    note = running.notes / "memory" / "beast.md"
    for beast, other in (("margay", "ocelot"), ("ocelot", "margay")):
        note.write_text(f"# Beast\n\nSaw a {beast} at the mill.\n")
        await running.indexed()
        assert [hit.chunk.path for hit in (await ask(backend, beast)).hits] == ["memory/beast.md"]
        assert (await ask(backend, other)).hits == ()
    note.unlink()
    await running.indexed()
    assert (await ask(backend, "ocelot")).hits == ()


async def test_result_names_the_engine(backend: SearchBackend, request: pytest.FixtureRequest) -> None:
    found = await ask(backend, "heron")
    kind = next(value for value in request.node.callspec.params.values() if value in KINDS)
    assert found.engine.name == ("qmd" if kind == "qmd" else "builtin"), found.fallback
    assert (found.fallback is not None) == (kind == "fallback")
    if isinstance(backend, FallbackSearch):
        assert (backend.fallback is not None) == (kind == "fallback")
