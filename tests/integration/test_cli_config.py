"""memoryctl config: problems of a file, effective values, and the schema for editors."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from memoryd.cli.main import run
from memoryd.config.root import json_schema
from memoryd.wire import Exit
from tests.integration.pseudo_terminal import PROGRAM
from tests.sweeps import swept

Captured = pytest.CaptureFixture[str]
FILE = """{
  $schema: "./memoryd.schema.json",
  log: { level: "debug" }, memory: { machines: { secret: "sk-secret-of-machines" }, llm: { apiKey: "sk-secret" } },
  agents: {
    defaults: {
      workspace: "../notes",
      memorySearch: {
        provider: "openai",
        query: { maxResults: 5000 },
        remote: { apiKey: "sk-secret", baseUrl: "https://me:pass@x.org/v1?key=sk-secret", headers: { X: "sk-secret" } },
      },
    },
    list: [{ id: "main" }, { id: "work", workspace: "~/work", memorySearch: { provider: "none" } }],
  },
  models: { providers: { openai: { apiKey: "sk-secret", baseUrl: "https://x.org/v1?api_key=sk-secret" } } },
}
"""


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "config" / "config.json5"
    path.parent.mkdir()
    path.write_text(FILE)
    path.chmod(0o600)
    monkeypatch.setenv("MEMORYD_CONFIG", str(path))
    return path


def checked(capsys: Captured, *arguments: str) -> tuple[int, dict[str, list[dict[str, object]]]]:
    code = run(["config", "check", "--json", *arguments])
    return code, json.loads(capsys.readouterr().out)


def shown(capsys: Captured, *arguments: str) -> dict[str, dict[str, object]]:
    assert run(["config", "show", "--json", *arguments]) == Exit.DONE
    return {one["key"]: one for one in json.loads(capsys.readouterr().out)["values"]}


def test_check_of_sound_file_lists_agents_and_notices(file: Path, capsys: Captured) -> None:
    assert run(["config", "check"]) == Exit.DONE
    report = capsys.readouterr().out
    assert f"{file}:9:18: notice: agents.defaults.memorySearch.query.maxResults: 5000 is out of range" in report
    assert "agent work on " in report


def test_workspace_that_is_no_folder_is_told(file: Path, tmp_path: Path, capsys: Captured) -> None:
    notes = tmp_path / "notes"
    file.write_text(json.dumps({"agents": {"defaults": {"workspace": str(notes)}}}))
    assert run(["config", "check"]) == Exit.DONE
    assert f"agent main on {notes} (no such folder)\n" in capsys.readouterr().out
    notes.mkdir()
    assert run(["config", "check"]) == Exit.DONE
    assert f"agent main on {notes}\n" in capsys.readouterr().out


def test_all_problems_are_listed_with_positions(file: Path, capsys: Captured) -> None:
    file.write_text("{\n  gateway: {},\n  log: { levle: 1 },\n  limits: {\n    maxFileBytes: 'x' },\n}")
    code, report = checked(capsys)
    assert code == Exit.ERROR
    assert [(one["key"], one["line"], one["column"]) for one in report["problems"]] == [
        ("log.levle", 3, 10),
        ("limits.maxFileBytes", 5, 5),
    ]
    assert [one["message"] for one in report["notices"]] == ["ignored, not memoryd's: gateway"]


@pytest.mark.parametrize(
    ("content", "line", "message"),
    [
        (b"{\n  agents: ", 2, "unexpected"),
        (b"", None, "is empty"),
        (b"\n[]", None, "must hold one object"),
        (b"{\n a: '\xff' }", 2, "is not UTF-8"),
        (b"{a: 1,\n a: 2}", 2, "appears twice"),
        (b"{}" + b" " * 100_000_000, None, "larger than 1 MiB"),
    ],
    ids=["syntax", "empty", "list", "latin", "twice", "huge"],
)
def test_f131_unusable_file_is_explained(
    file: Path, capsys: Captured, content: bytes, line: int | None, message: str
) -> None:
    """Whatever a file holds, the check says what is wrong, with the line if there is one, and ends with 1."""
    file.write_bytes(content)
    code, report = checked(capsys)
    assert code == Exit.ERROR
    assert [one["line"] for one in report["problems"]] == [line]
    assert message in str(report["problems"][0]["message"])


def test_f131_folder_pipe_and_missing_file_are_reported(tmp_path: Path, capsys: Captured) -> None:
    """A path that is no file is reported as such, without blocking."""
    pipe, missing = tmp_path / "pipe", tmp_path / "missing"
    os.mkfifo(pipe)
    for path, message in ((tmp_path, "is not a file"), (pipe, "is not a file"), (missing, "No such file")):
        code, report = checked(capsys, str(path))
        assert code == Exit.ERROR
        assert message in str(report["problems"][0]["message"])


def test_f131_link_and_byte_order_mark_are_accepted(file: Path, tmp_path: Path, capsys: Captured) -> None:
    """A link is followed, a byte order mark is skipped, and a file that others can change is reported."""
    file.write_bytes(b"\xef\xbb\xbf{ log: { level: 'INFO' } }")
    file.chmod(0o664)
    link = tmp_path / "link.json5"
    link.symlink_to(file)
    code, report = checked(capsys, str(link))
    assert (code, report["problems"]) == (Exit.DONE, [])
    assert any("chmod go-w" in str(one["message"]) for one in report["notices"])


@pytest.mark.parametrize("workspace", ["/", "~", "~/", "/.", "~/notes/.."])
def test_f132_root_and_home_are_refused(file: Path, capsys: Captured, workspace: str) -> None:
    """Neither the root nor the whole home folder is a workspace, however it is spelt."""
    (Path.home() / "notes").mkdir(parents=True)
    file.write_text(json.dumps({"agents": {"defaults": {"workspace": workspace}}}))
    code, report = checked(capsys)
    assert code == Exit.ERROR
    assert "must be a folder of its own" in str(report["problems"][0]["message"])


@swept("bare", [{"LC_ALL": "C"}, {"LANG": "de_DE.ISO-8859-1", "PYTHONUTF8": "0"}], 1)
def test_f133_bare_environment_checks_and_shows_a_file_in_utf8(file: Path, bare: dict[str, str]) -> None:
    """With no HOME and another locale, the values of a file in UTF-8 are checked, shown and planned unchanged."""
    folder = file.parent / "größe 漢字"
    folder.mkdir()
    (folder / "MEMORY.md").write_text("# Notes\n")
    file.write_text(json.dumps({"agents": {"defaults": {"workspace": str(folder)}}}, ensure_ascii=False))
    environment = {"MEMORYD_CONFIG": str(file), "MEMORYD_SOCKET": str(file.parent / "nobody.sock"), **bare}

    def report(*arguments: str) -> dict[str, object]:
        done = subprocess.run([*PROGRAM, *arguments, "--json"], env=environment, capture_output=True, timeout=60)
        assert done.returncode == Exit.DONE, done
        answer: dict[str, object] = json.loads(done.stdout)
        return answer

    assert report("config", "check")["problems"] == []
    assert report("config", "show", "agents.defaults.workspace")["values"][0]["value"] == str(folder)  # type: ignore[index]
    planned = report("init", str(folder), "--force", "--dry-run", "--model", "none")
    assert "größe 漢字" in str(planned["text"])


def test_environment_is_checked_with_the_file(file: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMORYD_OFFLINE", "perhaps")
    code, report = checked(capsys)
    assert code == Exit.ERROR
    assert report["problems"] == [
        {"message": "MEMORYD_OFFLINE: must be 1 or 0", "key": None, "line": None, "column": None}
    ]


def test_missing_file_means_defaults(capsys: Captured) -> None:
    assert run(["config", "check"]) == Exit.DONE
    assert "the defaults hold" in capsys.readouterr().out
    assert shown(capsys, "log")["log.level"]["origin"] == "default"


def test_values_are_shown_with_their_origin(file: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMORYD_LOG_LEVEL", "error")
    monkeypatch.setenv("MEMORYD_OFFLINE", "1")
    found = shown(capsys)
    level, results = found["log.level"], found["agents.defaults.memorySearch.query.maxResults"]
    assert (level["value"], level["variable"]) == ("ERROR", "MEMORYD_LOG_LEVEL")
    assert (results["value"], results["line"], results["written"]) == (1000, 9, 5000)
    assert found["agents.defaults.memorySearch.local.download"]["variable"] == "MEMORYD_OFFLINE"
    workspace = found["agents.defaults.workspace"]
    assert (workspace["value"], workspace["written"]) == (str(file.parent / "../notes"), "../notes")
    assert "memory.qa.enabled" not in found
    assert shown(capsys, "--all")["memory.qa.enabled"]["origin"] == "default"


def test_no_secret_is_shown_anywhere(file: Path, capsys: Captured) -> None:
    for arguments in (["show", "--all"], ["show", "--all", "--json"], ["show", "--agent", "main", "--all"], ["check"]):
        run(["config", *arguments])
        printed = "".join(capsys.readouterr())
        assert "main" in printed
        assert "sk-secret" not in printed
        assert "pass@" not in printed


@pytest.mark.parametrize(
    ("reference", "value"), [("'sk-secret'", "**********"), ("{ env: 'A_KEY' }", {"env": "A_KEY"})]
)
@pytest.mark.parametrize("key", ["apiKey", "headers.X"])
@pytest.mark.parametrize("agent", [(), ("--agent", "main")])
def test_secret_is_shown_as_one_masked_setting(
    file: Path, capsys: Captured, reference: str, value: object, key: str, agent: tuple[str, ...]
) -> None:
    file.write_text(FILE.replace('"sk-secret"', reference))
    place = "memorySearch.remote" if agent else "agents.defaults.memorySearch.remote"
    found = shown(capsys, *agent)[f"{place}.{key}"]
    assert (found["value"], found["line"], found["written"]) == (value, 10, None)


def test_reference_to_machines_secret_is_one_setting(file: Path, capsys: Captured) -> None:
    file.write_text('{ memory: { machines: { secret: { env: "A_KEY" } } } }')
    found = {key: one["value"] for key, one in shown(capsys).items() if key.startswith("memory.machines")}
    assert found == {"memory.machines.secret": {"env": "A_KEY"}}


def test_effective_values_of_an_agent_are_shown(file: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    work = shown(capsys, "--agent", "work", "--all")
    assert (work["memorySearch.provider"]["value"], work["memorySearch.provider"]["line"]) == ("none", 13)
    assert (work["memorySearch.query.maxResults"]["value"], work["memorySearch.query.maxResults"]["line"]) == (1000, 9)
    assert work["memorySearch.sync.watch"]["origin"] == "default"
    assert work["index"]["origin"] == "derived"
    monkeypatch.setenv("MEMORYD_WORKSPACE", "/elsewhere")
    assert shown(capsys, "--agent", "main", "workspace")["workspace"]["variable"] == "MEMORYD_WORKSPACE"
    assert shown(capsys, "--agent", "work", "workspace")["workspace"]["line"] == 13


def test_unknown_key_and_agent_get_suggestions(file: Path, capsys: Captured) -> None:
    assert run(["config", "show", "level"]) == Exit.ERROR
    assert "perhaps: log.level" in capsys.readouterr().err
    assert run(["config", "show", "--agent", "nobody"]) == Exit.ERROR
    assert "there is: main, work" in capsys.readouterr().err


def test_schema_is_printed(capsys: Captured) -> None:
    assert run(["config", "schema"]) == Exit.DONE
    assert json.loads(capsys.readouterr().out) == json_schema()


def test_values_of_newer_layout_are_shown_with_positions(file: Path, capsys: Captured) -> None:
    entries = '{ main: {}, work: { workspace: "~/work", memory: { search: { query: { maxResults: 7 } } } } }'
    file.write_text('{\n memory: { search: {\n provider: "none" } },\n agents: { entries: ' + entries + " } }")
    found = shown(capsys)
    provider = found["agents.defaults.memorySearch.provider"]
    assert (provider["origin"], provider["line"]) == ("file", 3)
    assert found["agents.list[1].id"]["origin"] == "file"
    work = shown(capsys, "--agent", "work", "--all")
    assert (work["workspace"]["line"], work["memorySearch.query.maxResults"]["line"]) == (4, 4)
    assert work["memorySearch.provider"]["line"] == 3
