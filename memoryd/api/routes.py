"""The API as one table of calls, those of each noun from the end of its module.

The app, the access rules and the description are made of it. What is not in it is never answered.
"""

from datetime import timedelta
from typing import Final

from memoryd.api import metrics, openapi
from memoryd.api.call import AtReload, Row
from memoryd.api.calls import (
    changes,
    conversations,
    entities,
    index,
    memories,
    opinions,
    recall,
    reflect,
    retain,
    search,
    status,
    transfer,
)
from memoryd.api.http.reload_gate import Exemptions
from memoryd.domain.access import Who

TABLE: Final = (
    Row("GET", "/openapi.json", Who.ANYONE, openapi.describe, is_described=False, at_reload=AtReload.FREE),
    Row("GET", "/metrics", Who.OWNER, metrics.get_metrics),
    *status.CALLS,
    *search.CALLS,
    *recall.CALLS,
    *retain.CALLS,
    # its paths stand before that of a memory, which a name is put into
    *transfer.CALLS,
    *memories.CALLS,
    *changes.CALLS,
    *entities.CALLS,
    *opinions.CALLS,
    *reflect.CALLS,
    *conversations.CALLS,
    *index.CALLS,
)


def deadlines() -> dict[str, timedelta]:
    """Return the paths whose answers may take longer than others."""
    return {row.path: row.deadline for row in TABLE if row.deadline is not None}


def exemptions() -> Exemptions:
    """Return which paths are not simply held while a reload exchanges what they ask."""
    paths = {kind: frozenset(row.path for row in TABLE if row.at_reload is kind) for kind in AtReload}
    return Exemptions(
        free=paths[AtReload.FREE],
        streams=paths[AtReload.STREAMS],
        again=paths[AtReload.AGAIN],
        long=paths[AtReload.WAITS] & deadlines().keys(),
    )
