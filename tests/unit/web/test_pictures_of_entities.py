"""Points of the pictures of opinions and links: all are inside, and curves never go back in time."""

import re
from itertools import pairwise

from memoryd.replies.knowledge import EntityLinkReply, EntityLinksReply, EntityReply, OpinionStepReply, OpinionWhyReply
from memoryd.web.entities import HEIGHT, LEFT, LINKS, MARGIN, STEPS, WIDTH, confidence_curve, link_picture


def step(day: str, before: float, after: float) -> OpinionStepReply:
    return OpinionStepReply(
        evidence="e",
        label="reinforce" if after > before else "contradict",
        labelledBy="supports",
        day=day,
        citations=[],
        content="",
        before=before,
        after=after,
        run="r",
    )


def opinion(*steps: OpinionStepReply) -> OpinionWhyReply:
    return OpinionWhyReply(
        id="o",
        kind="opinion",
        statement="tea",
        entities=[],
        confidence=steps[-1]["after"] if steps else 0.5,
        base=0.5,
        lastUpdated=None,
        supporting=0,
        opposing=0,
        source="a.md#L1",
        steps=list(steps),
        setAside=[],
    )


def points(line: str) -> list[tuple[float, float]]:
    return [(float(x), float(y)) for x, y in (point.split(",") for point in line.split())]


def test_curve_goes_in_steps_and_stays_in_the_picture() -> None:
    curve = confidence_curve(opinion(step("2026-01-01", 0.5, 1.0), step("2026-03-01", 1.0, 0.0)))
    assert curve is not None
    line = points(curve.line)
    assert line[0] == (LEFT, HEIGHT / 2)
    assert line[-1] == (WIDTH - MARGIN, HEIGHT - MARGIN)
    assert all(a[0] == b[0] or a[1] == b[1] for a, b in pairwise(line)), "level, or a step"
    assert {y for _, y in line} == {MARGIN, HEIGHT / 2, HEIGHT - MARGIN}
    assert [dot.label for dot in curve.dots] == ["reinforce", "contradict"]
    assert (curve.first, curve.last) == ("2026-01-01", "2026-03-01")


def test_older_evidence_found_later_does_not_turn_the_curve_back() -> None:
    steps = (step("2026-02-01", 0.5, 0.6), step("2026-01-01", 0.6, 0.7), step("2026-02-01", 0.7, 0.6))
    curve = confidence_curve(opinion(*steps))
    assert curve is not None
    across = [x for x, _ in points(curve.line)]
    assert across == sorted(across)
    assert confidence_curve(opinion()) is None


def test_steps_of_one_day_are_drawn_beside_each_other() -> None:
    days = ("2026-01-01", *["2026-06-01"] * 4, "2026-12-31")
    curve = confidence_curve(opinion(*(step(day, 0.5, 0.6) for day in days)))
    assert curve is not None
    assert all(after.x - before.x >= 10 for before, after in pairwise(curve.dots))
    assert curve.dots[-1].x <= WIDTH - MARGIN
    assert LEFT > 56, "room for 100 % in the largest letters of the sheet"


def links(count: int) -> EntityLinksReply:
    def entity(number: int) -> EntityReply:
        return EntityReply(
            name=f"A name of number {number}",
            slug=str(number),
            aliases=[],
            page=None,
            memoryCount=1,
            opinionCount=0,
            firstSeen=None,
            lastSeen=None,
        )

    own = [EntityLinkReply(one="0", other=str(number), memories=number) for number in range(1, count + 1)]
    others = [EntityLinkReply(one="1", other=str(number), memories=1) for number in range(2, count + 1)]
    return EntityLinksReply(
        entities=[entity(number) for number in range(count + 1)], links=[*own, *others], total=count, next=None
    )


def test_strongest_links_are_drawn_and_the_others_counted() -> None:
    found = links(59)
    more = [
        EntityLinkReply(one=str(one), other=str(one + by), memories=60 - by) for by in (1, 2, 3) for one in range(2, 57)
    ]
    own = [link for link in found["links"] if link["one"] == "0"]
    picture = link_picture({**found, "links": sorted([*own, *more], key=lambda link: -link["memories"])})
    assert sum(edge.is_own for edge in picture.edges) == 59
    assert sum(not edge.is_own for edge in picture.edges) == LINKS == len(more) - picture.left_out


def test_last_steps_of_a_long_opinion_are_drawn() -> None:
    curve = confidence_curve(opinion(*(step(f"2026-01-{day % 28 + 1:02}", 0.5, 0.5) for day in range(500))))
    assert curve is not None
    assert len(curve.dots) == STEPS


def test_all_entities_are_in_the_picture_and_links_end_at_them() -> None:
    for count in (1, 2, 18, 19, 59):
        picture = link_picture(links(count))
        assert len(picture.nodes) == len({(node.x, node.y) for node in picture.nodes}) == count
        assert all(0 < node.x < picture.width and 0 < node.y < picture.height for node in picture.nodes)
        assert len(picture.edges) == 2 * count - 1
        assert all(1 <= edge.width <= 5 for edge in picture.edges)
        ends = {f"{node.x:.1f} {node.y:.1f}" for node in picture.nodes}
        for edge in picture.edges:
            assert re.search(r"[0-9.]+ [0-9.]+\Z", edge.path)[0] in ends  # type: ignore[index]  # it ends so
        assert all(len(node.name) <= 18 for node in picture.nodes)
        assert all(bool(node.turn) is (count > 18) for node in picture.nodes)
