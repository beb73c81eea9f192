"""`memory.reflect`: when reflect runs by itself, and how far back it looks."""

import re
from datetime import time, timedelta
from typing import Annotated, Final

from pydantic import AfterValidator, Field

from memoryd.config.duration import Duration
from memoryd.config.section import Section

OFF: Final = "off"
_TIME: Final = re.compile(r"([01][0-9]|2[0-3]):[0-5][0-9]\Z")


def _known_schedule(text: str) -> str:
    if text != OFF and not _TIME.match(text):
        raise ValueError('must be "off", or a time of day such as "03:30"')
    return text


TimeOfDay = Annotated[str, AfterValidator(_known_schedule)]


class ReflectSection(Section):
    """A daily run, off unless somebody asks for it."""

    schedule: TimeOfDay = Field(
        default=OFF,
        description='When reflect runs each day, in `memory.timezone`, such as `"03:30"`, caught up once if it was '
        "slept through; `off`: only when somebody asks.",
    )
    since: Duration = Field(
        default=timedelta(days=7),
        description="How far back a run looks for what recurred and for what to propose; a scheduled run looks back to "
        "the last one at least, and evidence for opinions counts once, however old.",
    )

    @property
    def at(self) -> time | None:
        """The time of day; None while it is off."""
        return None if self.schedule == OFF else time.fromisoformat(self.schedule)
