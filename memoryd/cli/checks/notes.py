"""The part of `memoryctl doctor` about the notes: is there a workspace, and is what lies in it indexed."""

from collections.abc import Iterator
from pathlib import Path

from memoryd.cli.checks.examination import Examination
from memoryd.cli.checks.finding import Finding, Looks
from memoryd.cli.terminal import count
from memoryd.config.agents import Agent
from memoryd.config.root import Config
from memoryd.domain.documents import INDEX_ALL, OutsideCount
from memoryd.files.roots import count_outside, roots_and_rules
from memoryd.files.scanner import scan
from memoryd.replies.status import StatusReply


def notes(examination: Examination) -> Iterator[Finding]:
    """Take the daemon's word, which may have been started with --all; without one look at the disk."""
    if examination.status is not None:
        yield from _told(examination.status)
        return
    for agent in examination.config.resolved_agents():
        yield _looked_at(agent, examination.config)


def _told(status: StatusReply) -> Iterator[Finding]:
    for agent in status["agents"]:
        found = agent.get("outside")
        outside = OutsideCount(found["files"], is_more=found["more"]) if found else OutsideCount()
        yield _check(agent["id"], Path(agent["workspace"]), agent["files"], outside)


def _looked_at(agent: Agent, config: Config) -> Finding:
    roots, rules = roots_and_rules(agent, max_file_bytes=config.limits.max_file_bytes)
    seen = scan(roots, rules)
    return _check(agent.id, agent.workspace, len(seen.files), count_outside(seen, rules))


def _check(agent: str, workspace: Path, files: int, outside: OutsideCount) -> Finding:
    part = f"notes of {agent}"
    if not workspace.is_dir():
        return Finding(
            part, "wrong", f"there is no folder {workspace}", "make it, or start memoryd with --workspace DIR"
        )
    found = f"{count(files, 'note')} in {workspace}"
    if not outside.files:
        return Finding(part, "ok", found)
    return Finding(part, "ok" if files else "wrong", f"{found}; {outside} in other places not indexed", INDEX_ALL)


LOOKS: Looks = {"notes.indexed": notes}
