"""The pages of people and things: who and what memories are about, and what is known, thought and named with each."""

import asyncio
from collections.abc import Sequence

from memoryd.api.calls import entities as calls
from memoryd.api.calls import reflect
from memoryd.api.calls.entities import EntityMergeRequest, EntitySplitRequest
from memoryd.domain.access import Who
from memoryd.domain.memories.entities import slug_of
from memoryd.replies.knowledge import EntityChangeReply, EntityLinksReply, EntityMemoryReply, EntityReply
from memoryd.web import drawing
from memoryd.web.pages import Page, Redirect, View, Visit, is_of_day, sentences, url_of
from memoryd.web.session import Notice

SHOWN = 50
"""Entities of one page of the list."""
MEMORIES = 25
OPINIONS = 6
EVIDENCE = 4
"""Of one entity: the others are a filter of the pages of memories away."""


async def listing(visit: Visit) -> View:
    """List entities, those with most memories first; of a name, where one is looked for."""
    query = visit.text("q")
    reply = await calls.listing(visit.admitted, visit.memories, query, visit.text("after"), SHOWN)
    more = {"q": query, "after": reply["next"]} if reply["next"] else None
    return View({"rows": reply["entities"], "total": reply["total"], "query": query, "next": more})


async def entity(visit: Visit) -> View:
    """Show one entity: what is known of it, what is thought and why, its names, and what it is named with."""
    name = visit.text("name")
    known = await calls.show(name, visit.admitted, visit.memories, MEMORIES)
    why = await asyncio.gather(
        *(reflect.why(one["id"], visit.admitted, visit.memories) for one in known["opinions"][:OPINIONS])
    )
    links = await calls.links(name, visit.admitted, visit.memories, drawing.NODES - 1, visit.text("with"))
    return View(
        {
            "title": known["name"],
            "entity": known,
            "opinions": [(one, drawing.confidence_curve(one)) for one in why],
            "links": links,
            "with_it": _named_with(links),
            "is_rest": bool(visit.text("with")),
            "more": url_of("entity", name=name, **{"with": links["next"]}) if links["next"] else "",
            "picture": drawing.link_picture(links) if len(links["entities"]) > 1 else None,
            "drawing": drawing,
            "EVIDENCE": EVIDENCE,
            "back": url_of("entity", name=name),
            "dates": _dates(known["memories"]),
        }
    )


def _dates(memories: Sequence[EntityMemoryReply]) -> list[tuple[str, list[EntityMemoryReply]]]:
    """Return memories by their days, the newest first; those that no note of a day states come last, without one."""
    by_day: dict[str, list[EntityMemoryReply]] = {}
    for one in memories:
        by_day.setdefault(one["day"] if is_of_day(one["source"]) else "", []).append(one)
    return sorted(by_day.items(), reverse=True)


def _named_with(links: EntityLinksReply) -> list[tuple[EntityReply, int]]:
    """Return those that an entity is named with, each with how many memories name both."""
    own, *others = links["entities"]
    shared = {
        link["other"] if link["one"] == own["slug"] else link["one"]: link["memories"]
        for link in links["links"]
        if own["slug"] in (link["one"], link["other"])
    }
    return [(one, shared[one["slug"]]) for one in others]


async def merge(visit: Visit) -> Redirect:
    """Make another name an alias of an entity."""
    name, into = visit.text("alias"), visit.text("into")
    done = await calls.merge(visit.request(EntityMergeRequest, name=name, into=into), visit.caller, visit.memories)
    text = f"{name} is another name of {done['entity']} now." if done["written"] else "It was so already."
    return Redirect(url_of("entity", name=into), _notice(text, done))


async def split(visit: Visit) -> Redirect:
    """Take an alias out: what is said of it is of an entity of its own again."""
    alias = visit.text("alias")
    done = await calls.split(visit.request(EntitySplitRequest, alias=alias), visit.caller, visit.memories)
    text = f"{alias} is an entity of its own again." if done["written"] else "It was so already."
    return Redirect(visit.back(url_of("entity", name=slug_of(alias))), _notice(text, done))


def _notice(text: str, done: EntityChangeReply) -> Notice:
    return Notice(sentences(text, done["note"]), (done["change"],) if done["change"] else ())


PAGES = (
    Page(path="entities", title="People and things", handler=listing),
    Page(path="entity", title="Entity", handler=entity, under="entities"),
    Page(path="merge", method="POST", handler=merge, who=Who.OWNER),
    Page(path="split", method="POST", handler=split, who=Who.OWNER),
)
