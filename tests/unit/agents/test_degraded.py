"""What does less than it should: found in the states of the parts, and told once for each time it begins and ends."""

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

import pytest
from msgspec.structs import replace

from memoryd.agents.status.status import NEW_PARTS_SECONDS, AgentState, Degradation, DegradationTracker, degradations
from memoryd.config.memory_search import MemorySearchSection
from memoryd.config.root import Config
from memoryd.domain.documents import OutsideCount
from memoryd.domain.embedding import Choice
from memoryd.embed.current import ModelPhase, PhaseRecord, ProviderFallback
from memoryd.files.ignore import Hold
from memoryd.files.scanner import RootReport, RootState, ScanRoot
from memoryd.index.state import SyncState
from memoryd.qmd.maintenance import MaintenanceState
from memoryd.qmd.server import ServerPhase
from memoryd.qmd.sidecar import QmdState
from memoryd.replies.status import WatcherReply
from memoryd.search.protocol import Fallback
from memoryd.wire import Event

NOW = datetime(2026, 11, 18, tzinfo=UTC)
OUT = Fallback("qmd", "it hangs", NOW)


def wanted(**search: object) -> MemorySearchSection:
    """What the default agent is asked for with these settings of memorySearch."""
    config = Config.model_validate({"agents": {"defaults": {"memorySearch": search}}})
    return config.resolved_agents()[0].memory_search


def watching(mode: str, *, ok: bool, reason: str | None = None) -> WatcherReply:
    return WatcherReply(mode=mode, ok=ok, reason=reason)


def healthy() -> AgentState:
    """All parts at work, without qmd."""
    return AgentState(
        id="main",
        workspace=Path("workspace"),
        has_workspace=True,
        leads_elsewhere=False,
        settings=wanted(),
        sync=SyncState(last_scan_at=NOW, last_sync_at=NOW),
        index_path=Path("index.sqlite"),
        index_trouble=None,
        vector_engine="resident",
        watcher=watching("events", ok=True),
        outside=OutsideCount(),
        embedding_trouble=None,
        is_embedding_idle=False,
        choice=Choice("local", None, "nobody named another"),
        takes_media=False,
        embedder=PhaseRecord(ModelPhase.READY),
        identity=None,
        provider_fallback=None,
        reranker=None,
        qmd=None,
    )


def with_(**changes: object) -> AgentState:
    return replace(healthy(), **changes)


def of_sync(**changes: object) -> AgentState:
    return with_(sync=replace(healthy().sync, **changes))


def of_qmd(maintenance: MaintenanceState, fallback: Fallback | None = None) -> AgentState:
    qmd = QmdState(
        program=None,
        search_mode="search",
        home=Path("qmd"),
        server=ServerPhase.IDLE,
        pid=None,
        restarts=0,
        maintenance=maintenance,
        exported=None,
        export_trouble="",
        fallback=fallback,
    )
    return with_(qmd=qmd)


def report(state: RootState, *, is_optional: bool) -> tuple[RootReport, ...]:
    return (RootReport(ScanRoot(Path("/notes"), is_optional=is_optional), state, 0, "it is locked"),)


CASES: Mapping[str, tuple[AgentState, list[Degradation]]] = {
    "nothing": (healthy(), []),
    "a file that cannot be used": (with_(index_trouble="no room"), [Degradation("index", "no room")]),
    "a sync that failed": (of_sync(trouble="read only"), [Degradation("index", "read only")]),
    "privacy that nobody knows": (
        of_sync(hold=Hold("unreadable"), notice="old rules"),
        [Degradation("privacy", "unreadable")],
    ),
    "a hold that ends by itself": (of_sync(hold=Hold("just written", ends_in=1.0)), []),
    "rules that are remembered": (of_sync(notice="old rules"), [Degradation("privacy", "old rules")]),
    "a model that is fetched": (
        with_(embedder=PhaseRecord(ModelPhase.DOWNLOADING)),
        [Degradation("embedder", "downloading")],
    ),
    "vectors that nobody wants": (with_(embedder=PhaseRecord(ModelPhase.OFF, "none is named")), []),
    "a stand-in": (
        with_(provider_fallback=ProviderFallback("openai", "local", "no answer", NOW)),
        [Degradation("provider", "local replaces openai: no answer")],
    ),
    "vectors that are late": (
        with_(embedding_trouble="the disk is full"),
        [Degradation("embedding", "the disk is full")],
    ),
    "a watcher that fails": (
        with_(watcher=watching("scan", ok=False, reason="no inotify")),
        [Degradation("watcher", "no inotify")],
    ),
    "a network disk": (with_(watcher=watching("scan", ok=True, reason="other machines write to it")), []),
    "pictures that nobody embeds": (
        with_(settings=wanted(multimodal={"enabled": True})),
        [
            Degradation(
                "multimodal",
                "pictures and sounds are left out, only gemini-embedding-2-preview takes them; nobody named another",
            )
        ],
    ),
    "qmd, and what to do": (
        of_qmd(MaintenanceState(0.0, None, trouble="it is not found", hint="install it")),
        [Degradation("qmd", "it is not found; install it")],
    ),
    "qmd that did not answer": (
        of_qmd(MaintenanceState(0.0, None, trouble=None), OUT),
        [Degradation("qmd", "it hangs")],
    ),
    "qmd without vectors": (
        of_qmd(MaintenanceState(0.0, "no model", trouble=None)),
        [Degradation("qmd vectors", "no model")],
    ),
    "a ledger that cannot be used": (
        with_(troubles={"ledger": "no room"}),
        [Degradation("ledger", "no room")],
    ),
    "a folder that cannot be read": (
        of_sync(roots=report(RootState.UNREADABLE, is_optional=True)),
        [Degradation("root /notes", "it is locked")],
    ),
    "a folder that need not be there": (of_sync(roots=report(RootState.MISSING, is_optional=True)), []),
    "a folder that must be there": (
        of_sync(roots=report(RootState.MISSING, is_optional=False)),
        [Degradation("root /notes", "it is locked")],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_part_that_falls_short_is_told_with_its_reason(name: str) -> None:
    state, expected = CASES[name]
    assert list(degradations(state)) == expected


def test_workspace_that_is_gone_is_plainer_than_its_rules() -> None:
    gone = replace(of_sync(hold=Hold("unreadable")), has_workspace=False)
    assert [one.part for one in degradations(gone)] == ["workspace"]
    assert not list(degradations(replace(gone, sync=SyncState()))), "not looked at yet"


def test_qmd_that_is_out_is_told_before_the_provider_that_is_out() -> None:
    without = with_(provider_fallback=ProviderFallback("openai", "local", "no answer", NOW))
    both = replace(without, qmd=of_qmd(MaintenanceState(0.0, None), OUT).qmd)
    assert (both.fallback, both.backend) == (OUT, "builtin")
    assert without.fallback == Fallback("openai", "no answer", NOW)
    assert of_qmd(MaintenanceState(0.0, None)).backend == "qmd"
    assert healthy().fallback is None


def test_each_beginning_and_end_is_published_once() -> None:
    told: list[tuple[Event, object, object]] = []
    book = DegradationTracker(lambda event, data: told.append((event, data["agent"], data["part"])))
    (first,) = book.update("a", [Degradation("watcher", "no inotify")])
    (second,) = book.update("a", [Degradation("watcher", "still none")])
    assert (first["since"], second["reason"]) == (second["since"], "still none")
    book.update("b", [])
    assert told == [(Event.DEGRADED, "a", "watcher")]
    assert book.update("a", []) == []
    assert told[1:] == [(Event.RECOVERED, "a", "watcher")]


def test_parts_that_are_made_anew_have_been_degraded_since_before() -> None:
    now, told = [0.0], list[Event]()
    book = DegradationTracker(lambda event, _data: told.append(event), lambda: now[0])
    lost = [Degradation("watcher", "no inotify")]
    (before,) = book.update("a", lost)
    book.update("b", lost)
    book.keep_for({"a"})
    assert book.update("a", []) == [], "the new part has not found out yet"
    now[0] += NEW_PARTS_SECONDS - 1
    (after,) = book.update("a", lost)
    assert (after["since"], told) == (before["since"], [Event.DEGRADED, Event.DEGRADED])
    now[0] += 2
    book.update("a", [])
    assert told[2:] == [Event.RECOVERED]
