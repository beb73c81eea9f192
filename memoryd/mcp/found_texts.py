"""Hits and recalled items as pieces of an answer: data with its place, its day and its standing."""

from collections.abc import Iterator
from datetime import UTC, datetime

from memoryd.domain.citations import is_conversation, parse
from memoryd.mcp.tool_answers import Corpus, FoundText
from memoryd.mcp.tool_text import shown
from memoryd.replies.memories import MemoryDocumentReply, MemorySearchReply
from memoryd.replies.search import HitReply, RecallItemReply, RecallReply, SearchHealth, SearchReply

_TOOK_PART = ("ok", "off")


def found_in_notes(reply: SearchReply) -> list[FoundText]:
    """Return what search found in notes and conversations."""
    return [_hit(hit) for hit in reply["results"]]


def found_in_memories(reply: RecallReply, *, memories_only: bool) -> list[FoundText]:
    """Return what was recalled, or of it the memories."""
    return [_item(item) for item in reply["results"] if item["is"] == "memory" or not memories_only]


def found_documents(reply: MemorySearchReply) -> list[FoundText]:
    """Return the memories that were found."""
    return [document_told(one) for one in reply["memories"]]


def document_told(document: MemoryDocumentReply) -> FoundText:
    """Return a memory as a piece of an answer."""
    text, flags = shown(document["text"])
    cited = parse(document["citation"])
    return FoundText(
        text=text,
        corpus="memories",
        citation=document["citation"],
        path=cited.path,
        start_line=cited.start_line,
        end_line=cited.end_line,
        id=document["id"],
        kind=document["kind"],
        day=datetime.fromtimestamp(document["created_at"], UTC).astimezone().date().isoformat(),
        about=document["entities"] or None,
        tier=document["tier"],
        pinned=document["pinned"] or None,
        scope=document["scope"],
        superseded=True if document["superseded_by"] else None,
        score=None if document["score"] is None else round(document["score"], 3),
        flags=flags,
    )


def missing_of(health: SearchHealth) -> Iterator[str]:
    """Yield the parts that should have taken part in an answer and did not, and why."""
    for arm, reply in health["arms"].items():
        if reply["state"] not in _TOOK_PART:
            yield f"{arm}: {reply['reason'] or reply['state']}"
    if health["pendingFiles"]:
        yield f"{health['pendingFiles']} files that are not read yet"


def _hit(hit: HitReply) -> FoundText:
    citation = hit.get("citation")
    # the last line of a snippet is the footer of its citation, which stands in a field here
    text, flags = shown(hit["snippet"].removesuffix(f"\n\nSource: {citation}"), hit["flags"])
    return FoundText(
        text=text,
        corpus="sessions" if is_conversation(hit["path"]) else "notes",
        citation=citation,
        path=hit["path"],
        start_line=hit["snippetStartLine"],
        end_line=hit["snippetEndLine"],
        score=round(hit["score"], 3),
        verdict=hit["verdict"],
        flags=flags,
    )


def _item(item: RecallItemReply) -> FoundText:
    text, flags = shown(item["content"])
    path, first, last = _place(item)
    return FoundText(
        text=text,
        corpus=_corpus(item, path),
        citation=item.get("citation"),
        path=path,
        start_line=first,
        end_line=last,
        id=item.get("id"),
        kind=item.get("type") or item.get("kind"),
        day=item.get("timestamp"),
        about=item.get("entities") or ([item["name"]] if "name" in item else None),
        confidence=item.get("confidence"),
        tier=item.get("tier"),
        scope=item.get("scope"),
        state=item.get("state"),
        superseded=True if item.get("supersededBy") else None,
        score=round(item["score"], 3) if "score" in item else None,
        verdict=item.get("verdict"),
        flags=flags,
    )


def _corpus(item: RecallItemReply, path: str | None) -> Corpus:
    if item["is"] == "entity":
        return "entities"
    if item["is"] == "memory":
        return "memories"
    return "sessions" if path is not None and is_conversation(path) else "notes"


def _place(item: RecallItemReply) -> tuple[str | None, int | None, int | None]:
    """Return path and lines: an item has them itself, or they stand in its source."""
    if "path" in item:
        return item["path"], item.get("startLine"), item.get("endLine")
    try:
        cited = parse(item.get("source") or "")
    except ValueError:
        return None, None, None
    return cited.path, cited.start_line, cited.end_line
