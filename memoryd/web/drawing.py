"""Points of pictures that templates draw as SVG: the confidence of an opinion over time, and who is named with whom."""

from collections.abc import Mapping
from datetime import date
from math import cos, degrees, hypot, pi, sin, sqrt
from typing import Final

from msgspec import Struct

from memoryd.replies.knowledge import EntityLinksReply, OpinionWhyReply

NODES: Final = 60
"""Of one picture of links."""
WIDTH, HEIGHT, MARGIN = 640, 150, 34
"""Of a curve, in the units of its picture."""
RADIUS: Final = 190.0
"""Of the circle on which the entities stand."""
SIDE: Final = 2 * (RADIUS + 130)
"""Of the picture of links, with room for names."""
_AT_ITS_SIDE: Final = 18
"""So many names are written level; of more each goes out from the middle."""
_WIDEST: Final = 5.0
_NAME_CHARS: Final = 18


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
    steps = opinion["steps"]
    if not steps:
        return None
    days = [date.fromisoformat(step["day"]).toordinal() for step in steps]
    first, last = min(days), max(days)
    # one day more at the end, so that the last step is seen
    span, width, height = last - first + 1, WIDTH - 2 * MARGIN, HEIGHT - 2 * MARGIN

    def x(day: float) -> float:
        return round(MARGIN + width * (day - first) / span, 1)

    def y(confidence: float) -> float:
        return round(MARGIN + height * (1 - confidence), 1)

    # counted in the order of runs: evidence of an earlier day may have been found later
    line, at = [f"{MARGIN},{y(steps[0]['before'])}"], first
    dots = list[Dot]()
    for step, day in zip(steps, days, strict=True):
        at = max(at, day)
        line += [f"{x(at)},{y(step['before'])}", f"{x(at)},{y(step['after'])}"]
        dots.append(Dot(x(at), y(step["after"]), step["label"]))
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

    name: str
    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]


def link_picture(reply: EntityLinksReply) -> LinkPicture:
    """Return the picture of an entity's links; those of most memories begin at the top."""
    own, *others = reply["entities"]
    middle = SIDE / 2
    angles = {one["slug"]: 2 * pi * at / len(others) - pi / 2 for at, one in enumerate(others)}
    places = {slug: (middle + RADIUS * cos(angle), middle + RADIUS * sin(angle)) for slug, angle in angles.items()}
    places[own["slug"]] = (middle, middle)
    most = max((link["memories"] for link in reply["links"]), default=1)
    return LinkPicture(
        name=own["name"],
        nodes=tuple(_node(one["name"], angles[one["slug"]], is_level=len(others) <= _AT_ITS_SIDE) for one in others),
        edges=tuple(
            _edge(places, link["one"], link["other"], sqrt(link["memories"] / most), own["slug"])
            for link in reply["links"]
        ),
    )


def _node(name: str, angle: float, *, is_level: bool) -> Node:
    middle, is_left = SIDE / 2, cos(angle) < -0.01
    x, y = middle + RADIUS * cos(angle), middle + RADIUS * sin(angle)
    text_x, text_y = middle + (RADIUS + 12) * cos(angle), middle + (RADIUS + 12) * sin(angle)
    anchor = "end" if is_left else "start"
    if is_level and abs(cos(angle)) < 0.2:
        anchor, text_y = "middle", text_y + (8 if sin(angle) > 0 else -4)
    turn = "" if is_level else f"rotate({degrees(angle) + (180 if is_left else 0):.1f} {text_x:.1f} {text_y:.1f})"
    short = name if len(name) <= _NAME_CHARS else f"{name[: _NAME_CHARS - 1]}…"
    return Node(round(x, 1), round(y, 1), short, round(text_x, 1), round(text_y, 1), anchor, turn)


def _edge(places: Mapping[str, tuple[float, float]], one: str, other: str, share: float, own: str) -> Edge:
    (x, y), (to_x, to_y), middle = places[one], places[other], SIDE / 2
    width = round(max(1.0, _WIDEST * share), 1)
    if own in (one, other):
        return Edge(f"M{x:.1f} {y:.1f}L{to_x:.1f} {to_y:.1f}", width, True)
    # those of neighbours go along the circle, those across near the middle and past it
    pull = 0.35 + 0.4 * (1 - hypot(x - to_x, y - to_y) / (2 * RADIUS))
    bend_x, bend_y = middle + pull * ((x + to_x) / 2 - middle), middle + pull * ((y + to_y) / 2 - middle)
    return Edge(f"M{x:.1f} {y:.1f}Q{bend_x:.1f} {bend_y:.1f} {to_x:.1f} {to_y:.1f}", width, False)
