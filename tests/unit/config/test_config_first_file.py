"""The first configuration file says what was chosen, whatever the names of the folders."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoryd.cli.local.init import file_text
from memoryd.config.loading.load import Loaded, load_text
from memoryd.config.loading.raw import parse
from memoryd.domain.embedding import (
    ENGLISH_STARTER,
    MULTILINGUAL_STARTER,
    FirstModel,
    ModelsHere,
    is_english_alone,
    local_model,
    named_model,
    proposed_model,
)
from memoryd.models.packaged import KNOWN

HOME = Path("/home/me")
NAMES = st.text(st.characters(exclude_characters="/\0", exclude_categories=["Cs"]), min_size=1, max_size=20).filter(
    lambda name: name not in (".", "..") and bool(name.strip())
)


def read(folders: list[tuple[Path, bool]], model: FirstModel) -> Loaded:
    text = file_text(folders, model, HOME)
    return load_text(text, Path("/home/me/.config/memoryd/config.json5"))


@pytest.fixture(autouse=True)
def home(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(HOME))


def test_one_folder_is_the_default_workspace() -> None:
    text = file_text([(HOME / "notes", True)], FirstModel("local"), HOME)
    assert 'workspace: "~/notes",' in text
    agents = read([(HOME / "notes", True)], FirstModel("local", "pypi:one==1")).config.resolved_agents()
    assert [(agent.id, agent.workspace, agent.memory_search.extra_paths) for agent in agents] == [
        ("main", HOME / "notes", (".",))
    ]
    assert (agents[0].memory_search.provider, agents[0].memory_search.local.model_path) == ("local", "pypi:one==1")


def test_several_folders_become_agents_named_after_them() -> None:
    projects = HOME / ".claude/projects"
    folders = [
        (Path("/srv/notes"), False),
        (projects / "-home-me-honey-shop" / "memory", True),
        (projects / "honey-shop" / "memory", True),
        (Path("/srv/!!!"), False),
    ]
    agents = read(folders, FirstModel("none")).config.resolved_agents()
    assert [agent.id for agent in agents] == ["main", "honey-shop", "honey-shop-2", "notes"]
    assert [agent.workspace for agent in agents] == [folder for folder, _ in folders]
    assert [bool(agent.memory_search.extra_paths) for agent in agents] == [False, True, True, False]
    assert {agent.memory_search.provider for agent in agents} == {"none"}


@given(st.lists(NAMES, min_size=1, max_size=4, unique=True))
def test_any_folder_name_is_read_back(names: list[str]) -> None:
    folders = [(Path("/srv") / name, False) for name in names]
    raw = parse(file_text(folders, FirstModel("none"), HOME), Path("x"))
    agents = raw["agents"]
    assert isinstance(agents, dict)
    entries = agents.get("list") or [agents["defaults"]]
    assert [entry["workspace"] for entry in entries] == [str(folder) for folder, _ in folders]


def test_folder_name_in_another_encoding_is_kept() -> None:
    folder = Path("/srv/b\udce4ume")
    raw = parse(file_text([(folder, False)], FirstModel("none"), HOME), Path("x"))
    assert raw["agents"] == {"defaults": {"workspace": str(folder), "memorySearch": {"provider": "none"}}}


@pytest.mark.parametrize(
    ("here", "provider", "spec"),
    [
        (ModelsHere(True, "usual"), "local", ""),
        (ModelsHere(True, "usual", ("other",), may_fetch=False), "local", "other"),
        (ModelsHere(True, "usual", ("other", "usual")), "local", ""),
        (ModelsHere(True, "usual", ("other", "third")), "local", ""),
        (ModelsHere(True, "usual", may_fetch=False), "none", ""),
        (ModelsHere(True, "usual", has_hub=False), "local", MULTILINGUAL_STARTER),
        (ModelsHere(True, "usual", has_hub=False, is_english=True), "local", ENGLISH_STARTER),
        (ModelsHere(True, "usual", memory_bytes=1 << 30), "local", MULTILINGUAL_STARTER),
        (ModelsHere(True, "usual", memory_bytes=1 << 30, is_english=True), "local", ENGLISH_STARTER),
        (ModelsHere(True, "usual", (ENGLISH_STARTER,), is_english=True), "local", ENGLISH_STARTER),
        (ModelsHere(True, "usual", (ENGLISH_STARTER,), has_hub=False), "local", MULTILINGUAL_STARTER),
        (ModelsHere(True, "usual", (ENGLISH_STARTER,), may_fetch=False), "local", ENGLISH_STARTER),
        (ModelsHere(True, "usual", (ENGLISH_STARTER, MULTILINGUAL_STARTER)), "local", MULTILINGUAL_STARTER),
        (ModelsHere(False, "usual", ("usual",), keys={"openai": "OPENAI_API_KEY"}), "none", ""),
    ],
)
def test_proposal_never_sends_notes_away(here: ModelsHere, provider: str, spec: str) -> None:
    found = proposed_model(here)
    assert (found.provider, found.spec, found.leaves_machine) == (provider, spec, False)


@pytest.mark.parametrize(
    ("languages", "is_english"),
    [
        ("en " * 9, True),
        ("", False),
        ("zh", False),
        ("en zh", False),
        ("en " * 28 + "zh", False),
        ("en " * 60 + "zh", True),
        ("en de fr", False),
    ],
)
def test_notes_are_english_if_at_most_a_fiftieth_is_not(languages: str, is_english: bool) -> None:
    assert is_english_alone(["", *languages.split()]) is is_english


def test_starters_are_the_packaged_models() -> None:
    assert {ENGLISH_STARTER, MULTILINGUAL_STARTER} == {model.spec for model in KNOWN}


def test_named_provider_says_what_it_needs() -> None:
    here = ModelsHere(False, "usual", keys={"openai": "OPENAI_API_KEY"})
    assert named_model("openai", here) == FirstModel("openai")
    assert named_model("openai", here).leaves_machine
    assert "apiKey" in named_model("voyage", here).reason
    assert not named_model("ollama", here).leaves_machine
    assert "memoryd[local]" in local_model(here).reason
