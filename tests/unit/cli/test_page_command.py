"""`memoryctl web` opens a browser without showing the token to other programs."""

import webbrowser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from memoryd.cli.memory.index import _is_opened

URL = "http://127.0.0.1:18790/web/login#secret-token"


def test_browser_gets_a_private_file_instead_of_the_link(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened_urls: list[str] = []
    monkeypatch.setenv("DISPLAY", ":0")

    def open_url(url: str) -> bool:
        opened_urls.append(url)
        return True

    monkeypatch.setattr(webbrowser, "open", open_url)
    # whatever is there, even a link, is replaced
    (tmp_path / "page.html").symlink_to(tmp_path / "elsewhere")
    assert _is_opened(URL, tmp_path)
    assert _is_opened(URL, tmp_path)
    assert "secret-token" not in "".join(opened_urls)
    path = Path(unquote(urlsplit(opened_urls[0]).path))
    assert path == tmp_path / "page.html"
    assert path.stat().st_mode & 0o777 == 0o600
    assert f'content="0;url={URL}"' in path.read_text(encoding="utf-8")
    assert not (tmp_path / "elsewhere").exists()


def test_no_browser_is_opened_without_a_graphical_session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("sys.platform", "linux")
    assert not _is_opened(URL, tmp_path)
    assert not list(tmp_path.iterdir())
