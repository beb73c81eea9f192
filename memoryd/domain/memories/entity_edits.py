"""Pages of entities, `bank/entities/<slug>.md`: merging and splitting of names, and aliases in the front matter.

Names and pages decide which entity a name belongs to, never similarity. The list of aliases is edited in place, in its
own style: `[Pete, P]`, or one item per line. Ambiguous YAML, and lists that cannot be edited safely, are refused.
"""

import json
from collections.abc import Sequence

from msgspec import Struct

from memoryd.domain.documents import SUFFIX, RelativePath, is_conflict_copy
from memoryd.domain.expressions import expression, word_set
from memoryd.domain.memories.book import Book, EntityPage, spelling
from memoryd.domain.memories.entities import ENTITY_PAGES, EntitySlug, entity_page, slug_of
from memoryd.domain.memories.generated import generated_in
from memoryd.domain.memories.kinds import Kind
from memoryd.domain.memories.line import MAX_NAME, RetainedLine
from memoryd.domain.memories.sections import aliases_of
from memoryd.domain.text.lines import PADDING
from memoryd.domain.text.markdown import FRONT_MATTER_CHARS, front_matter, front_matter_bytes

KEY = "aliases"
MAX_BRACKETS = 200
"""Parsing deeply nested lists takes YAML very long."""
_PLAIN = expression(r"[^\W\d_](?:[\w .'-]*\w)?\Z")
_WORDS = word_set("y n yes no on off true false null")
"""Words that YAML does not parse as text."""
_ITEM = expression(r" *-[ \t]+\Z")
_BARE_KEY = expression(rf"(?m)^(?:{KEY}|\"{KEY}\"|'{KEY}')[ \t]*:[ \t]*\n\Z")


class AliasEditError(ValueError):
    """The front matter cannot be edited safely; the message says what to do."""


class _Name(Struct, frozen=True):
    """A name, or null, and its place in the front matter."""

    text: str
    start: int
    end: int


class _FrontMatter(Struct, frozen=True):
    """The front matter of a page: its text and its start; `key_end` is the end of the key, 0 if there is none.

    The value is null, one name, or a list of names, which `is_flow` if it is in brackets.
    """

    body: str
    start: int
    key_end: int = 0
    value_start: int = 0
    names: Sequence[_Name] = ()
    is_list: bool = False
    is_flow: bool = False
    is_null: bool = False


def with_alias(text: str | None, name: str, alias: str) -> str:
    """Return the page of the entity `name` with a new alias, a new page if `text` is None; raise AliasEditError."""
    block = f"---\n{_lines(alias)}---\n"
    if text is None:
        edited = f"{block}# {name}\n"
    elif not front_matter(text).end:
        edited = f"{block}\n{text}"
    else:
        front = _read_front_matter(text)
        body = _add(front, alias)
        edited = text[: front.start] + body + text[front.start + len(front.body) :]
    _check(edited, [*aliases_in(text or ""), alias])
    return edited


def without_alias(text: str, alias: str) -> str:
    """Return the page without an alias, in any case; empty if nothing but the name would remain.

    Raises AliasEditError.
    """
    front, slug = _read_front_matter(text), slug_of(alias)
    body = _remove(front, slug)
    rest = text[front.start + len(front.body) :]
    edited = text[: front.start] + body + rest if body else _without_block(rest)
    _check(edited, [name for name in aliases_in(text) if slug_of(name) != slug])
    return edited


def aliases_in(text: str) -> tuple[str, ...]:
    """Return the aliases in the front matter of a page."""
    return aliases_of(front_matter(text).values)


def is_made_for(text: str, alias: str) -> bool:
    """Return whether a page was created for this alias alone: without it, only a name would remain."""
    title = text.rstrip("\n").rpartition("\n")[2]
    return title.startswith("# ") and text == f"---\n{_lines(alias)}---\n{title}\n"


def _check(edited: str, expected: Sequence[str]) -> None:
    if list(map(slug_of, aliases_in(edited))) != list(map(slug_of, expected)):
        raise AliasEditError("the front matter cannot be edited safely: edit its aliases by hand")


def _read_front_matter(text: str) -> _FrontMatter:
    head = text[: front_matter(text).end].rstrip("\n")
    start, close = text.find("\n") + 1, head.rfind("\n") + 1
    body = text[start:close]
    if body.count("[") + body.count("{") > MAX_BRACKETS:
        raise AliasEditError("the front matter has too many brackets: edit its aliases by hand")
    import yaml  # here: readers of pages, such as the index, do not need it

    try:
        root = yaml.compose(body, Loader=yaml.SafeLoader)
    except (yaml.YAMLError, RecursionError) as exc:
        raise AliasEditError("the front matter is no YAML: mend it by hand") from exc
    if root is None:
        return _FrontMatter(body, start)
    if not isinstance(root, yaml.MappingNode) or root.flow_style:
        raise AliasEditError("the front matter is no list of keys, one on a line: mend it by hand")
    values = [(key, value) for key, value in root.value if key.value == KEY]
    if len(values) > 1:
        raise AliasEditError(f"the front matter has {KEY} twice: mend it by hand")
    if not values:
        return _FrontMatter(body, start)
    key, value = values[0]
    is_list = isinstance(value, yaml.SequenceNode)
    items = value.value if is_list else [value]
    if not all(isinstance(item, yaml.ScalarNode) for item in items):
        raise AliasEditError(f"{KEY} is no list of names: mend it by hand")
    return _FrontMatter(
        body,
        start,
        key_end=key.end_mark.index,
        value_start=value.start_mark.index,
        names=[_Name(item.value, item.start_mark.index, item.end_mark.index) for item in items],
        is_list=is_list,
        is_flow=is_list and bool(value.flow_style),
        is_null=value.tag.endswith(":null"),
    )


def _add(front: _FrontMatter, alias: str) -> str:
    """Return the front matter with a new alias, in the style of its list."""
    body, names = front.body, front.names
    if not front.key_end:
        return body + _lines(alias)
    if front.is_null:
        colon = body.index(":", front.key_end) + 1
        return f"{body[:colon]} [{_quote(alias)}]{body[colon:]}"
    if not front.is_list:
        return f"{body[: names[0].start]}[{_quote(names[0].text)}, {_quote(alias)}]{body[names[0].end :]}"
    if front.is_flow:
        at = names[-1].end if names else front.value_start + 1
        return f"{body[:at]}{', ' if names else ''}{_quote(alias)}{body[at:]}"
    at = body.find("\n", names[-1].end) + 1
    return f"{body[:at]}{_dash(body, names[-1])}{_quote(alias)}\n{body[at:]}"


def _remove(front: _FrontMatter, slug: EntitySlug) -> str:
    body, names = front.body, front.names
    removed = [number for number, name in enumerate(names) if slug_of(name.text) == slug]
    if removed and not front.is_list:
        return f"{body[: names[0].start]}[]{body[names[0].end :]}"
    for number in reversed(removed):
        body = _without_item(body, names, number) if front.is_flow else _without_line(body, names[number])
    is_left = len(removed) < len(names)
    return body if is_left or front.is_flow or not removed else _without_key(body, front.key_end)


def _without_item(body: str, names: Sequence[_Name], number: int) -> str:
    begin, stop = start, end = names[number].start, names[number].end
    if number:
        start = names[number - 1].end
    elif len(names) > 1:
        end = names[1].start
    # only the separators are checked, because a name may contain `#`
    if "#" in body[start:begin] + body[stop:end] or "\n" in body[start:end]:
        raise AliasEditError("the list of aliases goes over several lines: take it out by hand")
    return body[:start] + body[end:]


def _without_line(body: str, name: _Name) -> str:
    """Remove a name with its line; a comment after it remains."""
    dash = _dash(body, name)
    start, end = name.start - len(dash), body.find("\n", name.end) + 1
    rest = body[name.end : end]
    return body[:start] + (rest.lstrip(" \t") if rest.strip() else "") + body[end:]


def _without_key(body: str, key_end: int) -> str:
    start, end = body.rfind("\n", 0, key_end) + 1, body.find("\n", key_end) + 1
    return body[:start] + body[end:] if _BARE_KEY.match(body[start:end]) else body


def _without_block(body: str) -> str:
    """Return the text after a removed front matter; empty if it is only the name."""
    text = body.partition("\n")[2]
    if text.startswith("\n"):
        return text[1:]
    is_name = text.startswith("# ") and text.count("\n") == 1 and text.endswith("\n")
    return "" if is_name else text


def _dash(body: str, name: _Name) -> str:
    """Return the text before a name on its line."""
    dash = body[body.rfind("\n", 0, name.start) + 1 : name.start]
    if not _ITEM.match(dash):
        raise AliasEditError("the list of aliases is written unusually: edit it by hand")
    return dash


def _lines(alias: str) -> str:
    return f"{KEY}:\n  - {_quote(alias)}\n"


def _quote(alias: str) -> str:
    is_plain = _PLAIN.match(alias) and alias.lower() not in _WORDS
    return alias if is_plain else json.dumps(alias, ensure_ascii=False)


_HEADING_BYTES = 4096
"""Bytes after the front matter in which the first heading is searched."""


def is_entity_page(path: str) -> bool:
    """Return whether a document is the page of an entity."""
    return path.startswith(ENTITY_PAGES) and "/" not in path[len(ENTITY_PAGES) :] and not is_conflict_copy(path)


def entity_page_of(data: bytes, path: RelativePath) -> EntityPage | None:
    """Return the page of an entity from UTF-8 that ends in `PADDING`; None for any other document.

    Its name is its first heading, or else that of the file.
    """
    if not is_entity_page(path):
        return None
    front, size = front_matter_bytes(data), len(data) - len(PADDING)
    values = front_matter(data[: min(4 * FRONT_MATTER_CHARS, size)].decode("utf-8", "replace")).values
    # generated headings do not count
    own = generated_in(data, front).blanked(data)
    body = own[front : min(front + _HEADING_BYTES, size)].decode("utf-8", "replace")
    return EntityPage(path, _heading(body) or path[len(ENTITY_PAGES) : -len(SUFFIX)], aliases_of(values))


def _heading(body: str) -> str:
    """Return the title of the first heading, empty if there is none or it is too long for a name."""
    lines = (line.strip("\ufeff \t\r") for line in body.split("\n"))
    titles = (line.lstrip("#").strip().rstrip("#").strip() for line in lines if line.startswith(("# ", "## ")))
    title = " ".join(next(titles, "").split())
    return title if len(title) <= MAX_NAME else ""


class AliasPlace(Struct, frozen=True):
    """An existing or new alias of an entity, whose page is at `path`."""

    alias: str
    entity: str
    path: RelativePath


def plan_merge(book: Book, name: str, into: str) -> AliasPlace:
    """Return the place for `name` as an alias of `into`; raise ValueError with the reason if it cannot be one."""
    alias, entity = _check_name(name), _check_name(into)
    slug, target = slug_of(alias), slug_of(entity)
    if slug == target:
        raise ValueError(f"{alias!r} and {entity!r} are one name already")
    claimed = _claims(book, slug)
    if target in claimed and len(claimed) == 1:
        return _place(book, alias, target, entity)
    if claimed:
        raise ValueError(f"{alias!r} is an alias of {_list_names(book, claimed)} already: split it first")
    if above := _claims(book, target):
        raise ValueError(f"{entity!r} is itself an alias of {_list_names(book, above)}: merge into that")
    if (page := book.pages.get(slug)) and page.aliases:
        raise ValueError(f"{alias!r} has aliases of its own ({', '.join(page.aliases)}): split them first")
    if target not in book.pages and target not in book.by_entity:
        raise ValueError(f"no memory and no page names {entity!r}")
    return _place(book, alias, target, entity)


def plan_split(book: Book, name: str) -> AliasPlace:
    """Return the place of an alias; raise LookupError if it belongs to no entity, ValueError if to several."""
    alias = _check_name(name)
    claimed = _claims(book, slug_of(alias))
    if not claimed:
        raise LookupError(f"{alias!r} is no alias of an entity")
    if len(claimed) > 1:
        raise ValueError(f"{alias!r} is an alias of {_list_names(book, claimed)}: take it out of one page by hand")
    return _place(book, alias, claimed[0], alias)


def _check_name(name: str) -> str:
    plain = " ".join(name.removeprefix("@").split())
    try:
        RetainedLine(Kind.NOTE, "named", (plain,))
    except ValueError as exc:
        raise ValueError(f"{name[:MAX_NAME]!r} is no name: {exc}") from exc
    if not plain.isprintable():
        raise ValueError(f"{name[:MAX_NAME]!r} is no name: it holds invisible characters")
    return plain


def _claims(book: Book, slug: EntitySlug) -> list[EntitySlug]:
    """Return the entities whose pages list a name as an alias, in order."""
    return sorted(
        entity
        for entity, page in book.pages.items()
        if entity != slug and slug in {slug_of(alias) for alias in page.aliases}
    )


def _place(book: Book, alias: str, slug: EntitySlug, written: str) -> AliasPlace:
    """Return the place with the entity's name from its page, else its most frequent spelling, else `written`."""
    if page := book.pages.get(slug):
        return AliasPlace(alias, page.name, RelativePath(page.path))
    memories = (book.memories[one] for one in book.by_entity.get(slug, ()))
    return AliasPlace(alias, spelling(slug, memories, written), RelativePath(entity_page(slug)))


def _list_names(book: Book, slugs: list[EntitySlug]) -> str:
    return " and ".join(repr(book.pages[slug].name) for slug in slugs)
