"""Who may ask on a port of loopback: what a request must say of itself, and how many wrong tokens are too many.

A page in a browser can make it ask such a port, under a name of the page's own (DNS rebinding) or under ours; so a
request must name us, and none of which a page says that it is its own is let in.
"""

from collections import deque
from collections.abc import Callable, Sequence

from msgspec import Struct, field

HeaderPairs = Sequence[tuple[bytes, bytes]]
"""Names in lower case, values as they came."""

MAX_TRIES = 10
TRIES_SECONDS = 60.0
_BEARER = b"bearer "
_OWN = ("127.0.0.1", "localhost", "[::1]")


class DoorRules(Struct, frozen=True):
    """What a request may name as host and origin; all of it in lower case."""

    hosts: frozenset[str]
    origins: frozenset[str] = frozenset()

    @classmethod
    def of(cls, port: int, hosts: Sequence[str] = (), origins: Sequence[str] = ()) -> "DoorRules":
        """Return the rules of a port: the names of loopback, and what else is listed."""
        own = [f"{name}:{port}" for name in _OWN]
        return cls(frozenset([*own, *hosts]), frozenset(origins))

    def of_pages(self) -> "DoorRules":
        """Return the rules of pages: only under names of loopback, such as that of a tunnel from another port.

        Under any other name the cookie and the notes would cross a network, and nothing says that it is encrypted.
        """
        return DoorRules(frozenset(host for host in self.hosts if host.rpartition(":")[0] in _OWN))

    def why_not_host(self, headers: HeaderPairs) -> str:
        """Say why a request is not meant for us; empty if it is."""
        named = _all(headers, b"host")
        return "" if len(named) == 1 and named[0].lower() in self.hosts else "the host that it names is not this one"

    def why_not_origin(self, headers: HeaderPairs) -> str:
        """Say why a request comes from a place that is not let in; empty if it names none, or one that is."""
        named = _all(headers, b"origin")
        return "" if all(one.lower() in self.origins for one in named) else "it comes from an origin that is not listed"

    def why_not_page(self, headers: HeaderPairs, *, is_write: bool, is_entrance: bool) -> str:
        """Say why a request for a page comes from a place that is not that page itself; empty if it may be answered.

        A browser says where a request comes from (`Sec-Fetch-Site`); what writes must be told to come from our pages.
        Only the entrance, which does nothing but ask for a token, may be linked to from elsewhere.
        """
        own = {b"http://" + value.lower() for name, value in headers if name == b"host"}
        origins = {value.lower() for name, value in headers if name == b"origin"}
        sites = {value.lower() for name, value in headers if name == b"sec-fetch-site"}
        is_ours = sites == {b"same-origin"}
        # without a referrer, which pages forbid, a browser names no origin to its own site either
        if not origins <= own | ({b"null"} if is_ours else set()):
            return "it comes from another origin"
        if is_write:
            return "" if is_ours or (origins and not sites) else "nothing says that it comes from this page"
        return "" if is_entrance or sites <= {b"same-origin", b"none"} else "it comes from another page"


def bearer_token(headers: HeaderPairs) -> bytes:
    """Return the token that a request brings; empty if it brings none, or several."""
    given = [value for name, value in headers if name == b"authorization"]
    if len(given) != 1 or not given[0].lower().startswith(_BEARER):
        return b""
    return given[0][len(_BEARER) :].strip()


def _all(headers: HeaderPairs, name: bytes) -> list[str]:
    return [value.decode("latin-1") for key, value in headers if key == name]


class WrongTokens(Struct):
    """Counts wrong tokens within `seconds`; `clock` is monotonic, in seconds."""

    clock: Callable[[], float]
    most: int = MAX_TRIES
    seconds: float = TRIES_SECONDS
    _times: deque[float] = field(default_factory=deque)

    def wait(self) -> float:
        """Return for how many seconds a wrong one is one too many; 0 if it is not. Counted it is by `note`."""
        now = self.clock()
        while self._times and self._times[0] <= now - self.seconds:
            self._times.popleft()
        return self._times[0] + self.seconds - now if len(self._times) >= self.most else 0.0

    def note(self) -> None:
        """Take the news of a wrong one."""
        self._times.append(self.clock())
