"""`memoryctl top` on a terminal: it draws, says what is wrong, and leaves with q."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.integration.contract_server import Contract, Raw, serving
from tests.integration.pseudo_terminal import on_terminal

METRICS = (
    "# TYPE memoryd_uptime_seconds gauge\nmemoryd_uptime_seconds 100.0\n"
    "# TYPE memoryd_degraded_parts gauge\n"
    'memoryd_degraded_parts{agent="main",part="qmd"} 1.0\n'
)


@pytest.fixture
def contract(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Contract]:
    monkeypatch.delenv("MEMORYD_AGENT_ID", raising=False)
    with serving(tmp_path / "memoryd.sock") as running:
        monkeypatch.setenv("MEMORYD_SOCKET", os.fspath(running.socket))
        head = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nConnection: close\r\n\r\n"
        running.replies[""] = Raw(head + METRICS.encode())
        yield running


def test_q_leaves(contract: Contract) -> None:
    code, seen = on_terminal("top", "-n", "30", typed="q")
    assert code == 0
    assert "Traceback" not in seen


def test_screen_is_drawn_until_interrupted(contract: Contract) -> None:
    code, seen = on_terminal("top", "-n", "0.1", interrupt_at="1 part degraded")
    assert code == 130
    assert "up 1 min 40 s" in seen
    assert "Traceback" not in seen


def test_lines_of_json_end_with_an_interrupt(contract: Contract) -> None:
    code, seen = on_terminal("top", "--json", "-n", "0.1", interrupt_at='"degraded": 1')
    assert code == 130
    assert "Traceback" not in seen
