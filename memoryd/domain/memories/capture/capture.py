"""What of a message is kept as memories, without any model: the one entrance to the rules beside it."""

from dataclasses import dataclass

from memoryd.domain.memories.attributes import Provenance
from memoryd.domain.memories.capture.verdict import CapturedItem, CaptureVerdict
from memoryd.domain.memories.kinds import Kind


@dataclass(frozen=True, slots=True)
class ReportedFailure:
    """What the watchdog of an agent's loop reports: the text, and the tool that failed, if it was one."""

    text: str
    tool: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CaptureRules:
    """Which rules are on, as `memory.capture` says."""

    identifiers: bool = True
    in_groups: bool = False


def captured(text: str, *, answer_before: str = "", rules: CaptureRules = CaptureRules()) -> CaptureVerdict:
    """Return what is kept of a message of the user, secrets in it masked already, and what is not."""
    return CaptureVerdict()


def captured_failure(failure: ReportedFailure) -> CaptureVerdict:
    """Return the memory of a reported failure."""
    said = " ".join(failure.text.split())[:FAILURE_SIGNS]
    if not said:
        return CaptureVerdict()
    text = f"{failure.tool}: {said}" if failure.tool else said
    return CaptureVerdict((CapturedItem(Kind.FAILURE, text, "failure", provenance=Provenance.TOOL),), gate="failure")


FAILURE_SIGNS = 500
"""Of what is said of a failure."""
