"""Which keys differ between two configurations, and what must restart or reload for each to take effect.

Values may be secret and are never returned. What a key takes is said where it is declared.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from memoryd.config.agents import AgentSection
from memoryd.config.loading.keys import section_in
from memoryd.config.root import Config
from memoryd.config.section import Effect, Section
from memoryd.domain.expressions import expression

AGENTS = "agents.list"


def changed_keys(old: Config, new: Config) -> list[str]:
    """Return the keys whose values differ, in the order of the models, such as `agents.list[work].workspace`.

    A key that is given now, or is not any more, differs though its value is the default: some keys mean something else
    where they are given. An agent that came or went is one key, with another one for its sockets.
    """
    return list(dict.fromkeys(_below(old, new, "")))


def _below(old: Section, new: Section, prefix: str) -> Iterator[str]:
    for name, field in type(new).model_fields.items():
        key = f"{prefix}{field.alias or name}"
        found = list(_of_values(getattr(old, name), getattr(new, name), key))
        is_given = [name in section.model_fields_set for section in (old, new)]
        yield from found or ([key] if is_given[0] != is_given[1] else [])


def _of_values(old: object, new: object, key: str) -> Iterator[str]:
    if isinstance(old, Section) and type(old) is type(new):
        yield from _below(old, new, f"{key}.")
    elif isinstance(old, Mapping) and isinstance(new, Mapping):
        for name in dict.fromkeys([*old, *new]):
            if name in old and name in new:
                yield from _of_values(old[name], new[name], f"{key}.{name}")
            else:
                yield f"{key}.{name}"
    elif key == AGENTS and isinstance(old, tuple) and isinstance(new, tuple):
        yield from _of_agents(old, new)
    elif old != new:
        yield key


def _of_agents(old: Sequence[AgentSection], new: Sequence[AgentSection]) -> Iterator[str]:
    before, after = {agent.id: agent for agent in old}, {agent.id: agent for agent in new}
    for agent in dict.fromkeys([*before, *after]):
        key = f"{AGENTS}[{agent}]"
        if agent in before and agent in after:
            yield from _below(before[agent], after[agent], f"{key}.")
        else:
            yield key
            if (before | after)[agent].sockets:
                yield f"{key}.sockets"
    # the first one is the default, if none says that it is
    both = before.keys() & after.keys()
    if [agent for agent in before if agent in both] != [agent for agent in after if agent in both]:
        yield AGENTS


def _declared(section: type[Section], prefix: str = "") -> Iterator[tuple[str, Effect]]:
    for name, field in section.model_fields.items():
        key = f"{prefix}{field.alias or name}"
        yield from ((key, mark) for mark in field.metadata if isinstance(mark, Effect))
        if below := section_in(field.annotation):
            yield from _declared(below, f"{key}.")


EFFECTS: Final = dict(_declared(Config))
"""What the fields say: the effect of a key, and of all below it that says nothing else."""
_PLACE: Final = expression(r"\[[^]]*\]")


def effect_of(key: str) -> Effect:
    """Return what a key takes that `changed_keys` names; of a whole section the strongest of what is in it."""
    plain = _PLACE.sub("", key)
    if above := [name for name in EFFECTS if _is_within(plain, name)]:
        return EFFECTS[max(above, key=len)]
    inner = {effect for name, effect in EFFECTS.items() if _is_within(name, plain)}
    return next((effect for effect in reversed(Effect) if effect in inner), Effect.RESTART)


def of_effect(keys: Iterable[str], effect: Effect) -> list[str]:
    """Return those of the keys that take this."""
    return [key for key in keys if effect_of(key) is effect]


def _is_within(key: str, section: str) -> bool:
    return key == section or key.startswith(f"{section}.")
