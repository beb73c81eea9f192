"""Which keys differ between two configurations, and the effect of a reload on each key."""

import pytest

from memoryd.config.loading.keys import all_keys, own_keys
from memoryd.config.root import EFFECTS, Config, changed_keys, effect_of, keys_with_effect
from memoryd.config.section import Effect


def config(**sections: object) -> Config:
    return Config.model_validate(sections)


def test_same_configuration_has_no_changed_keys() -> None:
    given = {"memory": {"citations": "on"}, "agents": {"list": [{"id": "a"}]}}
    assert changed_keys(config(**given), config(**given)) == []


@pytest.mark.parametrize(
    ("before", "after", "keys"),
    [
        ({}, {"memory": {"citations": "on"}}, ["memory.citations"]),
        # equal to the default: some keys mean something else if they are given
        ({}, {"memory": {"citations": "auto"}}, ["memory.citations"]),
        ({}, {"memory": {}}, ["memory"]),
        ({"http": {"port": 1}}, {"http": {"port": 2}}, ["http.port"]),
        (
            {"models": {"providers": {"openai": {"apiKey": "one"}}}},
            {"models": {"providers": {"openai": {"apiKey": "two"}}}},
            ["models.providers.openai.apiKey"],
        ),
        (
            {"agents": {"list": [{"id": "a"}, {"id": "b", "workspace": "/b"}]}},
            {"agents": {"list": [{"id": "a", "name": "Ada"}, {"id": "b", "workspace": "/c"}]}},
            ["agents.list[a].name", "agents.list[b].workspace"],
        ),
        (
            {"agents": {"list": [{"id": "a"}]}},
            {"agents": {"list": [{"id": "a"}, {"id": "b", "sockets": [{"path": "/s"}]}]}},
            ["agents.list[b]", "agents.list[b].sockets"],
        ),
        (
            {"agents": {"list": [{"id": "a"}, {"id": "b"}]}},
            {"agents": {"list": [{"id": "b"}, {"id": "a"}]}},
            ["agents.list"],
        ),
    ],
)
def test_changed_keys_are_named(before: dict[str, object], after: dict[str, object], keys: list[str]) -> None:
    assert changed_keys(config(**before), config(**after)) == keys
    assert sorted(changed_keys(config(**after), config(**before))) == sorted(keys)


def test_values_are_never_named() -> None:
    before, after = ({"models": {"providers": {"openai": {"apiKey": key}}}} for key in ("sk-old", "sk-new"))
    assert "sk-" not in str(changed_keys(config(**before), config(**after)))


def test_every_key_has_an_effect_or_is_in_a_section_with_one() -> None:
    for key in all_keys(Config):
        is_within = any(key == name or key.startswith(f"{name}.") for name in EFFECTS)
        assert is_within or any(name.startswith(f"{key}.") for name in EFFECTS), key
    assert EFFECTS.keys() <= set(all_keys(Config))
    assert {name.partition(".")[0] for name in EFFECTS} == own_keys(Config).keys()


@pytest.mark.parametrize(
    ("key", "effect"),
    [
        ("memory.citations", Effect.EXCHANGE),
        ("agents.list[work]", Effect.EXCHANGE),
        ("agents.list[work].sockets", Effect.RESTART),
        ("agents.list[work].memorySearch.query.maxResults", Effect.EXCHANGE),
        ("agents", Effect.EXCHANGE),
        ("agents.list", Effect.EXCHANGE),
        ("limits", Effect.EXCHANGE),
        ("limits.maxRequests", Effect.AT_ONCE),
        ("http", Effect.RESTART),
        ("log.level", Effect.AT_ONCE),
        ("models.providers.openai.apiKey", Effect.EXCHANGE),
        ("nothing.that.is", Effect.RESTART),
    ],
)
def test_effect_of_a_key(key: str, effect: Effect) -> None:
    assert effect_of(key) is effect
    assert keys_with_effect([key], effect) == [key]
