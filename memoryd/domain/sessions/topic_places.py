"""Where each topic was talked about."""

from collections.abc import Iterable

from memoryd.domain.sessions.qa_document import SessionStub, marks_of
from memoryd.domain.sessions.turn_addresses import turn_address
from memoryd.domain.sessions.turns import Session


def topic_places(entries: Iterable[Session | SessionStub]) -> dict[str, list[str]]:
    """Return for each topic the addresses of its turns, in the order of the sessions; topics stand on one line."""
    places: dict[str, list[str]] = {}
    for entry in entries:
        name = entry.session.id if isinstance(entry, SessionStub) else entry.id
        for mark in marks_of(entry):
            for topic in mark.topics:
                # a tag that somebody wrote by hand may hold anything
                places.setdefault(" ".join(topic.split()), []).append(turn_address(name, mark.seq))
    return places
