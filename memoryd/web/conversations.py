"""The pages What the agent was told and Conversations: the parts of each bundle, what they cost, and what was cut; and
sessions as sequences of turns, with what they were about; private ones; forgetting."""

from memoryd.api.call import FORGETTING
from memoryd.api.calls import conversations as calls
from memoryd.api.calls import recall
from memoryd.api.calls.conversations import SessionForgetRequest, SessionRememberRequest
from memoryd.api.calls.recall import ToldJudgement
from memoryd.domain.access import Who
from memoryd.domain.documents import RelativePath, holds_turns, is_conversation, session_of, turns_path
from memoryd.errors import MemorydError
from memoryd.web.pages import ROWS, Page, Redirect, View, Visit, url_of
from memoryd.web.session import Notice
from memoryd.wire import TOLD_MAX

LINES = 100
"""Of a transcript on one page."""
LAST_LINE = 999_999_999
"""That a citation may name."""
TURNS = 6
"""Of one page: each has a bundle of some ten parts, of 2 kB each where they are long and Chinese."""
_SAID = {
    "noise": "Noted as noise for this question: a note for you, by which nothing is ranked otherwise.",
    "wrong": "Noted as wrong. It is told as it stands until you say what holds now, or forget it.",
    "": "The judgement is taken back.",
}
_WRONG_PLACE = "Noted as wrong. It is told as it stands until you mend it: this is where it is written."


async def told(visit: Visit) -> View:
    """Show what was told, the latest first; of one `session`, where it is named, from a `question` of it back."""
    session, before = visit.text("session"), visit.number("before")
    if question := visit.number("question"):
        before = await _behind(visit, session, question)
    reply = await recall.told(visit.admitted, visit.memories, session, before, TURNS)
    return {
        "turns": reply["turns"],
        "session": session,
        "path": turns_path,
        "place": place_of,
        "next": {"session": session, "before": reply["before"]} if reply["before"] else None,
        "back": url_of("told", session=session, before=before or ""),
    }


async def _behind(visit: Visit, session: str, question: int) -> int:
    """Return the number before which a question of a session comes first; 0 where nothing is kept of it."""
    before: int | None = 0
    while before is not None:
        reply = await recall.told(visit.admitted, visit.memories, session, before, TOLD_MAX)
        for turn in reply["turns"]:
            if turn["seq"] == question:
                return turn["number"] + 1
        before = reply["before"]
    return 0


def place_of(name: str) -> str:
    """Return the page of a document, passage or conversation that was told."""
    path = name.partition("#")[0]
    return url_of("conversation", id=path) if is_conversation(path) else url_of("open", at=name)


async def judge(visit: Visit) -> Redirect:
    """Keep what the owner thinks of a part; what is wrong is then to be corrected."""
    judgement, name, memory = visit.text("judgement"), visit.text("name"), visit.text("id")
    request = visit.request(ToldJudgement, number=visit.number("number"), name=name, judgement=judgement or None)
    await recall.judge(request, visit.admitted, visit.memories)
    to, said = visit.back("told"), _SAID.get(judgement, "")
    if judgement == "wrong":
        # a browser opens what is folded around the field that is named
        to, said = (f"{url_of('memory', id=memory)}#now-{memory}", said) if memory else (place_of(name), _WRONG_PLACE)
    return Redirect(to, Notice(said))


async def conversations(visit: Visit) -> View:
    """Show the conversations, that in which something was said last first."""
    after = visit.text("after")
    reply = await calls.listing(visit.admitted, visit.caller, visit.memories, ROWS, after)
    shown = {"reply": reply, "next": reply["next"], "back": url_of("conversations", after=after)}
    return {**shown, "problems": await _problems(visit)}


async def _problems(visit: Visit) -> list[str]:
    """Return which files of conversations cannot be read, and are not in the list for that, and why."""
    try:
        return (await calls.stats(visit.admitted, visit.caller, visit.memories))["problems"]
    except MemorydError:
        # none are kept, or the list itself says what is wrong
        return []


async def conversation(visit: Visit) -> View:
    """Show one conversation: the turns of a session, or the lines of a transcript."""
    name, start = visit.text("id"), max(1, visit.number("from", 1))
    values = {"title": name, "id": name, "back": url_of("conversation", id=name)}
    path = RelativePath(name)
    if not holds_turns(path):
        read = await calls.lines(f"{name}#L{start}-L{LAST_LINE}", visit.admitted, visit.memories)
        lines, beyond = read["lines"][:LINES], read["lines"][LINES:]
        following = beyond[0]["line"] if beyond else read["nextLine"]
        return {**values, "session": None, "lines": lines, "next": _next(name, following)}
    session = await calls.session(session_of(path), visit.admitted, visit.memories, f"{start}-")
    turns = session["sequence"][:ROWS]
    following = turns[-1]["seq"] + 1 if session["matched"] > len(turns) else None
    return {**values, "session": session, "turns": turns, "next": _next(name, following)}


def _next(name: str, following: int | None) -> dict[str, object] | None:
    return {"id": name, "from": following} if following else None


async def private(visit: Visit) -> Redirect:
    """Mark a conversation as private, or take that back."""
    is_remembered = visit.text("remember") == "yes"
    request = visit.request(SessionRememberRequest, session=visit.text("id"), remember=is_remembered)
    await calls.remember(request, visit.admitted, visit.caller, visit.memories)
    said = "It is remembered again." if is_remembered else "It is private: nothing of it is kept from now on, or found."
    return Redirect(visit.back("conversations"), Notice(said))


async def forget(visit: Visit) -> View:
    """Show what forgetting a conversation would reach, or the receipt of one that was forgotten."""
    if (kept := visit.kept_receipt()) is not None:
        return kept
    request = visit.request(SessionForgetRequest, session=visit.text("id"), dryRun=True)
    return {"receipt": await calls.forget(request, visit.admitted, visit.memories), "is_plan": True}


async def forget_now(visit: Visit) -> Redirect:
    """Forget a conversation, and lead to the receipt."""
    request = visit.request(SessionForgetRequest, session=visit.text("id"))
    receipt = await calls.forget(request, visit.admitted, visit.memories)
    return visit.keep_receipt("forget-conversation", {"title": "Forgotten", "receipt": receipt, "is_plan": False})


PAGES = (
    Page("told", told, title="Told to the agent", who=Who.OWNER),
    Page("judge", judge, method="POST", who=Who.OWNER),
    Page("conversations", conversations, title="Conversations", who=Who.OWNER),
    Page("conversation", conversation, title="Conversation", who=Who.OWNER, under="conversations"),
    Page("private", private, method="POST", who=Who.OWNER),
    Page(
        "forget-conversation",
        forget,
        title="Forget a conversation",
        who=Who.OWNER,
        under="conversations",
        deadline=FORGETTING,
    ),
    Page("forget-conversation", forget_now, method="POST", who=Who.OWNER, deadline=FORGETTING),
)
