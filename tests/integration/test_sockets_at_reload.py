"""After a reload a socket admits those it was opened for, or nobody."""

import pytest

from memoryd.api.access import AccessPolicy, socket_name
from memoryd.config.root import Config
from memoryd.errors import Denied

CHAT, GROUP = "agent:a:telegram:direct:ada", "agent:a:discord:group:band"


def agents_of(*entries: dict[str, object]) -> Config:
    return Config.model_validate({"agents": {"list": list(entries)}})


def test_socket_keeps_its_session() -> None:
    opened = agents_of({"id": "a", "sockets": [{"path": "/s/0", "sessionKey": GROUP}]})
    swapped = agents_of({"id": "a", "sockets": [{"path": "/s/1", "sessionKey": CHAT}, {"path": "/s/0"}]})
    gate = AccessPolicy.of(swapped.resolved_agents(), sockets_of=opened.resolved_agents())
    assert gate.binding_of(socket_name("a", 0)).session_key == GROUP
    with pytest.raises(Denied):
        gate.binding_of(socket_name("a", 1))


def test_socket_of_removed_agent_admits_nobody() -> None:
    opened = agents_of({"id": "a"}, {"id": "b", "sockets": [{"path": "/s/b"}]})
    gate = AccessPolicy.of(agents_of({"id": "a"}).resolved_agents(), sockets_of=opened.resolved_agents())
    with pytest.raises(Denied):
        gate.binding_of(socket_name("b", 0))
