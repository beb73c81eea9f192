"""From the configuration to the optional port on loopback."""

import time

from starlette.types import ASGIApp

from memoryd.api.http.connection import ConnectionLimits
from memoryd.api.http.counting import RequestCounts
from memoryd.api.http.limits import Admission, Guard, GuardLimits
from memoryd.api.http.loopback import Door, LoopbackPort
from memoryd.config.root import Config
from memoryd.domain.loopback import DoorRules, WrongTokens
from memoryd.files.token_file import TokenFile


def loopback_port(
    config: Config, app: ASGIApp, limits: GuardLimits, counts: RequestCounts, admission: Admission
) -> LoopbackPort | None:
    """Return the port that serves this app; None unless somebody wants it."""
    http, most = config.http, config.limits.max_connections_per_process
    if not http.enabled:
        return None
    door = Door(
        rules=DoorRules.of(http.port, http.allowed_hosts, http.allowed_origins),
        token=TokenFile(http.token_path()),
        wrong=WrongTokens(time.monotonic),
    )
    return LoopbackPort(
        host=http.host,
        port=http.port,
        app=Guard(app, limits, door, counts, admission),
        door=door,
        # counted apart from those of the sockets, which a crowd on the port thus never shuts out
        limits=ConnectionLimits(total=most, per_process=most),
    )
