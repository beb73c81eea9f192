"""Access control: parsing of session keys, access rules for sessions, and checks of requests to a loopback port.

Session keys and rules are read as in OpenClaw (`agent:<id>:<channel>:<direct|group|channel>:<peer>`), but requests
without a key, or with a key that says too little, are treated more strictly.

A web page can make a browser send requests to a loopback port, under a host name of the page (DNS rebinding) or under
ours. So a request must name one of our hosts, and a request with the origin of a foreign page is refused.
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
"""A chat type is among the first 3 parts of a key; it is the third only if a peer follows."""
_OF_MANY = expression(
    r"(?:super|mega|giga)?groups?|grp|channels?|chan|rooms?|guild|forum|topic|thread|space|team|server|workspace|meeting"
    r"|broadcast|list|community|[#!].*|-[0-9]+|.*@(?:g\.us|broadcast|newsletter)"
)
"""Names in place of a peer that mean several listeners: other words for a group, or group ids of chat programs."""
_NO_CHANNELS = frozenset({_MAIN, "cron", "hook", "acp"})
"""First parts of an agent's key that are not channels: the part after them is not a chat type."""


class ChatType(StrEnum):
    """Audience of a chat: one person, a closed group, or a channel."""

    DIRECT = "direct"
    GROUP = "group"
    CHANNEL = "channel"


class Who(StrEnum):
    """Who may make a call."""

    OWNER = "owner"
    """Only the owner's socket."""
    AGENT = "agent"
    """Also an agent's socket, for its own agent; the call neither shows nor changes the notes."""
    SESSION = "session"
    """Sessions that the access rules admit: the call shows or changes the content of the notes."""
    ANYONE = "anyone"
    """Every socket: the call concerns no agent."""


class Action(StrEnum):
    """Effect of a rule on the sessions that it matches."""

    ALLOW = "allow"
    DENY = "deny"


class SessionKey(Struct, frozen=True):
    """A parsed session key; fields are None if the key does not say."""

    raw: str
    """The complete key, folded."""
    normalised: str
    """The key without its `agent:<id>:` part, folded."""
    agent: str | None
    channel: str | None
    chat_type: ChatType | None

    @property
    def is_understood(self) -> bool:
        return self.chat_type is not None

    @property
    def memory_channel(self) -> str | None:
        """Channel by which memories restricted to one channel are matched.

        If the key names no channel, it is the first part of an agent's key: `cron` for `agent:main:cron:daily`, None
        for the agent's main session.
        """
        if self.channel is not None or self.agent is None:
            return self.channel
        first = self.normalised.split(":")[0]
        return None if first == _MAIN else first


class Match(Struct, frozen=True):
    """Conditions of a rule on a session; None matches anything."""

    channel: str | None = None
    chat_type: ChatType | None = None
    key_prefix: str | None = None
    raw_key_prefix: str | None = None

    def fits(self, key: SessionKey) -> bool:
        """Return whether all set fields match; a `key_prefix` of `agent:…` is compared with the raw key."""
        prefix = _fold(self.key_prefix or "")
        full_key = key.raw if prefix.startswith(_AGENT_PREFIX) else key.normalised
        return (
            (self.channel is None or _fold(self.channel) == key.channel)
            and (self.chat_type is None or self.chat_type == key.chat_type)
            and (self.raw_key_prefix is None or _begins(key.raw, _fold(self.raw_key_prefix)))
            and (self.key_prefix is None or _begins(full_key, prefix))
        )


class Rule(Struct, frozen=True):
    """One rule of a list; the first that matches decides."""

    action: Action
    match: Match = Match()


DIRECT_ONLY = (Rule(Action.ALLOW, Match(chat_type=ChatType.DIRECT)),)


class RuleList(Struct, frozen=True):
    """Rules in order, and the default if none of them matches."""

    rules: Sequence[Rule] = DIRECT_ONLY
    default: Action = Action.DENY

    def allows(self, key: SessionKey) -> bool:
        """Return whether the rules admit the session."""
        chosen = next((rule.action for rule in self.rules if rule.match.fits(key)), self.default)
        return chosen is Action.ALLOW


class AccessRules(Struct, frozen=True):
    """Access rules: a session must pass every list. `requires_key` also binds the owner's socket, but not the page."""

    lists: tuple[RuleList, ...] = (RuleList(),)
    requires_key: bool = False


class Binding(Struct, frozen=True):
    """Restriction of a socket: none for the owner's; an agent's is bound to its agent, optionally to a session key."""

    agent: str | None = None
    session_key: str | None = None
    is_person: bool = False
    """Whether the owner asks in person, through a link; any other request without a key may come from a program."""

    @property
    def is_owner(self) -> bool:
        return self.agent is None


OWNER = Binding()
PERSON = Binding(is_person=True)


class Decision(Struct, frozen=True):
    """Whether a request may see memory text. `reason` is empty if so; `key` is the key that was checked."""

    key: SessionKey | None
    reason: str = ""

    @property
    def is_allowed(self) -> bool:
        return not self.reason

    @property
    def is_direct(self) -> bool:
        """Whether only one person listens: in a direct chat, or the owner without a key."""
        return self.key is None or self.key.chat_type is ChatType.DIRECT


def is_group_key(key: str) -> bool:
    """Return whether a session key belongs to a group or a channel; an empty key is the owner's."""
    return bool(key) and read_key(key).chat_type in (ChatType.GROUP, ChatType.CHANNEL)


def read_key(text: str) -> SessionKey:
    """Parse a session key. The chat type is None for a blank, damaged or foreign key, and for a sub-agent's key.

    Understood are `main`; an agent's keys of one part, of channel and peer, or without a channel (`cron:…`); and any
    key with group or channel among its parts, or with direct or dm as its chat type: the first or second part, or the
    third after an account. The channel is the part before that word, if the word is the second part. A key that names
    several chat types is of the widest. An agent's key that names none is of a direct chat, as in OpenClaw, unless
    another word is in the place of the chat type, or the peer looks like several people.
    """
    raw = _fold(text)
    match = _AGENT_KEY.fullmatch(raw)
    agent, rest = (match["agent"], match["rest"]) if match else (None, raw)
    parts = rest.split(":")
    if _SUBAGENT in parts or parts[0] in ("", "agent") or not any(parts):
        return SessionKey(raw, rest, agent, None, None)
    has_channel = len(parts) > 1 and parts[1] in _CHAT_WORDS
    chat_type = _chat_type(parts, is_of_agent=match is not None)
    return SessionKey(raw, rest, agent, parts[0] if has_channel and chat_type else None, chat_type)


def canonical_key(text: str, agent: str) -> str:
    """Return the canonical spelling of an agent's session key: folded, with the agent named, and `direct` for `dm`."""
    key = read_key(text)
    if key.agent is None and key.raw.startswith(_AGENT_PREFIX):
        return key.raw
    parts = key.normalised.split(":")
    places = _CHAT_PLACES if len(parts) > _CHAT_PLACES else _CHAT_PLACES - 1
    spelled = ["direct" if at < places and part in _DIRECT_WORDS else part for at, part in enumerate(parts)]
    return ":".join(["agent", folded_id(key.agent or agent), *spelled])


def why_not_call(binding: Binding, who: Who) -> str:
    """Return the reason why a call may not be made on this socket, whatever its parameters; empty if it may."""
    return "" if binding.is_owner or who is not Who.OWNER else "this call is the owner's"


def decide(rules: AccessRules, binding: Binding, session_key: str | None, agents: Collection[str]) -> Decision:
    """Decide on a request by its socket and session key.

    Without a key only the owner is admitted. A key that is not understood is refused, unless a rule of each list names
    it. Other keys are decided by the rules. The key that a socket is bound to applies to all its requests, and a
    different key is refused; so is a key of an agent that is not among the configured `agents`.
    """
    if binding.session_key is not None:
        if session_key is not None and _fold(session_key) != _fold(binding.session_key):
            return Decision(read_key(session_key), "this socket is bound to another session key")
        session_key = binding.session_key
    if session_key is None:
        is_wanted = rules.requires_key and not binding.is_person
        reason = "memory.scope.requireSessionKey wants a session key" if is_wanted else ""
        return Decision(None, reason if binding.is_owner else "this socket needs a session key")
    key = read_key(session_key)
    return Decision(key, _why_not(rules, binding, key, agents))


def why_not_agent(binding: Binding, agent: str | None) -> str:
    """Return the reason why a request on this socket may not name `agent`; empty if it may."""
    if binding.is_owner or agent is None or folded_id(agent) == binding.agent:
        return ""
    return "this socket is bound to another agent"


def _why_not(rules: AccessRules, binding: Binding, key: SessionKey, agents: Collection[str]) -> str:
    if not key.is_understood and not _is_named(rules, key):
        return "the session key is not understood, or of a sub-agent"
    if key.agent is not None and key.agent not in agents:
        return "the session key is of an agent that is not configured"
    if not binding.is_owner and key.agent not in (None, binding.agent):
        return "the session key is of another agent"
    if not all(rule_list.allows(key) for rule_list in rules.lists):
        return "the access rules do not let this session ask"
    return ""


def _is_named(rules: AccessRules, key: SessionKey) -> bool:
    """Return whether a rule of each list names a key by its prefix: then the owner knows the key.

    Such a key may be foreign, or an agent's key of channel and peer. A damaged key of an agent is never named: its
    session is unknown, and a word between channel and peer may mean a group.
    """
    parts = key.normalised.split(":")
    is_of_peer = key.agent is not None and len(parts) == 2 and all(parts) and parts[0] not in (_MAIN, "agent")
    if _SUBAGENT in key.raw.split(":") or (key.raw.startswith(_AGENT_PREFIX) and not is_of_peer):
        return False
    return all(any(_names(rule.match, key) for rule in rule_list.rules) for rule_list in rules.lists)


def _names(match: Match, key: SessionKey) -> bool:
    prefix = _fold(match.raw_key_prefix or match.key_prefix or "")
    # a prefix with nothing but the agent names none of its chats
    chat = prefix.removeprefix(f"{_AGENT_PREFIX}{key.agent}") if key.agent else prefix
    return bool(chat.strip(":")) and prefix != _AGENT_PREFIX and match.fits(key)


def _chat_type(parts: Sequence[str], *, is_of_agent: bool) -> ChatType | None:
    """Return the widest chat type that the parts name; without one, DIRECT only if no one else can listen, or None."""
    if "group" in parts:
        return ChatType.GROUP
    if "channel" in parts:
        return ChatType.CHANNEL
    is_of_peer = len(parts) == 1 or (len(parts) == 2 and bool(parts[1]) and not _OF_MANY.fullmatch(parts[1]))
    is_without_chat = parts == [_MAIN] or (is_of_agent and (is_of_peer or parts[0] in _NO_CHANNELS))
    # a third part counts only before a peer; as the last part it may be the peer's name
    places = _CHAT_PLACES if len(parts) > _CHAT_PLACES else _CHAT_PLACES - 1
    return ChatType.DIRECT if is_without_chat or not _DIRECT_WORDS.isdisjoint(parts[:places]) else None


def _begins(key: str, prefix: str) -> bool:
    """Return whether the key begins with the prefix; an empty prefix matches no key, rather than all."""
    return bool(prefix) and key.startswith(prefix)


def folded_id(text: str) -> str:
    """Return the name of an agent for comparison: stripped and in lower case."""
    return text.strip().lower()


def _fold(text: str) -> str:
    """Return a key, or a prefix of one, for comparison, so that invisible characters make no difference.

    Format characters and the spaces around each part are removed, and compatibility forms are normalised (NFKC).
    """
    seen = "".join(letter for letter in text if unicodedata.category(letter) != "Cf")
    return ":".join(folded_id(part) for part in unicodedata.normalize("NFKC", seen).split(":"))


class Admitted(Struct, frozen=True):
    """A request that may see memory text: its agent (None if the owner named none), and whether its chat is direct."""

    agent: str | None
    is_direct: bool
    channel: str | None = None
    """Channel by which memories restricted to one channel are matched; None for no channel."""
    is_owner: bool = False
    """Whether the request comes from the owner rather than a session."""
    is_sandboxed: bool = False
    """Whether the request came through an agent's socket, which only that agent uses."""


HeaderPairs = Sequence[tuple[bytes, bytes]]
"""Header names in lower case, with unchanged values."""

MAX_TRIES = 10
TRIES_SECONDS = 60.0
_BEARER = b"bearer "
_OWN = ("127.0.0.1", "localhost", "[::1]")


class DoorRules(Struct, frozen=True):
    """Hosts and origins that a request may name, in lower case."""

    hosts: frozenset[str]
    origins: frozenset[str] = frozenset()

    @classmethod
    def of(cls, port: int, hosts: Sequence[str] = (), origins: Sequence[str] = ()) -> "DoorRules":
        """Return the rules of a port: the loopback names as hosts, with the given hosts and origins."""
        own = [f"{name}:{port}" for name in _OWN]
        return cls(frozenset([*own, *hosts]), frozenset(origins))

    def of_pages(self) -> "DoorRules":
        """Return the rules of pages: only hosts with a loopback name, on any listed port, such as that of a tunnel.

        Under any other name the cookie and the notes would cross a network that may not be encrypted.
        """
        return DoorRules(frozenset(host for host in self.hosts if host.rpartition(":")[0] in _OWN))

    def why_not_host(self, headers: HeaderPairs) -> str:
        """Return the reason why a request is not meant for this host; empty if it is."""
        hosts = _all(headers, b"host")
        return "" if len(hosts) == 1 and hosts[0].lower() in self.hosts else "the host that it names is not this one"

    def why_not_origin(self, headers: HeaderPairs) -> str:
        """Return the reason why the origin of a request is refused; empty if it names none, or a listed one."""
        is_listed = all(origin.lower() in self.origins for origin in _all(headers, b"origin"))
        return "" if is_listed else "it comes from an origin that is not listed"

    def why_not_page(self, headers: HeaderPairs, *, is_write: bool, is_entrance: bool) -> str:
        """Return the reason why a request to a page is refused by its origin; empty if it may be answered.

        A browser states the origin of a request in `Sec-Fetch-Site`; a write must be stated to come from our pages.
        Only the entrance, which merely asks for a token, may be linked from other sites.
        """
        own = {b"http://" + value.lower() for name, value in headers if name == b"host"}
        origins = {value.lower() for name, value in headers if name == b"origin"}
        sites = {value.lower() for name, value in headers if name == b"sec-fetch-site"}
        is_ours = sites == {b"same-origin"}
        # our pages forbid the referrer, so a browser sends the origin `null` even to its own site
        if not origins <= own | ({b"null"} if is_ours else set()):
            return "it comes from another origin"
        if is_write:
            return "" if is_ours or (origins and not sites) else "nothing says that it comes from this page"
        return "" if is_entrance or sites <= {b"same-origin", b"none"} else "it comes from another page"


def bearer_token(headers: HeaderPairs) -> bytes:
    """Return the bearer token of a request; empty without one, or with several authorization headers."""
    values = [value for name, value in headers if name == b"authorization"]
    if len(values) != 1 or not values[0].lower().startswith(_BEARER):
        return b""
    return values[0][len(_BEARER) :].strip()


def _all(headers: HeaderPairs, name: bytes) -> list[str]:
    return [value.decode("latin-1") for key, value in headers if key == name]


class TokenLimiter(Struct):
    """Limits wrong tokens to `most` within `seconds`; `clock` is monotonic, in seconds."""

    clock: Callable[[], float]
    most: int = MAX_TRIES
    seconds: float = TRIES_SECONDS
    _times: deque[float] = field(default_factory=deque)

    def wait(self) -> float:
        """Return for how many seconds the limit is reached; 0 if it is not. Wrong tokens are counted by `note`."""
        now = self.clock()
        while self._times and self._times[0] <= now - self.seconds:
            self._times.popleft()
        return self._times[0] + self.seconds - now if len(self._times) >= self.most else 0.0

    def note(self) -> None:
        """Count a wrong token."""
        self._times.append(self.clock())
