"""memoryctl init: what it finds, asks, writes and leaves alone."""

import asyncio
import json
import re
from pathlib import Path

import pytest

from memoryd.cli.main import run
from memoryd.config.loading.load import load
from memoryd.config.paths import config_file
from memoryd.config.providers import DEFAULT_MODEL
from memoryd.domain.embedding import ENGLISH_STARTER, MULTILINGUAL_STARTER
from memoryd.wire import Exit
from tests.daemon import RunningDaemon
from tests.integration.model_server import Answer, ModelServer
from tests.integration.pseudo_terminal import on_terminal

Captured = pytest.CaptureFixture[str]
QUIET = ("--yes", "--model", "none", "--no-service", "--json")


@pytest.fixture(autouse=True)
def isolated(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("CLAUDE_CONFIG_DIR", "OPENCLAW_STATE_DIR", "OPENAI_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("MEMORYD_SOCKET", str(tmp_path / "nobody.sock"))
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    Path.home().mkdir()


def notes(*names: str, folder: str = "notes") -> Path:
    root = Path.home() / folder
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(f"# {name}\n\nThe honey of {name} stands in the cellar.\n")
    return root


def init(capsys: Captured, *arguments: str, code: int = Exit.DONE) -> dict[str, object]:
    assert run(["init", *arguments]) == code
    reply: dict[str, object] = json.loads(capsys.readouterr().out)
    return reply


def agents() -> dict[str, tuple[Path, tuple[str, ...]]]:
    return {one.id: (one.workspace, one.memory_search.extra_paths) for one in load().config.resolved_agents()}


def test_all_notes_of_a_folder_are_indexed(tmp_path: Path, capsys: Captured) -> None:
    folder = notes("bees.md", "garden/apples.md")
    reply = init(capsys, str(folder), *QUIET)
    assert reply["agents"] == [{"id": "main", "workspace": str(folder), "files": 2}]
    path = config_file()
    assert reply["written"] is True
    assert (path.stat().st_mode & 0o777, path.parent.stat().st_mode & 0o777) == (0o600, 0o700)
    assert run(["config", "check"]) == Exit.DONE
    with RunningDaemon(tmp_path, path, folder) as daemon:
        daemon.client().sync()
        found = daemon.client().search("where is the honey")["results"]
        assert {hit["path"] for hit in found} == {"bees.md", "garden/apples.md"}


def test_second_init_changes_nothing(capsys: Captured) -> None:
    folder = notes("MEMORY.md")
    init(capsys, str(folder), *QUIET)
    before = config_file().read_bytes()
    for same in ([], [str(folder), "--model", "none"]):
        reply = init(capsys, "--json", *same)
        assert (reply["written"], reply["agents"]) == (False, [{"id": "main", "workspace": str(folder), "files": 1}])
    other = init(capsys, "--json", str(folder), "--model", "local", code=Exit.ERROR)
    assert "--force" in str(other["error"])
    assert config_file().read_bytes() == before
    assert [path.name for path in config_file().parent.iterdir()] == ["config.json5"]


def test_broken_file_is_reported_and_unchanged(capsys: Captured) -> None:
    config_file().parent.mkdir(parents=True)
    config_file().write_text("{ nonsense")
    reply = init(capsys, "--json", code=Exit.ERROR)
    assert len(list(reply["problems"])) == 1  # type: ignore[call-overload]
    assert config_file().read_text() == "{ nonsense"


@pytest.mark.parametrize("is_link", [False, True])
def test_force_keeps_a_copy_of_the_old_file(is_link: bool, tmp_path: Path, capsys: Captured) -> None:
    folder = notes("MEMORY.md")
    config_file().parent.mkdir(parents=True)
    elsewhere = tmp_path / "theirs.json5" if is_link else config_file()
    elsewhere.write_text("{ /* mine */ }")
    if is_link:
        config_file().symlink_to(elsewhere)
    reply = init(capsys, str(folder), "--force", *QUIET)
    copy = Path(str(reply["kept"]))
    assert re.fullmatch(r"config\.json5\.\d{4}-\d\d-\d\d-\d{6}", copy.name)
    assert copy.read_text() == "{ /* mine */ }"
    assert copy.stat().st_mode & 0o777 == 0o600
    assert not config_file().is_symlink()
    assert agents()["main"][0] == folder
    if is_link:
        assert elsewhere.read_text() == "{ /* mine */ }"


def test_dry_run_writes_nothing(capsys: Captured) -> None:
    folder = Path.home() / "new"
    reply = init(capsys, str(folder), "--dry-run", *QUIET)
    assert (reply["written"], 'workspace: "~/new"' in str(reply["text"])) == (False, True)
    assert list(Path.home().iterdir()) == []


def test_missing_folder_is_created_only_with_yes(capsys: Captured) -> None:
    folder = Path.home() / "new"
    refused = init(capsys, str(folder), "--model", "none", "--json", code=Exit.USAGE)
    assert "--yes" in str(refused["error"])
    assert not config_file().exists()
    init(capsys, str(folder), *QUIET)
    assert folder.stat().st_mode & 0o777 == 0o700
    assert agents()["main"] == (folder, (".",))


def test_without_terminal_a_whole_folder_needs_an_option(capsys: Captured) -> None:
    folder = notes("bees.md")
    refused = init(capsys, str(folder), "--json", code=Exit.USAGE)
    assert "1 Markdown file" in str(refused["error"])
    assert not config_file().exists()
    init(capsys, str(folder), "--no-all", "--model", "none", "--json")
    assert agents()["main"] == (folder, ())


@pytest.mark.parametrize("folder", ["/", "~", "/../", "~/notes/.."])
def test_f132_root_and_home_are_refused_as_workspace(folder: str, capsys: Captured) -> None:
    """Neither the root nor the home folder becomes a workspace, even with --all, and nothing is written."""
    notes("MEMORY.md")
    refused = init(capsys, folder, "--all", *QUIET, code=Exit.ERROR)
    assert "must be a folder of its own" in str(refused["error"])
    assert not config_file().exists()


def test_workspaces_of_agent_programs_are_found(capsys: Captured) -> None:
    assert "no folder with notes" in str(init(capsys, *QUIET, code=Exit.USAGE)["error"])
    one = notes("MEMORY.md", "debugging.md", folder=".claude/projects/-work-honey/memory")
    init(capsys, *QUIET)
    assert agents() == {"main": (one, (".",))}
    config_file().unlink()
    two = notes("MEMORY.md", folder=".claude/projects/-work-wax/memory")
    refused = str(init(capsys, *QUIET, code=Exit.USAGE)["error"])
    assert str(one) in refused
    assert str(two) in refused
    init(capsys, "--workspace", str(one), "--workspace", str(two), "--workspace", f"{one}/", "--all", *QUIET)
    assert agents() == {"main": (one, (".",)), "work-wax": (two, (".",))}
    config_file().unlink()
    openclaw = notes("MEMORY.md", "other/thing.md", folder=".openclaw/workspace")
    reply = init(capsys, *QUIET)
    assert agents() == {"main": (openclaw, ())}
    assert "1 Markdown file" in str(reply["notices"])


def test_key_in_environment_is_used_only_if_named(capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    folder = notes("MEMORY.md")
    reply = init(capsys, str(folder), "--yes", "--no-service", "--json")
    assert reply["provider"] in ("local", "none")
    config_file().unlink()
    reply = init(capsys, str(folder), "--yes", "--no-service", "--json", "--model", "openai")
    assert reply["provider"] == "openai"
    assert "sk-secret" not in json.dumps(reply) + config_file().read_text()


@pytest.mark.parametrize(
    ("status", "chinese", "spec"),
    [(None, 0, ENGLISH_STARTER), (None, 1, MULTILINGUAL_STARTER), (403, 0, ENGLISH_STARTER), (200, 1, DEFAULT_MODEL)],
)
async def test_without_hub_the_model_follows_the_language(
    status: int | None, chinese: int, spec: str, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = notes("bees.md", "garden/apples.md", "wax.md")
    for number in range(chinese):
        (folder / f"{number}.md").write_text("# 血压\n\n岳父的降压药放在厨房左边的抽屉里。\n")
    async with ModelServer(b"", script=[Answer(status=status or 200)]).running() as hub:
        if status:
            monkeypatch.setenv("HF_ENDPOINT", hub.url)
        arguments = [str(folder), "--yes", "--no-service", "--json"]
        reply = await asyncio.to_thread(init, capsys, *arguments)
    assert (reply["provider"], load().config.resolved_agents()[0].memory_search.local.model_path) == ("local", spec)
    assert ("does not answer" in str(reply["reason"])) is (spec != DEFAULT_MODEL)


def test_local_model_may_be_named(capsys: Captured) -> None:
    folder = notes("bees.md")
    for named, meant in ((ENGLISH_STARTER, ENGLISH_STARTER), ("mine.gguf", str(Path("mine.gguf").absolute()))):
        reply = init(capsys, str(folder), "--force", "--yes", "--no-service", "--json", "--model", named)
        search = load().config.resolved_agents()[0].memory_search
        assert (reply["provider"], search.local.model_path) == ("local", meant)
    for wrong, known in (("pypi:mine==1", MULTILINGUAL_STARTER), ("odd:mine", "odd: is not a source")):
        refused = init(capsys, str(folder), "--force", "--yes", "--json", "--model", wrong, code=Exit.ERROR)
        assert known in str(refused["error"])
    assert "is not one of" in str(init(capsys, str(folder), "--json", "--model", "nobody", code=Exit.USAGE)["error"])


def test_failed_service_installation_keeps_the_file(
    tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    folder = notes("MEMORY.md")
    reply = init(capsys, str(folder), "--model", "none", "--service", "--json", code=Exit.ERROR)
    assert reply["written"] is True
    assert "no service was installed" in str(reply["notices"])
    assert agents()["main"] == (folder, ())


def test_terminal_user_is_asked_for_missing_options() -> None:
    folder = notes("bees.md")
    code, seen = on_terminal(
        "init", "--no-service", typed=f"{folder}\ny\nopenai\nn\nnone\ny\n", OPENAI_API_KEY="sk-secret"
    )
    assert code == Exit.DONE, seen
    assert "index all of them?" in seen
    assert "will leave this machine, for api.openai.com" in seen
    assert agents() == {"main": (folder, (".",))}
    assert load().config.resolved_agents()[0].memory_search.provider == "none"


@pytest.mark.parametrize(
    ("provider", "is_linked"), [("none", True), ("no provider of that name", True), ("openai", False), (7, False)]
)
def test_openclaw_file_is_linked_unless_it_sends_notes_away(provider: object, is_linked: bool) -> None:
    folder = notes("MEMORY.md", folder="claw")
    theirs = Path.home() / ".openclaw" / "openclaw.json"
    theirs.parent.mkdir()
    defaults = {"workspace": str(folder), "memorySearch": {"provider": provider}}
    text = json.dumps({"gateway": {}, "agents": {"defaults": defaults}})
    theirs.write_text(text)
    is_usable = isinstance(provider, str)
    answers = "\n\n" if is_linked else f"{folder}\nnone\n\n"
    code, seen = on_terminal("init", "--no-service", typed=f"\n{answers}" if is_usable and not is_linked else answers)
    assert code == Exit.DONE, seen
    assert config_file().is_symlink() is is_linked
    assert ("will leave this machine, for api.openai.com" in seen) is (provider == "openai")
    assert ("cannot be used as it is, for 1 problem" in seen) is not is_usable
    assert agents()["main"][0] == folder
    assert theirs.read_text() == text


@pytest.mark.parametrize("question", ["index all of them?", "Write this to"])
def test_ctrl_c_at_a_question_writes_nothing(question: str) -> None:
    folder = notes("bees.md")
    typed = "y\nnone\n" if question.startswith("Write") else ""
    code, seen = on_terminal("init", str(folder), "--no-service", typed=typed, interrupt_at=question)
    assert code == 130, seen
    assert [path.name for path in Path.home().iterdir()] == ["notes"]
