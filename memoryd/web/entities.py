"""The pages of entities: the people and things that memories are about, with their memories, opinions and links.

Also the points of two pictures, which templates draw as SVG: the confidence of an opinion over time, and the links of
an entity to others.
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
    EntityLinksReply,
    EntityMemoryReply,
    EntityReply,
    OpinionWhyReply,
)
from memoryd.web.pages import Page, Redirect, View, Visit, is_of_day, notice_of, url_of

SHOWN = 50
"""Entities on one page of the list."""
MEMORIES = 25
OPINIONS = 6
EVIDENCE = 4
"""Steps shown of each opinion. The limits are for one entity; the page Memories, filtered by entity, shows the rest."""


async def listing(visit: Visit) -> View:
    """List entities, those with most memories first; with `q`, only those whose names match."""
    query = visit.text("q")
    reply = await calls.listing(visit.admitted, visit.memories, query, visit.text("after"), SHOWN)
    more = {"q": query, "after": reply["next"]} if reply["next"] else None
    return {"rows": reply["entities"], "total": reply["total"], "query": query, "next": more}


async def entity(visit: Visit) -> View:
    """Show one entity: its memories, opinions with their steps, names, and links to other entities."""
    name = visit.text("name")
    reply = await calls.show(name, visit.admitted, visit.memories, MEMORIES)
    opinions = await asyncio.gather(
        *(reflect.why(opinion["id"], visit.admitted, visit.memories) for opinion in reply["opinions"][:OPINIONS])
    )
    links = await calls.links(name, visit.admitted, visit.memories, NODES - 1, visit.text("with"))
    return {
        "title": reply["name"],
        "entity": reply,
        "opinions": [(opinion, confidence_curve(opinion)) for opinion in opinions],
        "links": links,
        "neighbours": _neighbours(links),
        "is_rest": bool(visit.text("with")),
        "more": url_of("entity", name=name, **{"with": links["next"]}) if links["next"] else "",
        "picture": link_picture(links) if len(links["entities"]) > 1 else None,
        "WIDTH": WIDTH,
        "HEIGHT": HEIGHT,
        "MARGIN": MARGIN,
        "LEFT": LEFT,
        "EVIDENCE": EVIDENCE,
        "back": url_of("entity", name=name),
        "dates": _dates(reply["memories"]),
    }


def _dates(memories: Sequence[EntityMemoryReply]) -> list[tuple[str, list[EntityMemoryReply]]]:
    """Return memories by day, the newest first; memories that are in no note of a day come last, with an empty day."""
    by_day: dict[str, list[EntityMemoryReply]] = {}
    for memory in memories:
        by_day.setdefault(memory["day"] if is_of_day(memory["source"]) else "", []).append(memory)
    return sorted(by_day.items(), reverse=True)


def _neighbours(links: EntityLinksReply) -> list[tuple[EntityReply, int]]:
    """Return the entities linked with the first one, each with the number of memories that name both."""
    own, *others = links["entities"]
    shared = {
        link["other"] if link["one"] == own["slug"] else link["one"]: link["memories"]
        for link in links["links"]
        if own["slug"] in (link["one"], link["other"])
    }
    return [(other, shared[other["slug"]]) for other in others]


async def merge(visit: Visit) -> Redirect:
    """Make another name an alias of an entity."""
    name, into = visit.text("alias"), visit.text("into")
    reply = await calls.merge(visit.request(EntityMergeRequest, name=name, into=into), visit.admitted, visit.memories)
    text = f"{name} is another name of {reply['entity']} now." if reply["written"] else "It was so already."
    return Redirect(url_of("entity", name=into), notice_of(text, reply["change"], reply["note"]))


async def split(visit: Visit) -> Redirect:
    """Remove an alias, so that it is a separate entity again."""
    alias = visit.text("alias")
    reply = await calls.split(visit.request(EntitySplitRequest, alias=alias), visit.admitted, visit.memories)
    text = f"{alias} is an entity of its own again." if reply["written"] else "It was so already."
    back = visit.back(url_of("entity", name=slug_of(alias)))
    return Redirect(back, notice_of(text, reply["change"], reply["note"]))


NODES = 60
"""Entities in one picture of links."""
LINKS = 120
"""Links drawn between other entities, those with most memories: more would be unreadable, and make the page large."""
STEPS = 60
"""Steps drawn of one curve, the last ones."""
WIDTH, HEIGHT, MARGIN = 640, 150, 34
"""Size of a curve in SVG units."""
LEFT = 60
"""Left margin for the figures of the axis, which are larger on a narrow page."""
_STEP_GAP = 12
"""Minimum horizontal distance of two steps, even of the same day."""
FEW_RADIUS, MANY_RADIUS = 110.0, 190.0
"""Radius of the circle of entities, up to `_LEVEL_NAMES_MAX` and above."""
NAME_ROOM, LINE_ROOM = 130.0, 30.0
"""Space outside the circle for the length and the height of a name."""
_LEVEL_NAMES_MAX = 18
"""Up to this number names are horizontal; more are written radially."""
_WIDEST = 5.0
_NAME_CHARS = 18
_BEND = 0.12
"""Sideways offset of the control point of a curved link, as a share of its length."""


class Dot(Struct, frozen=True):
    """A piece of evidence on a curve; `label` is its effect on the opinion."""

    x: float
    y: float
    label: str


class Curve(Struct, frozen=True):
    """The steps of a confidence; `line` has the points of an SVG polyline."""

    line: str
    dots: tuple[Dot, ...]
    first: str
    """The earliest day of the steps."""
    last: str
    """The latest day of the steps."""


def confidence_curve(opinion: OpinionWhyReply) -> Curve | None:
    """Return the curve of a confidence, 0 to 1, over the days of its evidence; None without evidence."""
    steps = opinion["steps"][-STEPS:]
    if not steps:
        return None
    days = [date.fromisoformat(step["day"]).toordinal() for step in steps]
    first, last = min(days), max(days)
    # one more day at the end, so that the last step is visible
    span, width, height = last - first + 1, WIDTH - LEFT - MARGIN, HEIGHT - 2 * MARGIN
    apart = min(_STEP_GAP, width / (2 * len(steps)))

    def x(day: float, number: int) -> float:
        return round(LEFT + (width - apart * len(steps)) * (day - first) / span + apart * number, 1)

    def y(confidence: float) -> float:
        return round(MARGIN + height * (1 - confidence), 1)

    # steps are in the order of runs, and evidence of an earlier day may come later: the curve never goes back
    line, at = [f"{LEFT},{y(steps[0]['before'])}"], first
    dots = list[Dot]()
    for number, (step, day) in enumerate(zip(steps, days, strict=True)):
        at = max(at, day)
        line += [f"{x(at, number)},{y(step['before'])}", f"{x(at, number)},{y(step['after'])}"]
        dots.append(Dot(x(at, number), y(step["after"]), step["label"]))
    line.append(f"{WIDTH - MARGIN},{y(steps[-1]['after'])}")
    return Curve(" ".join(line), tuple(dots), date.fromordinal(first).isoformat(), date.fromordinal(last).isoformat())


class Node(Struct, frozen=True):
    """An entity on the circle, and the position of its name."""

    x: float
    y: float
    name: str
    text_x: float
    text_y: float
    anchor: str
    turn: str
    """The SVG transform of its name."""


class Edge(Struct, frozen=True):
    """A link as an SVG path; `is_own` if it belongs to the entity in the middle."""

    path: str
    width: float
    is_own: bool


class LinkPicture(Struct, frozen=True):
    """A picture with an entity in the middle, the linked entities around it, and all links between these."""

    width: float
    height: float
    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]
    left_out: int = 0
    """Number of links between other entities that are not drawn."""


class _Circle(Struct, frozen=True):
    radius: float
    middle_x: float
    middle_y: float
    is_level: bool
    """Whether names are horizontal, not radial."""

    def at(self, angle: float, distance: float = 0.0) -> tuple[float, float]:
        """Return a point on the circle, or at a distance outside of it."""
        radius = self.radius + distance
        return self.middle_x + radius * cos(angle), self.middle_y + radius * sin(angle)


def link_picture(reply: EntityLinksReply) -> LinkPicture:
    """Return the picture of an entity's links; the entities are placed clockwise from the top, in their order."""
    own, *others = reply["entities"]
    is_level = len(others) <= _LEVEL_NAMES_MAX
    radius = FEW_RADIUS if is_level else MANY_RADIUS
    circle = _Circle(radius, radius + NAME_ROOM, radius + (LINE_ROOM if is_level else NAME_ROOM), is_level)
    angles = {other["slug"]: 2 * pi * at / max(1, len(others)) - pi / 2 for at, other in enumerate(others)}
    places = {slug: circle.at(angle) for slug, angle in angles.items()}
    places[own["slug"]] = circle.middle_x, circle.middle_y
    most = max((link["memories"] for link in reply["links"]), default=1)
    between_others = [link for link in reply["links"] if own["slug"] not in (link["one"], link["other"])]
    own_links = [link for link in reply["links"] if own["slug"] in (link["one"], link["other"])]
    return LinkPicture(
        width=2 * circle.middle_x,
        height=2 * circle.middle_y,
        nodes=tuple(_node(other["name"], angles[other["slug"]], circle) for other in others),
        edges=tuple(
            _edge(
                places[link["one"]],
                places[link["other"]],
                circle,
                width=max(1.0, _WIDEST * sqrt(link["memories"] / most)),
                is_own=is_own,
            )
            for is_own, links in ((False, between_others[:LINKS]), (True, own_links))
            for link in links
        ),
        left_out=max(0, len(between_others) - LINKS),
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


def _edge(start: tuple[float, float], end: tuple[float, float], circle: _Circle, *, width: float, is_own: bool) -> Edge:
    (x, y), (to_x, to_y) = start, end
    if is_own:
        return Edge(f"M{x:.1f} {y:.1f}L{to_x:.1f} {to_y:.1f}", round(width, 1), True)
    # a link of near neighbours follows the circle; one across passes beside the middle, where another link may run
    pull = 0.75 - 0.4 * hypot(x - to_x, y - to_y) / (2 * circle.radius)
    bend_x = circle.middle_x + pull * ((x + to_x) / 2 - circle.middle_x) + _BEND * (to_y - y)
    bend_y = circle.middle_y + pull * ((y + to_y) / 2 - circle.middle_y) - _BEND * (to_x - x)
    return Edge(f"M{x:.1f} {y:.1f}Q{bend_x:.1f} {bend_y:.1f} {to_x:.1f} {to_y:.1f}", round(width, 1), False)


PAGES = (
    Page("entities", listing, title="People and things"),
    Page("entity", entity, title="Entity", under="entities"),
    Page("merge", merge, method="POST", who=Who.OWNER),
    Page("split", split, method="POST", who=Who.OWNER),
)
