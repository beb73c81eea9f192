"""The page What the agent was told: of each question the parts of its bundle, what they cost, and what was cut."""

from typing import Final

from memoryd.api.calls import recall
from memoryd.api.calls.recall import ToldJudgement
from memoryd.domain.access import Who
from memoryd.domain.citations import turns_path
from memoryd.domain.documents import SessionId
from memoryd.web.pages import Page, Redirect, View, Visit, url_of
from memoryd.web.session import Notice

TURNS: Final = 10
"""Of one page: each has a bundle of parts."""
_SAID: Final = {
    "noise": "Noted as noise for this question.",
    "wrong": "Noted as wrong. Say what holds now, or forget it.",
    "": "The judgement is taken back.",
}


async def told(visit: Visit) -> View:
    """Show what was told, the latest first; of one `session`, where it is named."""
    session = visit.text("session")
    reply = await recall.told(visit.admitted, visit.memories, session, visit.number("before"), TURNS)
    return View(
        {
            "turns": reply["turns"],
            "session": session,
            "path": lambda name: turns_path(SessionId(name)),
            "next": {"session": session, "before": reply["before"]} if reply["before"] else None,
            "back": url_of("told", session=session, before=visit.text("before")),
        }
    )


async def judge(visit: Visit) -> Redirect:
    """Keep what the owner thinks of a part; what is wrong is then to be corrected."""
    judgement, name, memory = visit.text("judgement"), visit.text("name"), visit.text("id")
    request = visit.request(ToldJudgement, number=visit.number("number"), name=name, judgement=judgement or None)
    await recall.judge(request, visit.admitted, visit.memories)
    to = visit.back("told")
    if judgement == "wrong":
        to = url_of("memory", id=memory) if memory else url_of("open", at=name)
    return Redirect(to, Notice(_SAID.get(judgement, "")))


PAGES: Final = (
    Page(path="told", title="Told to the agent", handler=told, who=Who.OWNER),
    Page(path="judge", method="POST", handler=judge, who=Who.OWNER),
)
