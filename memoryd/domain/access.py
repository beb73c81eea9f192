"""Who may ask: what a session key says, which of those who ask are let in, and what a port of loopback lets in.

Session keys and rules read as in OpenClaw (`agent:<id>:<channel>:<direct|group|channel>:<peer>`); who is let in
without a key, or with one that says too little, is stricter here.

A page in a browser can make it ask a port of loopback, under a name of the page's own (DNS rebinding) or under ours; so
a request must name us, and none of which a page says that it is its own is let in.
"""

import re
import unicodedata
from collections import deque
from collections.abc import Callable, Collection, Sequence
from enum import StrEnum

from msgspec import Struct, field

from memoryd.domain.expressions import expression

_AGENT_KEY = expression(r"agent:(?P<agent>[a-z0-9][a-z0-9_-]{0,63}):(?P<rest>.+)", re.DOTALL)
_AGENT_PREFIX = "agent:"
_SUBAGENT = "subagent"
_MAIN = "main"
_DIRECT_WORDS = frozenset({"direct", "dm"})
_CHAT_WORDS = _DIRECT_WORDS | {"group", "channel"}
_CHAT_PLACES = 3
"""Parts among which a chat type stands; the last of them only before a peer."""
_OF_MANY = expression(
    r"(?:super|mega|giga)?groups?|grp|channels?|chan|rooms?|guild|forum|topic|thread|space|team|server|workspace|meeting"
    r"|broadcast|list|community|[#!].*|-[0-9]+|.*@(?:g\.us|broadcast|newsletter)"
)
"""What stands for several listeners where a peer may stand: another word for a group, or how programs name theirs."""
_NO_CHANNELS = frozenset({_MAIN, "cron", "hook", "acp"})
"""What an agent's key begins with that is of no channel: what follows is no chat type."""


class ChatType(StrEnum):
    """How many listen: one person, a closed group, or a channel."""

    DIRECT = "direct"
    GROUP = "group"
    CHANNEL = "channel"


class Who(StrEnum):
    """Who may make a call."""

    OWNER = "owner"
    """The owner's socket alone."""
    AGENT = "agent"
    """Also an agent's socket, about its own agent; the notes are neither shown nor changed."""
    SESSION = "session"
    """Whom the access rules let in: the call tells or changes what the notes say."""
    ANYONE = "anyone"
    """Every socket: the call is about no agent."""


class Action(StrEnum):
    """What a rule does with those it applies to."""

    ALLOW = "allow"
    DENY = "deny"


class SessionKey(Struct, frozen=True):
    """A session key as read: both spellings folded, and what they say of the chat, None where nothing."""

    raw: str
    normalised: str
    agent: str | None
    channel: str | None
    chat_type: ChatType | None

    @property
    def is_understood(self) -> bool:
        return self.chat_type is not None

    @property
    def memory_channel(self) -> str | None:
        """What memories of one channel are held against: the channel, or what else an agent's key begins with.

        So `agent:main:cron:daily` is `cron`; the main session of an agent is of no channel.
        """
        if self.channel is not None or self.agent is None:
            return self.channel
        first = self.normalised.split(":")[0]
        return None if first == _MAIN else first


class Match(Struct, frozen=True):
    """What a session must have for a rule to apply; None means that anything will do."""

    channel: str | None = None
    chat_type: ChatType | None = None
    key_prefix: str | None = None
    raw_key_prefix: str | None = None

    def fits(self, key: SessionKey) -> bool:
        """Tell whether every field that is given fits; a `key_prefix` of `agent:…` is held against the raw key."""
        prefix = _fold(self.key_prefix or "")
        whole = key.raw if prefix.startswith(_AGENT_PREFIX) else key.normalised
        return (
            (self.channel is None or _fold(self.channel) == key.channel)
            and (self.chat_type is None or self.chat_type == key.chat_type)
            and (self.raw_key_prefix is None or _begins(key.raw, _fold(self.raw_key_prefix)))
            and (self.key_prefix is None or _begins(whole, prefix))
        )


class Rule(Struct, frozen=True):
    """One rule of a list; the first that fits decides."""

    action: Action
    match: Match = Match()


DIRECT_ONLY = (Rule(Action.ALLOW, Match(chat_type=ChatType.DIRECT)),)


class RuleList(Struct, frozen=True):
    """Rules in order, and what holds where none of them fits."""

    rules: Sequence[Rule] = DIRECT_ONLY
    default: Action = Action.DENY

    def allows(self, key: SessionKey) -> bool:
        """Tell whether the rules let the session ask."""
        chosen = next((rule.action for rule in self.rules if rule.match.fits(key)), self.default)
        return chosen is Action.ALLOW


class AccessRules(Struct, frozen=True):
    """Who may ask: a session passes every list, `requires_key` also binds the owner's own socket, but not the page."""

    lists: tuple[RuleList, ...] = (RuleList(),)
    requires_key: bool = False


class Binding(Struct, frozen=True):
    """What a socket is bound to: the owner's to nothing, an agent's to its agent and perhaps to one session key."""

    agent: str | None = None
    session_key: str | None = None
    is_person: bool = False
    """Whether the owner asks in person, by a link; a program that leaves out its key would be taken for the owner."""

    @property
    def is_owners(self) -> bool:
        return self.agent is None


OWNER = Binding()
PERSON = Binding(is_person=True)


class Decision(Struct, frozen=True):
    """Whether a request may see memory text; `reason` is empty if so, `key` is the one that counted."""

    key: SessionKey | None
    reason: str = ""

    @property
    def is_allowed(self) -> bool:
        return not self.reason

    @property
    def is_direct(self) -> bool:
        """Whether one person alone listens: a direct chat, or the owner without a key."""
        return self.key is None or self.key.chat_type is ChatType.DIRECT


def is_of_group(key: str) -> bool:
    """Tell whether a session is of a group or a channel; one without a key is of its owner."""
    return bool(key) and read_key(key).chat_type in (ChatType.GROUP, ChatType.CHANNEL)


def read_key(text: str) -> SessionKey:
    """Read a session key. The chat type is None for what is not understood: blank, damaged, of a sub-agent or foreign.

    Understood are `main`, an agent's keys of one part, of channel and peer alone or of no channel (`cron:…`), and every
    key that has group or channel among its parts, or direct or dm where a chat type stands: first, second, or third
    behind an account. The channel is the part before such a word, where that is the second part. A key that says both
    is of the wider chat. One of an agent that says neither is of a direct chat, as in OpenClaw; but not where another
    word stands in the place of the chat type, or the peer looks like several.
    """
    raw = _fold(text)
    found = _AGENT_KEY.fullmatch(raw)
    agent, rest = (found["agent"], found["rest"]) if found else (None, raw)
    parts = rest.split(":")
    if _SUBAGENT in parts or parts[0] in ("", "agent") or not any(parts):
        return SessionKey(raw, rest, agent, None, None)
    has_channel = len(parts) > 1 and parts[1] in _CHAT_WORDS
    chat_type = _chat_type(parts, is_of_agent=found is not None)
    return SessionKey(raw, rest, agent, parts[0] if has_channel and chat_type else None, chat_type)


def one_spelling(text: str, agent: str) -> str:
    """Return a session key as all of its spellings are for an agent: with the agent named, and `direct` for `dm`."""
    key = read_key(text)
    if key.agent is None and key.raw.startswith(_AGENT_PREFIX):
        return key.raw
    parts = key.normalised.split(":")
    places = _CHAT_PLACES if len(parts) > _CHAT_PLACES else _CHAT_PLACES - 1
    spelled = ["direct" if at < places and part in _DIRECT_WORDS else part for at, part in enumerate(parts)]
    return ":".join(["agent", folded_id(key.agent or agent), *spelled])


def why_not_call(binding: Binding, who: Who) -> str:
    """Say why a call may not be made on this socket, whatever it asks for; empty if it may."""
    return "" if binding.is_owners or who is not Who.OWNER else "this call is the owner's"


def decide(rules: AccessRules, binding: Binding, session_key: str | None, agents: Collection[str]) -> Decision:
    """Decide by socket and key: without a key only the owner, with one that is not understood nobody, else the rules.

    A key that a socket is bound to counts for every request on it; another one is refused, and so is one that belongs
    to none of the configured `agents`.
    """
    if binding.session_key is not None:
        if session_key is not None and _fold(session_key) != _fold(binding.session_key):
            return Decision(read_key(session_key), "this socket is bound to another session key")
        session_key = binding.session_key
    if session_key is None:
        is_wanted = rules.requires_key and not binding.is_person
        reason = "memory.scope.requireSessionKey wants a session key" if is_wanted else ""
        return Decision(None, reason if binding.is_owners else "this socket needs a session key")
    key = read_key(session_key)
    return Decision(key, _why_not(rules, binding, key, agents))


def why_not_agent(binding: Binding, agent: str | None) -> str:
    """Say why a request on this socket may not name `agent`; empty if it may."""
    if binding.is_owners or agent is None or folded_id(agent) == binding.agent:
        return ""
    return "this socket is bound to another agent"


def _why_not(rules: AccessRules, binding: Binding, key: SessionKey, agents: Collection[str]) -> str:
    if not key.is_understood and not _is_named(rules, key):
        return "the session key is not understood, or of a sub-agent"
    if key.agent is not None and key.agent not in agents:
        return "the session key is of an agent that is not configured"
    if not binding.is_owners and key.agent not in (None, binding.agent):
        return "the session key is of another agent"
    if not all(each.allows(key) for each in rules.lists):
        return "the access rules do not let this session ask"
    return ""


def _is_named(rules: AccessRules, key: SessionKey) -> bool:
    """Tell whether a rule of each list names a key by its prefix: then its owner knows what it is.

    That may be a foreign key, or an agent's of channel and peer alone. Of a damaged key of an agent nobody can tell
    whose it was, and a word between channel and peer may be one of a group.
    """
    parts = key.normalised.split(":")
    is_of_peer = key.agent is not None and len(parts) == 2 and all(parts) and parts[0] not in (_MAIN, "agent")
    if _SUBAGENT in key.raw.split(":") or (key.raw.startswith(_AGENT_PREFIX) and not is_of_peer):
        return False
    return all(any(_names(rule.match, key) for rule in each.rules) for each in rules.lists)


def _names(match: Match, key: SessionKey) -> bool:
    prefix = _fold(match.raw_key_prefix or match.key_prefix or "")
    # what says no more than the agent names none of its chats
    said = prefix.removeprefix(f"{_AGENT_PREFIX}{key.agent}") if key.agent else prefix
    return bool(said.strip(":")) and prefix != _AGENT_PREFIX and match.fits(key)


def _chat_type(parts: Sequence[str], *, is_of_agent: bool) -> ChatType | None:
    """Return the widest chat that the parts name; what names none is direct only where no one else can listen."""
    if "group" in parts:
        return ChatType.GROUP
    if "channel" in parts:
        return ChatType.CHANNEL
    is_of_peer = len(parts) == 1 or (len(parts) == 2 and bool(parts[1]) and not _OF_MANY.fullmatch(parts[1]))
    is_without_chat = parts == [_MAIN] or (is_of_agent and (is_of_peer or parts[0] in _NO_CHANNELS))
    # behind an account only before a peer, whose name might be taken for the chat type
    places = _CHAT_PLACES if len(parts) > _CHAT_PLACES else _CHAT_PLACES - 1
    return ChatType.DIRECT if is_without_chat or not _DIRECT_WORDS.isdisjoint(parts[:places]) else None


def _begins(key: str, prefix: str) -> bool:
    """Tell whether the key begins so; a prefix of which nothing is to be seen names no key, rather than all of them."""
    return bool(prefix) and key.startswith(prefix)


def folded_id(text: str) -> str:
    """Return the name of an agent as all sides compare it, however somebody wrote it."""
    return text.strip().lower()


def _fold(text: str) -> str:
    """Return a key, or the beginning of one, as it is compared: no letter that nobody sees makes another word of one.

    Format characters and the spaces around each part go, and compatibility forms (NFKC) are one with the usual ones.
    """
    seen = "".join(letter for letter in text if unicodedata.category(letter) != "Cf")
    return ":".join(folded_id(part) for part in unicodedata.normalize("NFKC", seen).split(":"))


class Admitted(Struct, frozen=True):
    """A request that may see memory text: of this agent (None: the owner named none), in a direct chat or another."""

    agent: str | None
    is_direct: bool
    channel: str | None = None
    """The channel that memories of one channel are held against; None: of no channel."""
    is_owner: bool = False
    """Whether the owner asks, and no session."""
    is_sandboxed: bool = False
    """Whether it came by an agent's socket: only the agent speaks there."""


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
