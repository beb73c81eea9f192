"""What a person may mean who names a conversation: by path, by citation, or by the bare name of session or file."""

from memoryd.domain.citations import Citation, parse
from memoryd.domain.conversation_paths import is_conversation, transcript_path, turns_path
from memoryd.domain.documents import RelativePath
from memoryd.domain.sessions.session_ids import safe_id

_SUFFIX = ".jsonl"


def meant_paths(name: str, agent: str) -> tuple[RelativePath, ...]:
    """Return the paths that a name may stand for, of one agent; a citation is taken for the whole conversation."""
    path = cited_lines(name).path
    if is_conversation(path):
        return (RelativePath(path),)
    if "/" in path or not path:
        return ()
    file = path if path.endswith(_SUFFIX) else f"{path}{_SUFFIX}"
    return turns_path(safe_id(path)), transcript_path(agent, file)


def cited_lines(text: str) -> Citation:
    """Return the citation that a text is, the text as a path where it is none."""
    try:
        return parse(text.strip())
    except ValueError:
        return Citation(text.strip())


def is_of(path: str, agent: str) -> bool:
    """Tell whether a conversation may be this agent's, by its path alone."""
    return not path.startswith("sessions/") or path.split("/")[1] == agent
