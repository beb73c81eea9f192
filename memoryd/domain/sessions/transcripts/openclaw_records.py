"""What the records of OpenClaw's transcripts say, by the rules of its own session index (`session-files.ts`)."""

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from memoryd.domain.sessions.transcripts.envelopes import without_envelopes
from memoryd.domain.sessions.transcripts.message_parts import inner, speaker_of, text_blocks, uttered
from memoryd.domain.sessions.transcripts.record_times import first_time
from memoryd.domain.sessions.transcripts.runtime_context import without_runtime_context
from memoryd.domain.sessions.transcripts.utterances import LeftOut, Speaker, Utterance

_SYSTEM: Final = re.compile(r"System(?: \(untrusted\))?: \[[^\]]+\]\s*")
_CRON: Final = re.compile(r"\[cron:[^\]]+\]")
_HEARTBEAT: Final = (
    "Read HEARTBEAT.md if it exists (workspace context). Follow it strictly. "
    "Do not infer or repeat old tasks from prior chats. If nothing needs attention, reply HEARTBEAT_OK."
)
_TASKS: Final = "Run the following periodic tasks (only those due based on their intervals):"
_TASKS_END: Final = "After completing all due tasks, reply HEARTBEAT_OK."
_POLL: Final = "[OpenClaw heartbeat poll]"
_HEARTBEAT_OK, _NO_REPLY = "HEARTBEAT_OK", "NO_REPLY"
_MAX_ENVELOPE: Final = 200
_EXEC: Final = re.compile(
    r"exec finished(?::|\s*\()|exec (?:completed|failed) \([a-z0-9_-]{1,64}, (?:code -?\d{1,20}|signal [^)]{1,200})\)"
    r"(?: ::|\Z)",
    re.IGNORECASE,
)
_CRON_SESSION: Final = re.compile(r"(?:agent:[^:]+:)?cron:[^:]+:run:[^:]+")
_DREAM: Final = "dreaming-narrative-"
_DREAM_SESSION: Final = re.compile(rf"(?:[^:]*:[^:]*:)?{_DREAM}")


def openclaw_said(record: Mapping[str, object]) -> Utterance | LeftOut:
    """Return what a record says; its envelopes, and what its program generated, left out."""
    message = inner(record, "message")
    speaker = speaker_of(message.get("role"))
    if record.get("type") != "message" or speaker is None:
        return LeftOut.NO_MESSAGE
    if speaker is Speaker.USER and inner(message, "provenance").get("kind") == "inter_session":
        return LeftOut.DROPPED
    texts = text_blocks(message.get("content"))
    if texts is None:
        return LeftOut.UNREADABLE
    if not texts:
        return LeftOut.NO_MESSAGE
    text = "\n".join(texts)
    if speaker is Speaker.USER:
        text = without_envelopes(text)
    said = uttered(speaker, without_runtime_context(text))
    if isinstance(said, LeftOut) or is_generated(speaker, said.text):
        return LeftOut.DROPPED
    return replace(said, time=first_time(message, record))


def is_generated(speaker: Speaker, text: str) -> bool:
    """Tell whether a folded text is of OpenClaw's machinery: its events and prompts, and answers meant for nobody."""
    if speaker is Speaker.USER and (_SYSTEM.match(text) or _CRON.match(text) or _is_heartbeat(text)):
        return True
    if _is_silent(text) or (speaker is Speaker.ASSISTANT and text == _HEARTBEAT_OK):
        return True
    return _EXEC.match(_SYSTEM.sub("", text, count=1) if _SYSTEM.match(text) else text) is not None


def is_of_generated_session(record: Mapping[str, object]) -> bool:
    """Tell whether a record says that its session is one of a timer or a dream: nothing behind it is said."""
    return any(
        is_generated_key(where.get("sessionKey")) or _is_dream(where.get("runId"))
        for where in (record, inner(record, "data"))
    )


def is_generated_key(key: object) -> bool:
    """Tell whether a session key is of a run of a timer, or of a dream."""
    return isinstance(key, str) and bool(_CRON_SESSION.match(key) or _DREAM_SESSION.match(key))


def _is_dream(run: object) -> bool:
    return isinstance(run, str) and run.startswith(_DREAM)


def _is_heartbeat(text: str) -> bool:
    is_tasks = text.startswith(_TASKS) and _TASKS_END in text
    return text == _POLL or text.startswith(_HEARTBEAT) or is_tasks


def _is_silent(text: str) -> bool:
    if len(text) > _MAX_ENVELOPE:
        return False
    if text.upper() == _NO_REPLY:
        return True
    try:
        envelope = json.loads(text) if text.startswith("{") else None
    except (ValueError, RecursionError):
        return False
    return isinstance(envelope, dict) and list(envelope) == ["action"] and str(envelope["action"]).strip() == _NO_REPLY
