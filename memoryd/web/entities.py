"""The pages of people and things: who and what memories are about, and what is known, thought and named with each.

The points of their pictures, which templates draw as SVG: the confidence of an opinion over time, and who is named with
whom.
"""

import asyncio
from collections.abc import Sequence
from datetime import date
from math import cos, degrees, hypot, pi, sin, sqrt

from msgspec import Struct

from memoryd.api.calls import entities as calls
from memoryd.api.calls import reflect
from memoryd.api.calls.entities import EntityMergeRequest, EntitySplitRequest
from memoryd.domain.access import Who
from memoryd.domain.memories.entities import slug_of
from memoryd.replies.knowledge import (
    EntityChangeReply,
    EntityLinksReply,
    EntityMemoryReply,
    EntityReply,
    OpinionWhyReply,
)
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
    return {"rows": reply["entities"], "total": reply["total"], "query": query, "next": more}


async def entity(visit: Visit) -> View:
    """Show one entity: what is known of it, what is thought and why, its names, and what it is named with."""
    name = visit.text("name")
    known = await calls.show(name, visit.admitted, visit.memories, MEMORIES)
    why = await asyncio.gather(
        *(reflect.why(one["id"], visit.admitted, visit.memories) for one in known["opinions"][:OPINIONS])
    )
    links = await calls.links(name, visit.admitted, visit.memories, NODES - 1, visit.text("with"))
    return {
        "title": known["name"],
        "entity": known,
        "opinions": [(one, confidence_curve(one)) for one in why],
        "links": links,
        "with_it": _named_with(links),
        "is_rest": bool(visit.text("with")),
        "more": url_of("entity", name=name, **{"with": links["next"]}) if links["next"] else "",
        "picture": link_picture(links) if len(links["entities"]) > 1 else None,
        "WIDTH": WIDTH,
        "HEIGHT": HEIGHT,
        "MARGIN": MARGIN,
        "LEFT": LEFT,
        "EVIDENCE": EVIDENCE,
        "back": url_of("entity", name=name),
        "dates": _dates(known["memories"]),
    }


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
    done = await calls.merge(visit.request(EntityMergeRequest, name=name, into=into), visit.admitted, visit.memories)
    text = f"{name} is another name of {done['entity']} now." if done["written"] else "It was so already."
    return Redirect(url_of("entity", name=into), _notice(text, done))


async def split(visit: Visit) -> Redirect:
    """Take an alias out: what is said of it is of an entity of its own again."""
    alias = visit.text("alias")
    done = await calls.split(visit.request(EntitySplitRequest, alias=alias), visit.admitted, visit.memories)
    text = f"{alias} is an entity of its own again." if done["written"] else "It was so already."
    return Redirect(visit.back(url_of("entity", name=slug_of(alias))), _notice(text, done))


def _notice(text: str, done: EntityChangeReply) -> Notice:
    return Notice(sentences(text, done["note"]), (done["change"],) if done["change"] else ())


NODES = 60
"""Of one picture of links."""
LINKS = 120
"""Between others than the entity itself, those of most memories: more of them are a blot, and a page of many bytes."""
STEPS = 60
"""Of one curve, the last ones."""
WIDTH, HEIGHT, MARGIN = 640, 150, 34
"""Of a curve, in the units of its picture."""
LEFT = 60
"""Its margin at the side of its figures, which are larger where the page is narrow."""
_APART = 12
"""The least way to the right between two steps, be they of one day."""
FEW_RADIUS, MANY_RADIUS = 110.0, 190.0
"""Of the circle on which the entities stand."""
NAME_ROOM, LINE_ROOM = 130.0, 30.0
"""Beyond the circle, for a name: along it, and across."""
_AT_ITS_SIDE = 18
"""So many names are written level; of more each goes out from the middle."""
_WIDEST = 5.0
_NAME_CHARS = 18
_BESIDE = 0.12
"""How far a line leaves the straight way, as a share of it."""


class Dot(Struct, frozen=True):
    """A piece of evidence on a curve; `label` is what it did."""

    x: float
    y: float
    label: str


class Curve(Struct, frozen=True):
    """The steps of a confidence; `line` are its points as SVG takes them."""

    line: str
    dots: tuple[Dot, ...]
    first: str
    """The day of the first step, and that of the last."""
    last: str


def confidence_curve(opinion: OpinionWhyReply) -> Curve | None:
    """Return the curve of a confidence, 0 to 1, by the days of its evidence; None where nothing moved it."""
    steps = opinion["steps"][-STEPS:]
    if not steps:
        return None
    days = [date.fromisoformat(step["day"]).toordinal() for step in steps]
    first, last = min(days), max(days)
    # one day more at the end, so that the last step is seen
    span, width, height = last - first + 1, WIDTH - LEFT - MARGIN, HEIGHT - 2 * MARGIN
    apart = min(_APART, width / (2 * len(steps)))

    def x(day: float, number: int) -> float:
        return round(LEFT + (width - apart * len(steps)) * (day - first) / span + apart * number, 1)

    def y(confidence: float) -> float:
        return round(MARGIN + height * (1 - confidence), 1)

    # counted in the order of runs: evidence of an earlier day may have been found later
    line, at = [f"{LEFT},{y(steps[0]['before'])}"], first
    dots = list[Dot]()
    for number, (step, day) in enumerate(zip(steps, days, strict=True)):
        at = max(at, day)
        line += [f"{x(at, number)},{y(step['before'])}", f"{x(at, number)},{y(step['after'])}"]
        dots.append(Dot(x(at, number), y(step["after"]), step["label"]))
    line.append(f"{WIDTH - MARGIN},{y(steps[-1]['after'])}")
    return Curve(" ".join(line), tuple(dots), date.fromordinal(first).isoformat(), date.fromordinal(last).isoformat())


class Node(Struct, frozen=True):
    """An entity on the circle, and how its name is written there."""

    x: float
    y: float
    name: str
    text_x: float
    text_y: float
    anchor: str
    turn: str
    """How its name is turned, as SVG takes it."""


class Edge(Struct, frozen=True):
    """A link as a path of SVG. `is_own`: of the entity in the middle."""

    path: str
    width: float
    is_own: bool


class LinkPicture(Struct, frozen=True):
    """An entity in the middle, those that it is named with around it, and their links."""

    width: float
    height: float
    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]
    left_out: int = 0
    """Links between others that are not drawn."""


class _Circle(Struct, frozen=True):
    radius: float
    middle_x: float
    middle_y: float
    is_level: bool
    """Whether names are written level; of many each goes out from the middle."""

    def at(self, angle: float, beyond: float = 0.0) -> tuple[float, float]:
        """Return a place on the circle, or beyond it."""
        radius = self.radius + beyond
        return self.middle_x + radius * cos(angle), self.middle_y + radius * sin(angle)


def link_picture(reply: EntityLinksReply) -> LinkPicture:
    """Return the picture of an entity's links; those of most memories begin at the top."""
    own, *others = reply["entities"]
    is_level = len(others) <= _AT_ITS_SIDE
    radius = FEW_RADIUS if is_level else MANY_RADIUS
    circle = _Circle(radius, radius + NAME_ROOM, radius + (LINE_ROOM if is_level else NAME_ROOM), is_level)
    angles = {one["slug"]: 2 * pi * at / max(1, len(others)) - pi / 2 for at, one in enumerate(others)}
    places = {slug: circle.at(angle) for slug, angle in angles.items()}
    places[own["slug"]] = circle.middle_x, circle.middle_y
    most = max((link["memories"] for link in reply["links"]), default=1)
    beside = [link for link in reply["links"] if own["slug"] not in (link["one"], link["other"])]
    of_own = [link for link in reply["links"] if own["slug"] in (link["one"], link["other"])]
    return LinkPicture(
        width=2 * circle.middle_x,
        height=2 * circle.middle_y,
        nodes=tuple(_node(one["name"], angles[one["slug"]], circle) for one in others),
        edges=tuple(
            _edge(
                places[link["one"]],
                places[link["other"]],
                circle,
                width=max(1.0, _WIDEST * sqrt(link["memories"] / most)),
                is_own=is_own,
            )
            for is_own, found in ((False, beside[:LINKS]), (True, of_own))
            for link in found
        ),
        left_out=max(0, len(beside) - LINKS),
    )


def _node(name: str, angle: float, circle: _Circle) -> Node:
    (x, y), (text_x, text_y) = circle.at(angle), circle.at(angle, 12)
    is_left = cos(angle) < -0.01
    anchor, turn = "end" if is_left else "start", ""
    if not circle.is_level:
        turn = f"rotate({degrees(angle) + (180 if is_left else 0):.1f} {text_x:.1f} {text_y:.1f})"
    elif abs(cos(angle)) < 0.2:
        anchor, text_y = "middle", text_y + (6 if sin(angle) > 0 else -3)
    short = name if len(name) <= _NAME_CHARS else f"{name[: _NAME_CHARS - 1]}…"
    return Node(round(x, 1), round(y, 1), short, round(text_x, 1), round(text_y, 1), anchor, turn)


def _edge(one: tuple[float, float], other: tuple[float, float], circle: _Circle, *, width: float, is_own: bool) -> Edge:
    (x, y), (to_x, to_y) = one, other
    if is_own:
        return Edge(f"M{x:.1f} {y:.1f}L{to_x:.1f} {to_y:.1f}", round(width, 1), True)
    # neighbours are joined along the circle, and those across beside its middle, where another line may run
    pull = 0.75 - 0.4 * hypot(x - to_x, y - to_y) / (2 * circle.radius)
    bend_x = circle.middle_x + pull * ((x + to_x) / 2 - circle.middle_x) + _BESIDE * (to_y - y)
    bend_y = circle.middle_y + pull * ((y + to_y) / 2 - circle.middle_y) - _BESIDE * (to_x - x)
    return Edge(f"M{x:.1f} {y:.1f}Q{bend_x:.1f} {bend_y:.1f} {to_x:.1f} {to_y:.1f}", round(width, 1), False)


PAGES = (
    Page("entities", listing, title="People and things"),
    Page("entity", entity, title="Entity", under="entities"),
    Page("merge", merge, method="POST", who=Who.OWNER),
    Page("split", split, method="POST", who=Who.OWNER),
)
