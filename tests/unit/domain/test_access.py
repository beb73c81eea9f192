"""Who may ask: keys as they are read, rules in order, and the whole matrix of sockets and keys."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoryd.domain.access import (
    OWNER,
    PERSON,
    AccessRules,
    Action,
    Binding,
    ChatType,
    Match,
    Rule,
    RuleList,
    Who,
    decide,
    is_group_key,
    read_key,
    why_not_agent,
    why_not_call,
)

AGENTS = ("main", "work")
SANDBOX = Binding("main")
FIXED = Binding("main", "agent:main:telegram:direct:42")
DIRECT, GROUP, SUBAGENT = "agent:main:main", "agent:main:discord:group:7", "agent:main:subagent:x"
EVERYBODY = AccessRules((RuleList((), Action.ALLOW),))
NOT_UNDERSTOOD = [
    "", "   ", ":", "::", "agent:", "agent::", "agent:main", "agent:main:", "agent::main", "agent:main::x", "garbage",
    "discord:7", "global", "unknown", "agent:ma in:main", "agent:main:agent:work:main", SUBAGENT, "subagent:x",
    "agent:main:cron:1:subagent:y", "agent:main:discord:group:7:subagent:y", "AGENT:MAIN:SUBAGENT:X",
]  # fmt: skip


@pytest.mark.parametrize("text", NOT_UNDERSTOOD)
def test_key_that_says_too_little_is_denied_even_where_everybody_may_ask(text: str) -> None:
    assert not read_key(text).is_understood
    assert not decide(EVERYBODY, OWNER, text, AGENTS).is_allowed
    assert not decide(EVERYBODY, SANDBOX, text, AGENTS).is_allowed


@pytest.mark.parametrize(
    "text",
    [
        "agent:main:tele:sub\u200bagent:1", "agent:main:telegram:direct:1: subagent :2", "agent:main:ｓubagent:x",
        "agent:main:telegram:supergroup:1", "agent:main:telegram:gr\u043eup:1", "agent:main:telegram:-1001234",
        "agent:main:telegram:supergroup", "agent:main:matrix:!room", "agent:main:irc:#help", "telegram:42",
        "agent:main:whatsapp:1203630@g.us", "agent:main:discord:thread", "agent:main:telegram:",
        "agent:main:telegram:supergroup:1:direct", "agent:main:telegram:supergroup:direct", "telegram:supergroup:1:dm",
        "agent:main:telegram::42", "\u200b", "agent:main:\u200b", "agent:main:sub\u00adagent：x",
    ],
)  # fmt: skip
def test_key_whose_words_only_look_like_others_is_denied(text: str) -> None:
    assert not decide(EVERYBODY, OWNER, text, AGENTS).is_allowed
    assert not decide(EVERYBODY, SANDBOX, text, AGENTS).is_allowed


@pytest.mark.parametrize(
    "text",
    [
        "agent:main:telegram:group\u200b:1", "agent:main:telegram: group :1", "agent:main:telegram:ｇｒｏｕｐ:1",
        "agent：main：telegram：group：1", "agent:main:telegram\ufeff:\u00a0gr\u00adoup\u2060:1",
        "agent:main:telegram:direct:1:gr\u200doup", "ag\u200bent:main:telegram:Group:1",
    ],
)  # fmt: skip
def test_group_is_a_group_however_it_is_spelled(text: str) -> None:
    key = read_key(text)
    assert (key.agent, key.channel, key.chat_type) == ("main", "telegram", ChatType.GROUP)
    assert not decide(AccessRules(), SANDBOX, text, AGENTS).is_allowed
    no_groups = RuleList((Rule(Action.DENY, Match(key_prefix="Telegram :g\u200broup")),), Action.ALLOW)
    assert decide(AccessRules((no_groups,)), OWNER, text, AGENTS).is_allowed == ("direct" in text)


@pytest.mark.parametrize(
    ("text", "channel", "chat_type"),
    [
        (DIRECT, None, "direct"),
        ("main", None, "direct"),
        (" Agent:Main:MAIN ", None, "direct"),
        ("agent:main:direct:42", None, "direct"),
        ("telegram:dm:42", "telegram", "direct"),
        ("agent:main:telegram:account:direct:42", None, "direct"),
        ("agent:main:telegram:direct:42:thread:7", "telegram", "direct"),
        (GROUP, "discord", "group"),
        ("discord:group", "discord", "group"),
        ("group:7", None, "group"),
        ("agent:main:discord:channel:c:group", "discord", "group"),
        ("agent:main:slack:direct:u:channel", "slack", "channel"),
        ("agent:main:cron:job:run:1", None, "direct"),
        ("agent:main:main:thread:7", None, "direct"),
        ("agent:main:home", None, "direct"),
        ("agent:main:telegram:42", None, "direct"),
        ("agent:main:whatsapp:+431234567", None, "direct"),
        ("agent:main:discord:ada", None, "direct"),
    ],
)
def test_channel_and_chat_type_are_read_from_the_key(text: str, channel: str | None, chat_type: str) -> None:
    key = read_key(text)
    assert (key.channel, key.chat_type) == (channel, chat_type)


@pytest.mark.parametrize(
    ("binding", "rules", "key", "is_allowed"),
    [
        (OWNER, AccessRules(), None, True),
        (OWNER, AccessRules(requires_key=True), None, False),
        (OWNER, AccessRules(requires_key=True), DIRECT, True),
        (PERSON, AccessRules(requires_key=True), None, True),
        (PERSON, AccessRules(), GROUP, False),
        (OWNER, AccessRules(), DIRECT, True),
        (OWNER, AccessRules(), GROUP, False),
        (OWNER, EVERYBODY, GROUP, True),
        (OWNER, EVERYBODY, SUBAGENT, False),
        (SANDBOX, EVERYBODY, None, False),
        (SANDBOX, AccessRules(), DIRECT, True),
        (SANDBOX, AccessRules(), GROUP, False),
        (SANDBOX, EVERYBODY, GROUP, True),
        (SANDBOX, EVERYBODY, SUBAGENT, False),
        (SANDBOX, EVERYBODY, "agent:work:main", False),
        (OWNER, EVERYBODY, "agent:work:main", True),
        (OWNER, EVERYBODY, "Agent:WORK:main", True),
        (OWNER, EVERYBODY, "agent:ghost:main", False),
        (SANDBOX, EVERYBODY, "agent:ghost:main", False),
        (FIXED, AccessRules(), None, True),
        (FIXED, AccessRules(), " AGENT:main:telegram:direct:42", True),
        (FIXED, EVERYBODY, DIRECT, False),
        (FIXED, EVERYBODY, "", False),
        (Binding("main", GROUP), AccessRules(), None, False),
        (Binding("main", GROUP), EVERYBODY, None, True),
    ],
)
def test_matrix_of_sockets_and_keys(binding: Binding, rules: AccessRules, key: str | None, is_allowed: bool) -> None:
    decision = decide(rules, binding, key, AGENTS)
    assert decision.is_allowed == is_allowed
    assert bool(decision.reason) == (not is_allowed)


def test_socket_of_an_agent_may_name_no_other() -> None:
    assert why_not_agent(SANDBOX, "work")
    assert not why_not_agent(SANDBOX, "Main")
    assert not why_not_agent(SANDBOX, None)
    assert not why_not_agent(OWNER, "work")


@pytest.mark.parametrize(
    ("match", "fits"),
    [
        (Match(), True),
        (Match(channel=" Discord "), True),
        (Match(channel="telegram"), False),
        (Match(chat_type=ChatType.GROUP), True),
        (Match(chat_type=ChatType.GROUP, channel="telegram"), False),
        (Match(key_prefix="DISCORD:Group:"), True),
        (Match(key_prefix="main:discord"), False),
        (Match(key_prefix="agent:main:discord:"), True),
        (Match(raw_key_prefix="Agent:Main:"), True),
        (Match(raw_key_prefix="discord:"), False),
        (Match(raw_key_prefix="agent:main:", key_prefix="telegram:"), False),
    ],
)
def test_every_given_field_of_a_rule_must_fit(match: Match, fits: bool) -> None:
    assert match.fits(read_key("agent:main:discord:group:7")) == fits


def test_first_rule_that_fits_decides_and_the_default_after_all() -> None:
    both = (Rule(Action.DENY, Match(channel="discord")), Rule(Action.ALLOW, Match(channel="discord")))
    assert not RuleList(both, Action.ALLOW).allows(read_key(GROUP))
    assert RuleList(both[::-1], Action.DENY).allows(read_key(GROUP))
    assert RuleList(both, Action.ALLOW).allows(read_key(DIRECT))
    assert not RuleList(both).allows(read_key(DIRECT))


def test_every_list_must_let_a_session_ask() -> None:
    wide, narrow = RuleList((), Action.ALLOW), RuleList()
    assert not decide(AccessRules((wide, narrow)), OWNER, GROUP, AGENTS).is_allowed
    assert decide(AccessRules((wide, wide)), OWNER, GROUP, AGENTS).is_allowed


def test_foreign_key_is_let_in_only_by_a_rule_that_names_it() -> None:
    named = AccessRules((RuleList((Rule(Action.ALLOW, Match(key_prefix="myapp:")),)),))
    assert decide(named, OWNER, "myapp:7", AGENTS).is_allowed
    assert not decide(named, OWNER, "other:7", AGENTS).is_allowed
    assert not decide(named, OWNER, "myapp:subagent:7", AGENTS).is_allowed
    assert not decide(AccessRules((RuleList((Rule(Action.ALLOW),)),)), OWNER, "myapp:7", AGENTS).is_allowed


@pytest.mark.parametrize(
    ("match", "is_allowed"),
    [
        (Match(key_prefix="telegram:-1001234"), True),
        (Match(key_prefix="telegram:"), True),
        (Match(raw_key_prefix="agent:main:telegram:"), True),
        (Match(key_prefix="telegram:paul"), False),
        (Match(raw_key_prefix="agent:main:"), False),
        (Match(raw_key_prefix="agent:main"), False),
        (Match(key_prefix="agent:"), False),
        (Match(), False),
    ],
)
def test_key_of_a_peer_that_looks_like_several_needs_a_rule_that_names_it(match: Match, is_allowed: bool) -> None:
    named = AccessRules((RuleList((Rule(Action.ALLOW, match),), Action.ALLOW),))
    assert decide(named, OWNER, "agent:main:telegram:-1001234", AGENTS).is_allowed == is_allowed
    assert decide(named, SANDBOX, "agent:main:telegram:-1001234", AGENTS).is_allowed == is_allowed
    for key in ("agent:main:telegram:supergroup:1", "agent:main:subagent:-1001234", "agent:main:telegram:"):
        assert not decide(named, OWNER, key, AGENTS).is_allowed
    assert not decide(AccessRules(), OWNER, "agent:main:telegram:-1001234", AGENTS).is_allowed


def test_key_of_an_agents_channel_and_peer_is_direct_as_in_openclaw() -> None:
    key = "agent:main:telegram:peter"
    assert decide(AccessRules(), OWNER, key, AGENTS).is_allowed
    assert decide(AccessRules(), SANDBOX, key, AGENTS).is_direct
    denied = AccessRules((RuleList((Rule(Action.DENY, Match(key_prefix="telegram:")),), Action.ALLOW),))
    assert not decide(denied, OWNER, key, AGENTS).is_allowed


@pytest.mark.parametrize("match", [Match(key_prefix="\u200b"), Match(raw_key_prefix=" \ufeff")])
def test_prefix_of_which_nothing_is_seen_names_nobody(match: Match) -> None:
    assert not decide(AccessRules((RuleList((Rule(Action.ALLOW, match),)),)), OWNER, "myapp:7", AGENTS).is_allowed


@pytest.mark.parametrize("key", ["agent:ghöst:main", "agent:main", "agent:main:agent:work:main", "agent:ghost"])
def test_damaged_key_of_an_agent_is_let_in_by_no_rule(key: str) -> None:
    named = AccessRules((RuleList((Rule(Action.ALLOW, Match(raw_key_prefix="agent:")),), Action.ALLOW),))
    assert not decide(named, OWNER, key, AGENTS).is_allowed
    assert decide(named, OWNER, "agent:main:main", AGENTS).is_allowed


def test_calls_of_the_owner_are_refused_on_a_socket_of_an_agent() -> None:
    assert not any(why_not_call(OWNER, who) for who in Who)
    assert [who for who in Who if why_not_call(SANDBOX, who)] == [Who.OWNER]


def test_owner_without_a_key_and_direct_chats_are_direct() -> None:
    assert decide(AccessRules(), OWNER, None, AGENTS).is_direct
    assert decide(AccessRules(), OWNER, DIRECT, AGENTS).is_direct
    assert not decide(EVERYBODY, OWNER, GROUP, AGENTS).is_direct


KEYS = st.one_of(
    st.text(max_size=40),
    st.lists(
        st.sampled_from(["agent", "main", "work", "discord", "group", "channel", "direct", "dm", "subagent", "", "7"]),
        max_size=7,
    ).map(":".join),
)


@given(KEYS)
def test_no_key_widens_what_its_spelling_says(text: str) -> None:
    key = read_key(text)
    parts = key.normalised.split(":")
    if "group" in parts or "channel" in parts:
        assert key.chat_type is not ChatType.DIRECT
    if "subagent" in parts:
        assert not key.is_understood
    for binding in (SANDBOX, FIXED):
        decision = decide(AccessRules(), binding, text, AGENTS)
        if decision.is_allowed:
            assert decision.key is not None
            assert decision.key.chat_type is ChatType.DIRECT
            assert decision.key.agent in (None, "main")


@given(KEYS, st.sampled_from([OWNER, SANDBOX, FIXED]))
def test_default_rules_are_never_wider_than_those_for_everybody(text: str, binding: Binding) -> None:
    if decide(AccessRules(), binding, text, AGENTS).is_allowed:
        assert decide(EVERYBODY, binding, text, AGENTS).is_allowed


@pytest.mark.parametrize(
    ("text", "channel"),
    [
        ("agent:main:main", None),
        ("main", None),
        ("agent:main:telegram:direct:42", "telegram"),
        ("Telegram:direct:42", "telegram"),
        ("agent:main:cron:daily", "cron"),
        ("agent:main:telegram:42", "telegram"),
        ("agent:main:heartbeat", "heartbeat"),
        ("agent:main:discord:group:7", "discord"),
    ],
)
def test_key_says_of_which_channel_memories_are_for_it(text: str, channel: str | None) -> None:
    assert read_key(text).memory_channel == channel


@pytest.mark.parametrize(
    ("key", "is_group"),
    [
        ("", False),
        ("agent:main:main", False),
        ("agent:main:telegram:direct:7", False),
        ("agent:main:telegram:group:9", True),
        ("agent:main:slack:channel:c1", True),
        ("agent:main:cron", False),
    ],
)
def test_session_of_a_group_is_told_by_its_key(key: str, is_group: bool) -> None:
    assert is_group_key(key) is is_group
