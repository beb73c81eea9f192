"""How OpenClaw cuts notes and reads the output of qmd, and memoryd's intended differences.

The facts and the reason of each difference are in `tests/data/openclaw/engine.json`.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from memoryd.config.root import Config
from memoryd.domain.text.tokens import estimate
from memoryd.qmd.query import Complaint, complaint_of, hits_in
from tests.chunks import chunk
from tests.daemon import RunningDaemon, write_config
from tests.integration.qmd_standin import StandIn
from tests.waiting import eventually

FACTS = json.loads((Path(__file__).parents[1] / "data/openclaw/engine.json").read_text(encoding="utf-8"))
QMD = FACTS["config"]


def text_of(fact: Mapping[str, Any]) -> str:
    return str(fact["text"]) if "text" in fact else str(fact["repeat"][0]) * int(fact["repeat"][1])


def units(text: str) -> int:
    return len(text.encode("utf-16-le")) // 2


@pytest.mark.parametrize("fact", FACTS["chunks"], ids=lambda fact: fact["id"])
def test_pieces_of_a_note(fact: Mapping[str, Any]) -> None:
    """Our chunks differ; each is an exact slice within the budget, and together they are the note."""
    text = text_of(fact)
    chunks = chunk(text, tokens=fact["tokens"], overlap=fact["overlap"])
    pieces = [[part.start_line, part.end_line, units(text[part.start : part.end])] for part in chunks]
    assert pieces != fact["pieces"]
    assert fact["difference"]
    assert "".join(text[part.own_start : part.end] for part in chunks) == text
    slices = [text[part.start : part.end] for part in chunks]
    assert all(estimate(part) <= fact["tokens"] or len(part) == 1 for part in slices)


@pytest.mark.parametrize("fact", FACTS["printed"], ids=lambda fact: fact["case"])
def test_what_qmd_prints(fact: Mapping[str, Any]) -> None:
    """Hits without a file are tested elsewhere, so each entry gets one."""
    printed = fact["printed"].replace('{"docid"', '{"file": "qmd://notes/a.md", "docid"').replace(',"file":null', "")
    try:
        found: int | None = len(hits_in(printed))
    except ValueError:
        found = None
    if "difference" not in fact or fact["difference"].startswith("beaten"):
        assert found == fact["hits"]
    elif fact["case"] == "several names for lines":
        assert {hit.line for hit in hits_in(printed)} == {1}
    else:
        assert found != fact["hits"]


@pytest.mark.parametrize("fact", FACTS["complaints"], ids=lambda fact: fact["said"])
def test_what_an_error_of_qmd_means(fact: Mapping[str, str]) -> None:
    assert complaint_of(fact["said"]) is Complaint(fact["means"])


@pytest.fixture
def configured(tmp_path: Path) -> dict[str, Any]:
    """The collections that the daemon configures in qmd for the configuration of the facts."""
    program = StandIn(tmp_path / "standin")
    workspace, extra = tmp_path / "workspace", tmp_path / "shared"
    for folder in (workspace / "memory", workspace / "notes", extra):
        folder.mkdir(parents=True)
    (workspace / "MEMORY.md").write_text("# Memory\n")
    (workspace / "notes" / "one [a].md").write_text("# One\n")
    paths = [{**entry, "path": entry["path"].replace("<ext>", str(extra))} for entry in QMD["paths"]]
    memory = {"backend": "qmd", "qmd": {"command": str(program.program), "paths": paths}}
    daemon = RunningDaemon(tmp_path, write_config(tmp_path, workspace, None, memory=memory), workspace)
    with daemon:
        eventually(lambda: list(daemon.state.rglob("index.yml")))
        (file,) = daemon.state.rglob("index.yml")
        found: dict[str, Any] = yaml.safe_load(file.read_text())["collections"]
        status: Any = daemon.agent()["qmd"]
        # qmd reads copies; the status names the originals
        places = {collection["name"]: collection["path"] for collection in status["collections"]}
    eventually(lambda: not program.alive())
    shown = {str(workspace): "<ws>", str(workspace / "memory"): "<ws>/memory", str(workspace / "notes"): "<ws>/notes"}
    shown[str(extra)] = "<ext>"
    return {name: [shown[places[name]], collection["pattern"]] for name, collection in found.items()}


def test_collections_of_a_configuration(configured: dict[str, Any]) -> None:
    """Our named collections have no agent suffix, since each agent has its own index."""
    theirs = QMD["collections"]
    assert configured.pop("memory-root-main")[0] == "<ws>"
    assert set(theirs) - set(QMD["differences"]) <= set(configured)
    assert {name: configured[name] for name in set(theirs) & set(configured)} == {
        name: theirs[name] for name in set(theirs) & set(configured)
    }
    assert sorted(configured.values()) == sorted(
        place for name, place in theirs.items() if not name.startswith("memory-")
    )


def test_values_of_a_configuration() -> None:
    """Every value that OpenClaw replaces by a default is a problem here."""
    taken = Config.model_validate({"memory": {"backend": "qmd", "qmd": QMD["taken"]["given"]}}).memory.qmd
    ours = taken.model_dump(mode="json", by_alias=True)
    for key, value in QMD["taken"]["resolved"].items():
        section, _, name = key.rpartition(".")
        assert (ours[section] if section else ours)[name] == value, key
    for key, value in QMD["refused"].items():
        section, _, name = key.rpartition(".")
        with pytest.raises(ValueError, match=name):
            Config.model_validate({"memory": {"qmd": {section: {name: value}} if section else {name: value}}})
