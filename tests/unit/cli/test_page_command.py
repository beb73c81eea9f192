"""memoryctl web opens a browser without telling other programs of the machine how to get in."""

import webbrowser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from memoryd.cli.memory.index import _is_opened

URL = "http://127.0.0.1:18790/web/login#secret-token"


def test_browser_is_started_with_a_file_of_the_owner_and_not_with_the_link(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: list[str] = []
    monkeypatch.setenv("DISPLAY", ":0")

    def opened(url: str) -> bool:
        given.append(url)
        return True

    monkeypatch.setattr(webbrowser, "open", opened)
    # what lies there, be it a link of somebody, is replaced
    (tmp_path / "page.html").symlink_to(tmp_path / "elsewhere")
    assert _is_opened(URL, tmp_path)
    assert _is_opened(URL, tmp_path)
    assert "secret-token" not in "".join(given)
    path = Path(unquote(urlsplit(given[0]).path))
    assert path == tmp_path / "page.html"
    assert path.stat().st_mode & 0o777 == 0o600
    assert f'content="0;url={URL}"' in path.read_text(encoding="utf-8")
    assert not (tmp_path / "elsewhere").exists()


def test_where_no_session_shows_a_browser_none_is_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("sys.platform", "linux")
    assert not _is_opened(URL, tmp_path)
    assert not list(tmp_path.iterdir())
