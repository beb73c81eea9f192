"""Notes of which half are shared by others are ranked as if all were one's own."""

import json
import shutil
from pathlib import Path

from memoryd.domain.documents import owner_path
from tests.daemon import RunningDaemon, write_config

SETS = Path(__file__).parents[1] / "data" / "retrieval"
TEAM = {"remote": "git@host.example:acme/memory.git", "name": "acme", "person": "ben", "intervalMinutes": 0}
NAMES = ("tiny-dev", "literals")


def daemon_with(home: Path, *, shares_half: bool) -> RunningDaemon:
    workspace = home / "workspace"
    workspace.mkdir(parents=True)
    daemon = RunningDaemon(home, write_config(home, workspace, None, team=TEAM), workspace)
    notes = daemon.state / "teams" / "acme" / "notes" / "ana"
    files = [path for name in NAMES for path in sorted((SETS / name / "ws").rglob("memory/**/*.md"))]
    for number, path in enumerate(files):
        root = notes if shares_half and number % 2 else workspace
        at = root / "memory" / path.relative_to(SETS).parts[2] / path.name
        at.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, at)
    return daemon


def test_shared_half_is_ranked_like_own_notes(tmp_path: Path) -> None:
    rows = [line for name in NAMES for line in (SETS / name / "queries.jsonl").read_text().splitlines()]
    questions = [json.loads(row)["question"] for row in rows]
    assert len(questions) > 100
    found = []
    for shares_half in (False, True):
        with daemon_with(tmp_path / str(shares_half), shares_half=shares_half) as daemon:
            client = daemon.client()
            client.sync()
            hits = [client.search(question, max_results=10)["results"] for question in questions]
            found.append([[(owner_path(hit["path"]), hit["startLine"]) for hit in each] for each in hits])
            assert any(hit.get("person") for each in hits for hit in each) is shares_half
    same = sum(own == shared for own, shared in zip(*found, strict=True))
    assert same >= 0.98 * len(questions), f"{same} of {len(questions)}"
