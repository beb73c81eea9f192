"""`memory`: what holds for all agents."""

from typing import Annotated, Literal
from zoneinfo import ZoneInfo

from pydantic import AfterValidator

from memoryd.config.qmd import Qmd
from memoryd.config.scope import MemoryScope
from memoryd.config.section import Section, Text


def _known_zone(name: str) -> str:
    try:
        ZoneInfo(name)
    except (KeyError, ValueError, OSError) as error:
        raise ValueError("must be a time zone such as Europe/Vienna") from error
    return name


TimeZone = Annotated[Text, AfterValidator(_known_zone)]


class Memory(Section):
    """The backend, citations, time zone and access of the memory."""

    backend: Literal["builtin", "qmd"] = "builtin"
    citations: Literal["auto", "on", "off"] = "auto"
    timezone: TimeZone | None = None
    read_only: bool = False
    scope: MemoryScope = MemoryScope()
    qmd: Qmd = Qmd()
