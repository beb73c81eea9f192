"""Access control: parsing of session keys, rules, and decisions per socket and key."""

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
ALLOW_ALL = AccessRules((RuleList((), Action.ALLOW),))
INCOMPLETE_KEYS = [
    "", "   ", ":", "::", "agent:", "agent::", "agent:main", "agent:main:", "agent::main", "agent:main::x", "garbage",
    "discord:7", "global", "unknown", "agent:ma in:main", "agent:main:agent:work:main", SUBAGENT, "subagent:x",
    "agent:main:cron:1:subagent:y", "agent:main:discord:group:7:subagent:y", "AGENT:MAIN:SUBAGENT:X",
]  # fmt: skip


def allows(rules: AccessRules, binding: Binding, key: str | None) -> bool:
    return decide(rules, binding, key, AGENTS).is_allowed


def rules_of(*rules: Rule, default: Action = Action.DENY) -> AccessRules:
    return AccessRules((RuleList(rules, default),))


@pytest.mark.parametrize("text", INCOMPLETE_KEYS)
def test_incomplete_key_is_denied_even_if_all_are_allowed(text: str) -> None:
    assert not read_key(text).is_understood
    assert not is_group_key("")
    assert not allows(ALLOW_ALL, OWNER, text)
    assert not allows(ALLOW_ALL, SANDBOX, text)


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
def test_key_that_imitates_another_word_is_denied(text: str) -> None:
    assert not allows(ALLOW_ALL, OWNER, text)
    assert not allows(ALLOW_ALL, SANDBOX, text)


@pytest.mark.parametrize(
    "text",
    [
        "agent:main:telegram:group\u200b:1", "agent:main:telegram: group :1", "agent:main:telegram:ｇｒｏｕｐ:1",
        "agent：main：telegram：group：1", "agent:main:telegram\ufeff:\u00a0gr\u00adoup\u2060:1",
        "agent:main:telegram:direct:1:gr\u200doup", "ag\u200bent:main:telegram:Group:1",
    ],
)  # fmt: skip
def test_group_key_is_recognised_in_every_spelling(text: str) -> None:
    key = read_key(text)
    assert (key.agent, key.channel, key.chat_type) == ("main", "telegram", ChatType.GROUP)
    assert not allows(AccessRules(), SANDBOX, text)
    no_groups = rules_of(Rule(Action.DENY, Match(key_prefix="Telegram :g\u200broup")), default=Action.ALLOW)
    assert allows(no_groups, OWNER, text) == ("direct" in text)


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
        ("agent:main:cron", None, "direct"),
        ("agent:main:telegram:42", None, "direct"),
        ("agent:main:whatsapp:+431234567", None, "direct"),
        ("agent:main:discord:ada", None, "direct"),
    ],
)
def test_key_has_channel_and_chat_type(text: str, channel: str | None, chat_type: str) -> None:
    key = read_key(text)
    assert (key.channel, key.chat_type) == (channel, chat_type)
    assert is_group_key(text) is (chat_type != "direct")


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
        (OWNER, ALLOW_ALL, GROUP, True),
        (OWNER, ALLOW_ALL, SUBAGENT, False),
        (SANDBOX, ALLOW_ALL, None, False),
        (SANDBOX, AccessRules(), DIRECT, True),
        (SANDBOX, AccessRules(), GROUP, False),
        (SANDBOX, ALLOW_ALL, GROUP, True),
        (SANDBOX, ALLOW_ALL, SUBAGENT, False),
        (SANDBOX, ALLOW_ALL, "agent:work:main", False),
        (OWNER, ALLOW_ALL, "agent:work:main", True),
        (OWNER, ALLOW_ALL, "Agent:WORK:main", True),
        (OWNER, ALLOW_ALL, "agent:ghost:main", False),
        (SANDBOX, ALLOW_ALL, "agent:ghost:main", False),
        (FIXED, AccessRules(), None, True),
        (FIXED, AccessRules(), " AGENT:main:telegram:direct:42", True),
        (FIXED, ALLOW_ALL, DIRECT, False),
        (FIXED, ALLOW_ALL, "", False),
        (Binding("main", GROUP), AccessRules(), None, False),
        (Binding("main", GROUP), ALLOW_ALL, None, True),
    ],
)
def test_decision_for_socket_and_key(binding: Binding, rules: AccessRules, key: str | None, is_allowed: bool) -> None:
    decision = decide(rules, binding, key, AGENTS)
    assert decision.is_allowed == is_allowed
    assert bool(decision.reason) == (not is_allowed)


def test_agent_socket_may_not_name_another_agent() -> None:
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
def test_rule_matches_only_if_every_field_matches(match: Match, fits: bool) -> None:
    assert match.fits(read_key("agent:main:discord:group:7")) == fits


def test_first_matching_rule_decides_before_the_default() -> None:
    both = (Rule(Action.DENY, Match(channel="discord")), Rule(Action.ALLOW, Match(channel="discord")))
    assert not RuleList(both, Action.ALLOW).allows(read_key(GROUP))
    assert RuleList(both[::-1], Action.DENY).allows(read_key(GROUP))
    assert RuleList(both, Action.ALLOW).allows(read_key(DIRECT))
    assert not RuleList(both).allows(read_key(DIRECT))


def test_session_needs_permission_of_every_list() -> None:
    wide, narrow = RuleList((), Action.ALLOW), RuleList()
    assert not allows(AccessRules((wide, narrow)), OWNER, GROUP)
    assert allows(AccessRules((wide, wide)), OWNER, GROUP)


def test_foreign_key_needs_a_rule_that_names_it() -> None:
    named = rules_of(Rule(Action.ALLOW, Match(key_prefix="myapp:")))
    assert allows(named, OWNER, "myapp:7")
    assert not allows(named, OWNER, "other:7")
    assert not allows(named, OWNER, "myapp:subagent:7")
    assert not allows(rules_of(Rule(Action.ALLOW)), OWNER, "myapp:7")


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
def test_peer_that_looks_like_a_group_needs_a_rule_that_names_it(match: Match, is_allowed: bool) -> None:
    named = rules_of(Rule(Action.ALLOW, match), default=Action.ALLOW)
    assert allows(named, OWNER, "agent:main:telegram:-1001234") == is_allowed
    assert allows(named, SANDBOX, "agent:main:telegram:-1001234") == is_allowed
    for key in ("agent:main:telegram:supergroup:1", "agent:main:subagent:-1001234", "agent:main:telegram:"):
        assert not allows(named, OWNER, key)
    assert not allows(AccessRules(), OWNER, "agent:main:telegram:-1001234")


def test_key_of_channel_and_peer_is_direct_as_in_openclaw() -> None:
    key = "agent:main:telegram:peter"
    assert allows(AccessRules(), OWNER, key)
    assert decide(AccessRules(), SANDBOX, key, AGENTS).is_direct
    denied = rules_of(Rule(Action.DENY, Match(key_prefix="telegram:")), default=Action.ALLOW)
    assert not allows(denied, OWNER, key)


@pytest.mark.parametrize("match", [Match(key_prefix="\u200b"), Match(raw_key_prefix=" \ufeff")])
def test_invisible_prefix_matches_no_key(match: Match) -> None:
    assert not allows(rules_of(Rule(Action.ALLOW, match)), OWNER, "myapp:7")


@pytest.mark.parametrize("key", ["agent:ghöst:main", "agent:main", "agent:main:agent:work:main", "agent:ghost"])
def test_no_rule_admits_a_damaged_agent_key(key: str) -> None:
    named = rules_of(Rule(Action.ALLOW, Match(raw_key_prefix="agent:")), default=Action.ALLOW)
    assert not allows(named, OWNER, key)
    assert allows(named, OWNER, "agent:main:main")


def test_agent_socket_refuses_calls_of_the_owner() -> None:
    assert not any(why_not_call(OWNER, who) for who in Who)
    assert [who for who in Who if why_not_call(SANDBOX, who)] == [Who.OWNER]


def test_owner_without_key_and_direct_chat_are_direct() -> None:
    assert decide(AccessRules(), OWNER, None, AGENTS).is_direct
    assert decide(AccessRules(), OWNER, DIRECT, AGENTS).is_direct
    assert not decide(ALLOW_ALL, OWNER, GROUP, AGENTS).is_direct


KEYS = st.one_of(
    st.text(max_size=40),
    st.lists(
        st.sampled_from(["agent", "main", "work", "discord", "group", "channel", "direct", "dm", "subagent", "", "7"]),
        max_size=7,
    ).map(":".join),
)


@given(KEYS)
def test_no_key_gets_more_access_than_its_words_give(text: str) -> None:
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
def test_default_rules_allow_no_more_than_allow_all(text: str, binding: Binding) -> None:
    if allows(AccessRules(), binding, text):
        assert allows(ALLOW_ALL, binding, text)


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
def test_key_has_memory_channel(text: str, channel: str | None) -> None:
    assert read_key(text).memory_channel == channel
