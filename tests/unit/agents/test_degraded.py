"""Degraded parts are found in the state of an agent, and each beginning and end is published once."""

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
FALLBACK = Fallback("qmd", "it hangs", NOW)


def search_settings(**search: object) -> MemorySearchSection:
    """Return the resolved `memorySearch` section of the default agent."""
    config = Config.model_validate({"agents": {"defaults": {"memorySearch": search}}})
    return config.resolved_agents()[0].memory_search


def watching(mode: str, *, ok: bool, reason: str | None = None) -> WatcherReply:
    return WatcherReply(mode=mode, ok=ok, reason=reason)


def healthy() -> AgentState:
    """Return a state in which all parts work, without qmd."""
    return AgentState(
        id="main",
        workspace=Path("workspace"),
        has_workspace=True,
        leads_elsewhere=False,
        settings=search_settings(),
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


def with_sync(**changes: object) -> AgentState:
    return with_(sync=replace(healthy().sync, **changes))


def with_qmd(maintenance: MaintenanceState, fallback: Fallback | None = None) -> AgentState:
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
    "a sync that failed": (with_sync(trouble="read only"), [Degradation("index", "read only")]),
    "privacy that nobody knows": (
        with_sync(hold=Hold("unreadable"), notice="old rules"),
        [Degradation("privacy", "unreadable")],
    ),
    "a hold that ends by itself": (with_sync(hold=Hold("just written", ends_in=1.0)), []),
    "rules that are remembered": (with_sync(notice="old rules"), [Degradation("privacy", "old rules")]),
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
        with_(settings=search_settings(multimodal={"enabled": True})),
        [
            Degradation(
                "multimodal",
                "pictures and sounds are left out, only gemini-embedding-2-preview takes them; nobody named another",
            )
        ],
    ),
    "qmd, and what to do": (
        with_qmd(MaintenanceState(0.0, None, trouble="it is not found", hint="install it")),
        [Degradation("qmd", "it is not found; install it")],
    ),
    "qmd that did not answer": (
        with_qmd(MaintenanceState(0.0, None, trouble=None), FALLBACK),
        [Degradation("qmd", "it hangs")],
    ),
    "qmd without vectors": (
        with_qmd(MaintenanceState(0.0, "no model", trouble=None)),
        [Degradation("qmd vectors", "no model")],
    ),
    "a ledger that cannot be used": (
        with_(troubles={"ledger": "no room"}),
        [Degradation("ledger", "no room")],
    ),
    "a folder that cannot be read": (
        with_sync(roots=report(RootState.UNREADABLE, is_optional=True)),
        [Degradation("root /notes", "it is locked")],
    ),
    "a folder that need not be there": (with_sync(roots=report(RootState.MISSING, is_optional=True)), []),
    "a folder that must be there": (
        with_sync(roots=report(RootState.MISSING, is_optional=False)),
        [Degradation("root /notes", "it is locked")],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_degraded_part_is_reported_with_its_reason(name: str) -> None:
    state, expected = CASES[name]
    assert list(degradations(state)) == expected


def test_missing_workspace_hides_the_trouble_of_its_rules() -> None:
    gone = replace(with_sync(hold=Hold("unreadable")), has_workspace=False)
    assert [degradation.part for degradation in degradations(gone)] == ["workspace"]
    assert not list(degradations(replace(gone, sync=SyncState()))), "before the first scan"


def test_fallback_of_qmd_hides_the_fallback_of_the_provider() -> None:
    provider_only = with_(provider_fallback=ProviderFallback("openai", "local", "no answer", NOW))
    both = replace(provider_only, qmd=with_qmd(MaintenanceState(0.0, None), FALLBACK).qmd)
    assert (both.fallback, both.backend) == (FALLBACK, "builtin")
    assert provider_only.fallback == Fallback("openai", "no answer", NOW)
    assert with_qmd(MaintenanceState(0.0, None)).backend == "qmd"
    assert healthy().fallback is None


def test_each_degradation_and_recovery_is_published_once() -> None:
    published: list[tuple[Event, object, object]] = []
    tracker = DegradationTracker(lambda event, data: published.append((event, data["agent"], data["part"])))
    (first,) = tracker.update("a", [Degradation("watcher", "no inotify")])
    (second,) = tracker.update("a", [Degradation("watcher", "still none")])
    assert (first["since"], second["reason"]) == (second["since"], "still none")
    tracker.update("b", [])
    assert published == [(Event.DEGRADED, "a", "watcher")]
    assert tracker.update("a", []) == []
    assert published[1:] == [(Event.RECOVERED, "a", "watcher")]


def test_rebuilt_parts_stay_degraded_since_the_first_time() -> None:
    now, published = [0.0], list[Event]()
    tracker = DegradationTracker(lambda event, _data: published.append(event), lambda: now[0])
    trouble = [Degradation("watcher", "no inotify")]
    (before,) = tracker.update("a", trouble)
    tracker.update("b", trouble)
    tracker.keep_for({"a"})
    assert tracker.update("a", []) == [], "the new part has not noticed yet"
    now[0] += NEW_PARTS_SECONDS - 1
    (after,) = tracker.update("a", trouble)
    assert (after["since"], published) == (before["since"], [Event.DEGRADED, Event.DEGRADED])
    now[0] += 2
    tracker.update("a", [])
    assert published[2:] == [Event.RECOVERED]
