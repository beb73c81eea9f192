"""The page of a real daemon, as a browser asks for it: a session by the link, and the headers that it sends."""

import html
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from copy import copy
from pathlib import Path
from typing import Any, Self

import httpx

from tests.daemon import RunningDaemon, indexed_daemon
from tests.loopback import free_port
from tests.waiting import SECONDS

OURS = {"Sec-Fetch-Site": "same-origin"}
RLO, TURNED = "\u202e", "[U+202E]"
HOSTILE = {
    "memory/2026-11-20.md": "# <script>alert('heading')</script>\n\n"
    "A harbour <img src=x onerror=alert(1)> and <svg onload=alert(2)><script>alert(3)</script></svg>.\n\n"
    "[harbour link](javascript:alert(4)) [other](data:text/html,<script>alert(5)</script>) ![p](http://127.0.0.1:9/p.png)\n\n"
    "<iframe src='http://127.0.0.1:9/'></iframe> harbour `</code><script>alert(6)</script>`\n\n"
    "## Retain\n"
    '- W @Harbour" onmouseover="alert(7): harbour <b onclick=alert(8)>pier</b> [go](javascript:alert(9)) </textarea>'
    "<script>alert(10)</script>\n"
    "- W @Pier: harbour `x` {{ 7 * 7 }} {% raw %} ${7*7} </p></article></main>\n"
    f"- B: harbour {RLO}turned round\n"
    "- O(c=0.7) @Wen: harbour 'quotes' & \"more\" &lt;b&gt; <!-- hidden -->\n",
    "memory/harbour<img src=x onerror=alert(11)>.md": "# A name\n\nharbour by its name\n",
    "memory/long.md": "# Long\n\nharbour " + "x" * 1_000_000 + "\n",
}
"""Notes that try to be more than text, all about a harbour."""


class PageClient:
    """A session at the page. Bodies are given as fields of a form."""

    def __init__(self, url: str, *, link: str) -> None:
        self.http = httpx.Client(base_url=url, timeout=SECONDS, verify=False)
        self.login = self.http.post("/web/login", data={"token": link.partition("#")[2]}, headers=OURS)
        self.cookie = self.login.cookies.get("memoryd", "")
        begun = self.http.get(self.login.headers.get("location", "/web/none/"), headers=self._headers(OURS))
        self.base = begun.headers.get("location", "/web/none/main/ask").rpartition("/")[0]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_failure: object) -> None:
        self.http.close()

    def get(self, page: str, *, headers: Mapping[str, str] = OURS, **query: Any) -> httpx.Response:
        """Ask for a page."""
        return self.http.get(f"{self.base}/{page}", params=query or None, headers=self._headers(headers))

    def post(
        self, page: str, *, headers: Mapping[str, str] = OURS, follow: bool = True, **fields: Any
    ) -> httpx.Response:
        """Post a form, and follow where it leads."""
        reply = self.http.post(f"{self.base}/{page}", data=fields, headers=self._headers(headers))
        if follow and reply.status_code == 303:
            return self.http.get(reply.url.join(reply.headers["location"]), headers=self._headers(OURS))
        return reply

    def forget(self, target: str | list[str], *, follow: bool = True, **fields: Any) -> httpx.Response:
        """Look at what forgetting reaches, and forget that."""
        plan = re.search(r'name="shown" value="(\w*)"', self.get("forget", target=target).text)
        return self.post("forget", follow=follow, target=target, shown=plan[1] if plan else "", **fields)

    def of(self, agent: str) -> "PageClient":
        """Return another tab of the session, which looks at an agent."""
        other = copy(self)
        other.base = f"{self.base.rpartition('/')[0]}/{agent}"
        return other

    def _headers(self, headers: Mapping[str, str]) -> dict[str, str]:
        # by hand: the client of a test has no session of another port
        return {**headers, "Cookie": f"memoryd={self.cookie}"}


def text_of(reply: httpx.Response) -> str:
    """Return what a page says, without its tags, blanks as one."""
    bare = re.sub(r"<[^>]*>", " ", reply.text)
    return " ".join(html.unescape(bare).split())


class OpenPage:
    """A daemon whose loopback port is off, and its page."""

    def __init__(self, daemon: RunningDaemon, port: int) -> None:
        self.daemon = daemon
        self.port = port
        self.url = f"http://127.0.0.1:{port}"

    def link(self, *, keep: bool = False) -> str:
        """Return a new link."""
        with self.daemon.client() as client:
            return client.open_page(keep)["url"]

    def enter(self) -> PageClient:
        """Return a new session."""
        return PageClient(self.url, link=self.link())


@contextmanager
def open_page(
    home: Path,
    notes: Mapping[str, str],
    model: Path | None = None,
    search: Mapping[str, object] | None = None,
    **sections: object,
) -> Iterator[OpenPage]:
    """Run a daemon over notes; its port opens with the first link."""
    workspace = home / "workspace"
    for name, text in notes.items():
        path = workspace / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    port = free_port()
    with indexed_daemon(home, workspace, model, search=search, http={"port": port}, **sections) as running:
        yield OpenPage(running, port)
