"""The pages "Shown to the agent" and "Conversations".

The first shows the parts of each bundle that an agent got, their cost in tokens, and what was cut. The second shows
sessions as sequences of turns with their topics; they can be made private and forgotten.
"""

from memoryd.api.call import FORGETTING
from memoryd.api.calls import conversations as calls
from memoryd.api.calls import recall
from memoryd.api.calls.conversations import SessionForgetRequest, SessionRememberRequest
from memoryd.api.calls.recall import ToldJudgement
from memoryd.domain.access import Who
from memoryd.domain.documents import RelativePath, is_conversation, is_turns_path, session_of, turns_path
from memoryd.errors import MemorydError
from memoryd.web.pages import ROWS, Page, Redirect, View, Visit, url_of
from memoryd.web.session import Notice
from memoryd.wire import TOLD_MAX

LINES = 100
"""Lines of a transcript on one page."""
LAST_LINE = 999_999_999
"""The largest line number that a citation may have."""
TURNS = 6
"""Turns on one page: each has a bundle of about ten parts, up to 2 kB each in long Chinese texts."""
_CONFIRMATIONS = {
    "noise": "Noted as noise for this question: a note for you, which does not change the ranking.",
    "wrong": "Noted as wrong. Agents still get it until you say what holds now, or forget it.",
    "": "The judgement is taken back.",
}
_WRONG_PLACE = "Noted as wrong. Agents still get it until you correct it: this is where it is written."


async def bundles(visit: Visit) -> View:
    """Show what agents got, the latest first; with `session` only of that session, from its turn `question` back."""
    session, before = visit.text("session"), visit.number("before")
    if question := visit.number("question"):
        before = await _number_after(visit, session, question)
    reply = await recall.told(visit.admitted, visit.memories, session, before, TURNS)
    return {
        "turns": reply["turns"],
        "session": session,
        "path": turns_path,
        "place": place_of,
        "next": {"session": session, "before": reply["before"]} if reply["before"] else None,
        "back": url_of("told", session=session, before=before or ""),
    }


async def _number_after(visit: Visit, session: str, question: int) -> int:
    """Return the number after that of a question in a session, for `before`; 0 if there is no record of it."""
    before: int | None = 0
    while before is not None:
        reply = await recall.told(visit.admitted, visit.memories, session, before, TOLD_MAX)
        for turn in reply["turns"]:
            if turn["seq"] == question:
                return turn["number"] + 1
        before = reply["before"]
    return 0


def place_of(name: str) -> str:
    """Return the page of a document, passage or conversation that is part of a bundle."""
    path = name.partition("#")[0]
    return url_of("conversation", id=path) if is_conversation(path) else url_of("open", at=name)


async def judge(visit: Visit) -> Redirect:
    """Store the owner's judgement of a part; for `wrong`, redirect to the page where it can be corrected."""
    judgement, name, memory = visit.text("judgement"), visit.text("name"), visit.text("id")
    request = visit.request(ToldJudgement, number=visit.number("number"), name=name, judgement=judgement or None)
    await recall.judge(request, visit.admitted, visit.memories)
    to, text = visit.back("told"), _CONFIRMATIONS.get(judgement, "")
    if judgement == "wrong" and memory:
        # the fragment names a field in a folded section, which a browser unfolds
        to = f"{url_of('memory', id=memory)}#now-{memory}"
    elif judgement == "wrong":
        to, text = place_of(name), _WRONG_PLACE
    return Redirect(to, Notice(text))


async def conversations(visit: Visit) -> View:
    """Show the conversations, the most recently active first."""
    after = visit.text("after")
    reply = await calls.listing(visit.admitted, visit.caller, visit.memories, ROWS, after)
    return {
        "reply": reply,
        "next": reply["next"],
        "back": url_of("conversations", after=after),
        "problems": await _problems(visit),
    }


async def _problems(visit: Visit) -> list[str]:
    """Return the problems of conversation files that cannot be read, and are therefore missing in the list."""
    try:
        return (await calls.stats(visit.admitted, visit.caller, visit.memories))["problems"]
    except MemorydError:
        # conversations are not stored, or the list itself reports the error
        return []


async def conversation(visit: Visit) -> View:
    """Show one conversation: the turns of a session, or the lines of a transcript."""
    name, start = visit.text("id"), max(1, visit.number("from", 1))
    values = {"title": name, "id": name, "back": url_of("conversation", id=name)}
    path = RelativePath(name)
    if not is_turns_path(path):
        read = await calls.lines(f"{name}#L{start}-L{LAST_LINE}", visit.admitted, visit.memories)
        lines, rest = read["lines"][:LINES], read["lines"][LINES:]
        following = rest[0]["line"] if rest else read["nextLine"]
        return {**values, "session": None, "lines": lines, "next": _next(name, following)}
    session = await calls.session(session_of(path), visit.admitted, visit.memories, f"{start}-")
    turns = session["sequence"][:ROWS]
    following = turns[-1]["seq"] + 1 if session["matched"] > len(turns) else None
    return {**values, "session": session, "turns": turns, "next": _next(name, following)}


def _next(name: str, following: int | None) -> dict[str, object] | None:
    return {"id": name, "from": following} if following else None


async def private(visit: Visit) -> Redirect:
    """Mark a conversation as private, or remove the mark."""
    is_remembered = visit.text("remember") == "yes"
    request = visit.request(SessionRememberRequest, session=visit.text("id"), remember=is_remembered)
    await calls.remember(request, visit.admitted, visit.caller, visit.memories)
    text = (
        "It is remembered again." if is_remembered else "It is private: nothing of it is stored or found from now on."
    )
    return Redirect(visit.back("conversations"), Notice(text))


async def forget(visit: Visit) -> View:
    """Show what forgetting a conversation would remove, or the receipt after it was forgotten."""
    if (receipt := visit.stored_receipt()) is not None:
        return receipt
    request = visit.request(SessionForgetRequest, session=visit.text("id"), dryRun=True)
    return {"receipt": await calls.forget(request, visit.admitted, visit.memories), "is_plan": True}


async def forget_now(visit: Visit) -> Redirect:
    """Forget a conversation, and redirect to the receipt."""
    request = visit.request(SessionForgetRequest, session=visit.text("id"))
    receipt = await calls.forget(request, visit.admitted, visit.memories)
    return visit.store_receipt("forget-conversation", {"title": "Forgotten", "receipt": receipt, "is_plan": False})


PAGES = (
    Page("told", bundles, title="Shown to the agent", who=Who.OWNER),
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
