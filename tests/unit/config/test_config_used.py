"""Every key is read by the program or listed as one without effect."""

import re
from collections.abc import Iterator

from memoryd.config.loading.foreign import WITHOUT_EFFECT
from memoryd.config.loading.keys import own_keys, section_at
from memoryd.config.root import Config
from memoryd.config.section import Section
from tests.package_trees import SOURCES

READ = {name for text in SOURCES.values() for name in re.findall(r"\.(\w+)", text)}
SEARCH = "agents.defaults.memorySearch."
NOTHING_TO_READ = {
    f"{SEARCH}store.driver": "there is one",
}


def fields(section: type[Section], path: tuple[str, ...] = ()) -> Iterator[tuple[str, str]]:
    """Yield the keys below a section and their attribute names; keys in `agents.list` repeat the defaults."""
    names = {field.alias or name: name for name, field in section.model_fields.items()}
    for key in own_keys(section):
        here = (*path, key)
        yield ".".join(here), names[key]
        # a list and a map are entered by any of their places
        below = section_at(Config, here) or section_at(Config, (*here, 0))
        if below is not None and here[:2] != ("agents", "list"):
            yield from fields(below, here)


def test_every_key_is_read_or_listed_as_one_without_effect() -> None:
    listed = tuple(key.replace("memorySearch.", SEARCH, 1) for key in WITHOUT_EFFECT)
    known = dict(fields(Config))
    unread = {key for key, name in known.items() if name not in READ}
    assert len(known) > 120
    assert {key for key in unread if not key.startswith(listed)} == set(NOTHING_TO_READ)
