"""Exported transcripts in one process with the qmd stand-in: what it is given, and how its answers are used."""

import asyncio
import os
from datetime import timedelta
from pathlib import Path

import pytest
import yaml

from memoryd.config.paths import openclaw_sessions, qmd_home
from memoryd.domain.documents import Source
from memoryd.domain.ranking.filters import Filters
from memoryd.errors import NotFound, SidecarError
from memoryd.search.protocol import Query
from tests.integration.composed import Composed, composed
from tests.integration.qmd_standin import ANSWER, LEASE, StandIn
from tests.transcripts_written import DAY, EVENT, answered, append, asked
from tests.waiting import eventually_async

EXPORT = {"docid": "", "score": 1, "file": "qmd://sessions-main/s1.session.md", "line": 5}
ANY = Filters()


def settings(standin: StandIn, **sessions: object) -> dict[str, object]:
    return {"command": str(standin.program), "sessions": {"enabled": True, **sessions}, "update": {"debounceMs": 50}}


@pytest.fixture
def transcript() -> Path:
    folder = openclaw_sessions("main")
    folder.mkdir(parents=True)
    path = folder / "s1.jsonl"
    path.write_bytes(EVENT + asked("Where is the heron?") + EVENT + answered("The heron stands at the weir."))
    return path


def configured() -> dict[str, object]:
    held = yaml.safe_load((qmd_home("main") / "xdg-config" / "qmd" / "index.yml").read_text())["collections"]
    assert isinstance(held, dict)
    return held


async def asked_for(running: Composed, text: str, filters: Filters = ANY) -> list[tuple[str, int, int]]:
    found = await running.qmd.conversations.search(Query(text, filters=filters))
    assert all(hit.chunk.source is Source.SESSIONS for hit in found.hits)
    return [(hit.chunk.path, hit.chunk.start_line, hit.chunk.end_line) for hit in found.hits]


async def test_exports_are_a_separate_collection(
    tmp_path: Path, workspace: Path, standin: StandIn, transcript: Path
) -> None:
    standin.behave(results=[EXPORT, LEASE])
    async with composed(tmp_path, workspace, settings(standin)) as running:
        await running.ready()
        await eventually_async(lambda: running.qmd.state().exported == 1)
        folder = qmd_home("main") / "sessions"
        assert [path.name for path in folder.iterdir()] == ["s1.session.md"]
        expected = {"path": str(folder), "pattern": "*.session.md", "includeByDefault": False}
        assert configured()["sessions-main"] == expected
        await eventually_async(lambda: running.qmd.qmd.server.is_available)
        assert await asked_for(running, "heron weir") == [("sessions/main/s1.jsonl", 2, 4)]
        assert standin.questions()[-1]["collections"] == ["sessions-main"]
        found = await running.search("who holds the lease")
        assert [hit.chunk.path for hit in found.hits] == [ANSWER], "an export is no note"
        assert standin.questions()[-1]["collections"] == ["memory-root-main"]
        with pytest.raises(NotFound):
            running.qmd.files.named("qmd/sessions-main/s1.session.md")


async def test_hits_are_checked_against_current_exports(
    tmp_path: Path, workspace: Path, standin: StandIn, transcript: Path
) -> None:
    away = {**EXPORT, "file": "qmd://sessions-main/other.session.md"}
    outside = {**EXPORT, "file": "qmd://sessions-main/../../memoryd.json"}
    standin.behave(results=[away, outside, EXPORT])
    async with composed(tmp_path, workspace, settings(standin)) as running:
        await running.ready()
        (qmd_home("main") / "sessions" / "other.session.md").write_text("# Session other\nUser: heron\n")
        assert [path for path, *_ in await asked_for(running, "heron")] == ["sessions/main/s1.jsonl"]
        assert await asked_for(running, "heron", Filters(paths=("memory/",))) == []
        assert await asked_for(running, "heron -weir") == []
        assert await asked_for(running, '"at the weir" heron')
        assert await asked_for(running, "heron", Filters(since=DAY + timedelta(days=1))) == []
        (qmd_home("main") / "sessions" / "s1.session.md").unlink()
        assert await asked_for(running, "heron") == []


async def test_forgotten_transcript_is_deleted_when_the_call_returns(
    tmp_path: Path, workspace: Path, standin: StandIn, transcript: Path
) -> None:
    async with composed(tmp_path, workspace, settings(standin)) as running:
        await running.ready()
        export, home = qmd_home("main") / "sessions" / "s1.session.md", running.qmd.qmd.home
        assert export.exists()
        updates, cleanups = len(standin.calls("update")), len(standin.calls("cleanup"))
        assert await running.qmd.forget_transcript("s1.jsonl")
        assert not export.exists()
        assert len(standin.calls("update")) > updates
        assert len(standin.calls("cleanup")) > cleanups, "its words are erased from the index"
        assert home.is_clean()
        append(transcript, asked("And now?"))
        assert await running.qmd.qmd.maintenance.follow(embeds=False)
        assert not export.exists()


@pytest.mark.parametrize("where", ["inside", "extra", "link"])
async def test_export_folder_inside_notes_is_refused(
    tmp_path: Path, workspace: Path, standin: StandIn, transcript: Path, where: str
) -> None:
    places = {"inside": workspace / "memory" / "said", "extra": tmp_path / "more" / "said", "link": tmp_path / "link"}
    (tmp_path / "more").mkdir()
    places["link"].symlink_to(workspace / "memory")
    search = {"extraPaths": [str(tmp_path / "more")]}
    held = settings(standin, exportDir=str(places[where]))
    before = sorted(workspace.rglob("*"))
    async with composed(tmp_path, workspace, held, search=search) as running:
        await running.ready()
        state = running.qmd.state()
        assert state.exported is None
        assert "transcripts are not exported to" in state.export_trouble
        assert "sessions-main" not in configured()
        with pytest.raises(AssertionError):
            # qmd is not asked
            assert await asked_for(running, "heron")
    assert sorted(workspace.rglob("*")) == before
    assert not (tmp_path / "more" / "said").exists()


async def test_unwritable_export_folder_affects_only_exports(
    tmp_path: Path, workspace: Path, standin: StandIn, transcript: Path
) -> None:
    standin.behave(results=[LEASE])
    (tmp_path / "file").write_text("It is no folder.")
    async with composed(tmp_path, workspace, settings(standin, exportDir=str(tmp_path / "file"))) as running:
        await running.ready()
        # trouble ends with the round that made it ready
        await eventually_async(lambda: running.qmd.state().maintenance.trouble is None)
        state = running.qmd.state()
        assert "transcripts cannot be exported to" in state.export_trouble
        assert state.exported == 0
        found = await running.search("who holds the lease")
        assert (found.fallback, [hit.chunk.path for hit in found.hits]) == (None, [ANSWER])


async def test_disabled_exports_are_deleted_but_foreign_files_stay(
    tmp_path: Path, workspace: Path, standin: StandIn, transcript: Path
) -> None:
    exports = tmp_path / "exports"
    async with composed(tmp_path, workspace, settings(standin, exportDir=str(exports))) as running:
        await running.ready()
        assert [str(path.relative_to(exports)) for path in exports.rglob("*.md")] == ["main/s1.session.md"]
        (exports / "main" / "mine.md").write_text("Mine.")
    async with composed(tmp_path, workspace, {"command": str(standin.program)}) as running:
        await running.ready()
        await eventually_async(lambda: not (exports / "main" / "s1.session.md").exists())
        assert "sessions-main" not in configured()
        assert ["collection", "remove", "sessions-main"] in [call["argv"][-3:] for call in standin.calls("collection")]  # type: ignore[index]
    assert os.listdir(exports / "main") == ["mine.md"]  # noqa: PTH208


async def test_failing_qmd_is_an_error_in_time(
    tmp_path: Path, workspace: Path, standin: StandIn, transcript: Path
) -> None:
    standin.behave(results=[EXPORT])
    async with composed(tmp_path, workspace, settings(standin)) as running:
        await running.ready()
        standin.behave(mcp_query="error", query="exit 1")
        with pytest.raises(SidecarError):
            async with asyncio.timeout(60):
                await running.qmd.conversations.search(Query("heron"))
