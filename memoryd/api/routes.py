"""The table of all that a socket may be asked, and who may ask it.

The gate looks a request up here before its route sees it; a route that does not stand here is never served.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from fastapi import APIRouter, Depends, FastAPI
from fastapi.routing import APIRoute

from memoryd.api.access import Gate
from memoryd.domain.access import Who
from memoryd.wire import API


@dataclass(frozen=True, slots=True)
class Row:
    """One call, its path as the API description writes it."""

    method: str
    path: str
    who: Who


DESCRIPTION: Final = Row("GET", "/openapi.json", Who.ANYONE)
"""Served by the framework, beside the gate: it says nothing of this daemon."""

TABLE: Final = (
    DESCRIPTION,
    Row("GET", f"{API}/health", Who.ANYONE),
    Row("GET", f"{API}/status", Who.AGENT),
    Row("POST", f"{API}/search", Who.SESSION),
    Row("GET", f"{API}/files/{{path}}", Who.SESSION),
    Row("POST", f"{API}/sessions/start", Who.SESSION),
    Row("GET", f"{API}/events", Who.SESSION),
    Row("POST", f"{API}/sync", Who.AGENT),
    Row("POST", f"{API}/reindex", Who.OWNER),
)


def install(app: FastAPI, gate: Gate, routers: Sequence[APIRouter], table: Sequence[Row] = TABLE) -> None:
    """Serve the routers behind the gate; raises ValueError unless their routes are just those of the table."""
    served = {(DESCRIPTION.method, DESCRIPTION.path), *(call for router in routers for call in _calls(router))}
    rows = {(row.method, row.path): row.who for row in table}
    if differing := served ^ rows.keys():
        raise ValueError(f"routes and the table of who may ask differ: {sorted(differing)}")

    for router in routers:
        app.include_router(router, dependencies=[Depends(gate.guard(rows))])


def _calls(router: APIRouter) -> list[tuple[str, str]]:
    """Return method and path of every route; raises ValueError for a route that the gate would not see."""
    routes = [route for route in router.routes if isinstance(route, APIRoute)]
    if len(routes) != len(router.routes):
        raise ValueError(f"a router holds what is no route of ours: {router.routes}")
    return [(method, route.path_format) for route in routes for method in sorted(route.methods or ())]
