"""`memoryctl top` on a terminal: it draws, shows problems, and ends with q."""

import pytest

from tests.integration.contract_server import Contract, Raw
from tests.integration.pseudo_terminal import on_terminal

METRICS = (
    "# TYPE memoryd_uptime_seconds gauge\nmemoryd_uptime_seconds 100.0\n"
    "# TYPE memoryd_degraded_parts gauge\n"
    'memoryd_degraded_parts{agent="main",part="qmd"} 1.0\n'
)


@pytest.fixture(autouse=True)
def metrics(contract: Contract) -> None:
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nConnection: close\r\n\r\n"
    contract.replies[""] = Raw(head + METRICS.encode())


def test_q_ends_it() -> None:
    code, seen = on_terminal("top", "-n", "30", typed="q")
    assert code == 0
    assert "Traceback" not in seen


def test_screen_is_drawn_until_interrupted() -> None:
    code, seen = on_terminal("top", "-n", "0.1", interrupt_at="1 part degraded")
    assert code == 130
    assert "up 1 min 40 s" in seen
    assert "Traceback" not in seen


def test_json_lines_end_with_an_interrupt() -> None:
    code, seen = on_terminal("top", "--json", "-n", "0.1", interrupt_at='"degraded": 1')
    assert code == 130
    assert "Traceback" not in seen
