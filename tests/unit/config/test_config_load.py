"""Loading a configuration: where the file is found, what overrides what, and how problems are reported."""

import json
import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, get_args

import pytest

from memoryd.config.loading.foreign import RETIRED
from memoryd.config.loading.load import REQUIRED, Loaded, load
from memoryd.config.loading.overrides import Overrides
from memoryd.config.root import Config
from memoryd.config.section import Section
from memoryd.errors import ConfigError
from tests.unit.config.test_config_exposure import SECRETS, written_at

Write = Callable[[str], Path]


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


@pytest.fixture
def write(home: Path) -> Write:
    def write_default_file(text: str) -> Path:
        path = home / ".config/memoryd/config.json5"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        path.chmod(0o600)
        return path

    return write_default_file


def problems_of(path: Path | None = None, overrides: Overrides = Overrides()) -> list[str]:  # noqa: B008
    with pytest.raises(ConfigError) as caught:
        load(path, overrides)
    return caught.value.problems


def workspace_of(loaded: Loaded) -> Path:
    return loaded.config.resolved_agents()[0].workspace


def test_no_file_means_the_defaults(home: Path) -> None:
    loaded = load()
    assert loaded.source is None
    assert loaded.notices == []
    assert workspace_of(loaded) == home / ".openclaw/workspace"
    assert loaded.config.limits.max_file_bytes == 64 * 1024 * 1024


def test_default_file_is_found(write: Write) -> None:
    path = write("{ log: { level: 'debug' } }")
    loaded = load()
    assert loaded.source == path
    assert loaded.config.log.level == "DEBUG"


def test_named_file_must_exist(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert problems_of(home / "absent.json5") == [f"{home}/absent.json5: cannot be read: No such file or directory"]
    monkeypatch.setenv("MEMORYD_CONFIG", str(home / "gone.json5"))
    assert "gone.json5" in problems_of()[0]


def test_dangling_link_as_the_default_file_is_reported(write: Write) -> None:
    path = write("{}")
    path.unlink()
    path.symlink_to("nowhere")
    assert "cannot be read" in problems_of()[0]


def test_argument_overrides_the_variable(write: Write, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMORYD_CONFIG", str(home / "gone.json5"))
    path = write("{}")
    assert load(path).source == path


def test_order_is_flag_environment_file_default(write: Write, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write("{ agents: { defaults: { workspace: '/from/file' } }, log: { level: 'ERROR' } }")
    assert workspace_of(load()) == Path("/from/file")
    monkeypatch.setenv("MEMORYD_WORKSPACE", "~/from-environment")
    monkeypatch.setenv("MEMORYD_LOG_LEVEL", "warning")
    assert workspace_of(load()) == home / "from-environment"
    assert load().config.log.level == "WARNING"
    loaded = load(overrides=Overrides(workspace=Path("/from/flag"), log_level="DEBUG"))
    assert workspace_of(loaded) == Path("/from/flag")
    assert loaded.config.log.level == "DEBUG"


def test_workspace_flag_is_relative_to_the_current_folder() -> None:
    assert workspace_of(load(overrides=Overrides(workspace=Path("notes")))) == Path.cwd() / "notes"


def test_workspace_override_applies_to_the_default_agents_only(write: Write) -> None:
    write("{ agents: { list: [{id: 'a', workspace: '/a'}, {id: 'b', workspace: '/b', default: true}, {id: 'c'}] } }")
    agents = load(overrides=Overrides(workspace=Path("/flag"))).config.resolved_agents()
    assert [str(agent.workspace) for agent in agents] == ["/a", "/flag", "/flag"]


def test_all_markdown_adds_the_workspace_of_every_agent(write: Write) -> None:
    write(
        "{ agents: { defaults: { memorySearch: { extraPaths: ['~/docs'] } },"
        " list: [{id: 'a', memorySearch: {extraPaths: ['more']}}, {id: 'b'}] } }"
    )
    agents = load(overrides=Overrides(all_markdown=True)).config.resolved_agents()
    assert [agent.memory_search.extra_paths for agent in agents] == [("~/docs", ".", "more"), ("~/docs", ".")]
    assert load(overrides=Overrides()).config.resolved_agents()[1].memory_search.extra_paths == ("~/docs",)


def test_offline_disables_downloads_of_every_agent(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    write("{ agents: { list: [{id: 'a', memorySearch: {local: {download: true}}}, {id: 'b'}] } }")
    monkeypatch.setenv("MEMORYD_OFFLINE", "0")
    assert all(agent.memory_search.local.download for agent in load().config.resolved_agents())
    monkeypatch.setenv("MEMORYD_OFFLINE", "1")
    assert not any(agent.memory_search.local.download for agent in load().config.resolved_agents())


def test_wrong_variables_are_reported_with_problems_of_the_file(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    write("{ log: 3 }")
    monkeypatch.setenv("MEMORYD_LOG_LEVEL", "loud")
    monkeypatch.setenv("MEMORYD_OFFLINE", "maybe")
    assert problems_of() == [
        "MEMORYD_LOG_LEVEL: must be one of DEBUG, INFO, WARNING, ERROR, not LOUD",
        "MEMORYD_OFFLINE: must be 1 or 0",
        "log: must be an object { … }, not 3",
    ]


def test_override_of_a_section_of_wrong_type_reports_the_section(write: Write) -> None:
    write("{ agents: [], log: 'x' }")
    assert problems_of(overrides=Overrides(workspace=Path("/w"), log_level="INFO", offline=True)) == [
        "agents: must be an object { … }",
        'log: must be an object { … }, not "x"',
    ]


def test_all_problems_are_reported_together(write: Write) -> None:
    write("""{
        memorySearch: { provider: "local" },
        memory: { backend: "bultin", readOnly: "yes", citation: "on" },
        agents: {
            defaults: { memorySearch: {
                maxResults: 9,
                chunking: { tokens: 4.5, overlap: -1 },
                query: { minScore: 2, hybrid: { mmr: { lamda: 1 } } },
                sources: "memory",
                extra_paths: [],
                local: null,
            } },
            list: [{ name: "no id" }, { id: "a b" }, { id: "a" }, { id: "A", workspace: "/" }],
        },
        limits: { maxConnections: 1e400 },
    }""")
    assert sorted(problems_of()) == [
        "agents.defaults.memorySearch.chunking.tokens: must be a whole number, not 4.5",
        "agents.defaults.memorySearch.extra_paths: unknown key (did you mean `extraPaths`?)",
        "agents.defaults.memorySearch.local: must be an object { … }, not null",
        "agents.defaults.memorySearch.maxResults: unknown key (did you mean `query.maxResults`?)",
        "agents.defaults.memorySearch.query.hybrid.mmr.lamda: unknown key (did you mean `lambda`?)",
        'agents.defaults.memorySearch.sources: must be a list [ … ], not "memory"',
        "agents.list[0].id: is missing",
        'agents.list[1].id: must be 1 to 64 letters, digits, - or _, starting with a letter or digit, not "a b"',
        "agents.list[3].id: a is used before",
        "agents.list[3].workspace: must be a folder of its own, not the root or the whole home folder: /",
        "limits.maxConnections: must be a whole number, not Infinity",
        'memory.backend: must be one of builtin, qmd, not "bultin"',
        "memory.citation: unknown key (did you mean `citations`?)",
        'memory.readOnly: must be true or false, not "yes"',
        "memorySearch: belongs under agents.defaults.memorySearch",
    ]


@pytest.mark.parametrize(
    ("broken", "others"),
    [
        ("{ provider: 'opanai' }", ["fallback", "model"]),
        ("{ model: 7 }", ["fallback", "provider"]),
        ("{ fallback: 'ollama', query: { deadlineMs: 'x' } }", ["fallback", "model", "provider"]),
        ("{ multimodal: { enabled: 'yes' } }", []),
        ("[]", []),
    ],
)
def test_checks_that_depend_on_a_broken_value_are_skipped(write: Write, broken: str, others: list[str]) -> None:
    write(f"""{{ agents: {{
        defaults: {{ memorySearch: {{ multimodal: {{ enabled: true }}, fallback: "openai" }} }},
        list: [{{ id: "a", memorySearch: {broken} }}],
    }} }}""")
    first, *rest = sorted(problems_of(), key=lambda problem: "while multimodal" in problem)
    assert "while multimodal" not in first
    assert sorted(problem.split(":")[0].rpartition(".")[2] for problem in rest) == others


OUT_OF_RANGE = """{
    memory: { qmd: {
        limits: { maxResults: 0, timeoutMs: -5, maxSnippetChars: 1000000000 },
        update: { debounceMs: -1, embedTimeoutMs: 0 },
    } },
    agents: {
        defaults: { memorySearch: {
            query: { minScore: 35, maxResults: 5000, hybrid: {
                vectorWeight: -1, candidateMultiplier: 100,
                mmr: { lambda: 1.5 }, temporalDecay: { halfLifeDays: 0 } } },
            chunking: { tokens: 4, overlap: -1 },
            remote: { nonBatchConcurrency: 0, batch: { concurrency: 900, pollIntervalMs: 1, timeoutMinutes: 0 } },
        } },
        list: [{ id: "a" }, { id: "b", memorySearch: {
            query: { minScore: -1 }, sync: { intervalMinutes: -3 }, chunking: { tokens: 400, overlap: 400 } } }],
    },
}"""


def test_numbers_out_of_range_are_replaced_as_in_openclaw(write: Write) -> None:
    write(OUT_OF_RANGE)
    loaded = load()
    first, second = (agent.memory_search for agent in loaded.config.resolved_agents())
    qmd, query = loaded.config.memory.qmd, first.query
    assert (qmd.limits.max_results, qmd.limits.timeout_ms, qmd.limits.max_snippet_chars) == (6, 4000, 100_000)
    assert (qmd.update.debounce_ms, qmd.update.embed_timeout_ms) == (0, 120_000)
    assert (query.min_score, query.max_results, second.query.min_score) == (1, 1000, 0)
    assert (query.hybrid.vector_weight, query.hybrid.candidate_multiplier, query.hybrid.mmr.lambda_) == (0, 20, 1)
    assert query.hybrid.temporal_decay.half_life_days == 30
    assert (first.chunking.tokens, first.chunking.overlap, second.chunking.overlap) == (16, 0, 80)
    assert (first.remote.non_batch_concurrency, first.remote.batch.concurrency) == (1, 64)
    assert (first.remote.batch.poll_interval_ms, first.remote.batch.timeout_minutes) == (100, 60)
    assert second.sync.interval_minutes == 0
    assert len([notice for notice in loaded.notices if "OpenClaw adds" not in notice]) == 20
    assert "agents.defaults.memorySearch.query.minScore: 35 is out of range, 1 is used" in loaded.notices
    assert "memory.qmd.limits.timeoutMs: -5 is out of range, the default is used" in loaded.notices
    assert (
        "agents.list[1].memorySearch.chunking.overlap: 400 is not less than tokens (400), 80 is used" in loaded.notices
    )


@pytest.mark.parametrize(
    ("search", "problem"),
    [
        ("{ remote: { tokensPerDay: 0 } }", "remote.tokensPerDay: must be at least 1, not 0"),
        ("{ cache: { maxEntries: -1 } }", "cache.maxEntries: must be at least 0, not -1"),
        ("{ multimodal: { maxFileBytes: 0 } }", "multimodal.maxFileBytes: must be at least 1, not 0"),
        ("{ outputDimensionality: 100000 }", "outputDimensionality: must be at most 65,536, not 100000"),
        (
            "{ provider: 'gemini', model: 'gemini-embedding-2-preview', outputDimensionality: 500 }",
            "outputDimensionality: must be 768, 1536 or 3072 for gemini-embedding-2-preview, not 500",
        ),
        ("{ sync: { reconcileSeconds: -1 } }", "sync.reconcileSeconds: must be at least 0, not -1"),
    ],
)
def test_number_that_would_send_or_delete_is_never_replaced(write: Write, search: str, problem: str) -> None:
    write(f"{{ agents: {{ defaults: {{ memorySearch: {search} }} }} }}")
    assert problems_of() == [f"agents.defaults.memorySearch.{problem}"]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("{ limits: { maxFileBytes: '64M' } }", 'limits.maxFileBytes: must be a whole number, not "64M"'),
        ("{ limits: { maxFileBytes: true } }", "limits.maxFileBytes: must be a whole number, not true"),
        ("{ limits: { maxFileBytes: 0 } }", "limits.maxFileBytes: must be at least 1,024, not 0"),
        ("{ memory: { timezone: 'Mars/Base' } }", "memory.timezone: must be a time zone such as Europe/Vienna"),
        ("{ memory: { qmd: { command: './qmd' } } }", "memory.qmd.command: must be a bare command name or an"),
        ("{ memory: { qmd: { update: { interval: 'soon' } } } }", "memory.qmd.update.interval: must be a duration"),
        ("{ agents: { defaults: { workspace: '' } } }", "agents.defaults.workspace: must not be empty"),
        ("{ agents: { defaults: { workspace: 'a\\u0000b' } } }", "workspace: must not hold a NUL character"),
        ("{ agents: { defaults: { workspace: '\\ud800' } } }", "workspace: holds half a character"),
        ("{ agents: { default: {} } }", "agents.default: unknown key (did you mean `defaults`?)"),
        ("{ agents: { list: {} } }", "agents.list: must be a list [ … ]"),
        ("{ agents: { list: [7] } }", "agents.list[0]: must be an object { … }, not 7"),
        ("{ limit: {} }", "limit: unknown key (did you mean `limits`?)"),
        ("{ agents: { defaults: { memorysearch: {} } } }", "agents.defaults.memorysearch: unknown key"),
        (
            "{ memory: { search: {} }, agents: { defaults: { memorySearch: {} } } }",
            "memory.search: agents.defaults.memorySearch says the same",
        ),
        (
            "{ agents: { defaults: { memorySearch: { store: { path: '{agent}.db' } } } } }",
            "memorySearch.store.path: only {agentId} is a placeholder here, not {agent}",
        ),
        (
            "{ agents: { defaults: { memorySearch: { remote: { baseUrl: 'ftp://x' } } } } }",
            "memorySearch.remote.baseUrl: must be an address that starts with http:// or https://",
        ),
    ],
)
def test_each_kind_of_mistake_has_a_plain_message(write: Write, text: str, problem: str) -> None:
    write(text)
    assert len(problems_of()) == 1
    assert problem in problems_of()[0]


@SECRETS
def test_secret_of_wrong_type_is_never_quoted(path: Sequence[str], write: Write) -> None:
    write(json.dumps(written_at(path, 271828182845)))
    if path[0] == "models":
        # problems in another program's section are reported on use
        assert "271828" not in repr(load())
    else:
        (problem,) = problems_of()
        assert "must be a text" in problem
        assert "271828" not in problem


def test_text_in_place_of_secret_headers_is_never_quoted(write: Write) -> None:
    write("{ agents: { defaults: { memorySearch: { remote: { headers: 'Bearer 271828' } } } } }")
    assert problems_of() == ["agents.defaults.memorySearch.remote.headers: must be an object { … }"]


def test_syntax_error_has_line_and_column(write: Write) -> None:
    path = write("{\n  memory: {\n    backend 'qmd'\n  }\n}")
    assert problems_of() == [f'{path}:3:13: unexpected "\'"']


@pytest.mark.parametrize("text", ["agents:\n  main: x\n", "# ours\nagents:\n  - main\n", "// ours\n[agents]\nid = 1\n"])
def test_file_of_another_format_is_told_what_to_write(write: Write, text: str) -> None:
    path = write(text)
    (problem,) = problems_of()
    assert problem.startswith(f"{path}:")
    assert 'JSON5, such as { agents: { defaults: { workspace: "~/notes" } } }' in problem


def test_unfinished_file_is_reported_at_its_end(write: Write) -> None:
    path = write("{\n  memory: {")
    assert problems_of()[0].startswith(f"{path}:2:")
    assert "end of input" in problems_of()[0]


def test_typographic_quotes_get_a_hint(write: Write) -> None:
    path = write("{ memory: { backend: “qmd” } }")
    assert problems_of() == [f'{path}:1:22: unexpected "“"; use straight quotes']


@pytest.mark.parametrize("text", ["{ log: {},\n log: {} }", '{ "log": {},\n "log": {} }'])
def test_repeated_key_is_reported_with_both_places(write: Write, text: str) -> None:
    path = write(text)
    assert problems_of() == [f"{path}:2:2: the key `log` appears twice in one object, in line 1 before"]


def test_problems_have_line_numbers(write: Write) -> None:
    write("{\n  log: { levle: 1 },\n  agents: { list: [{ id: 'a' },\n    { id: 'a' }] },\n}")
    with pytest.raises(ConfigError) as caught:
        load()
    found = str(caught.value).splitlines()[1:]
    assert found == [
        "  line 2: log.levle: unknown key (did you mean `level`?)",
        "  line 4: agents.list[1].id: a is used before",
    ]


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"", "is empty"),
        (b" \n", "is empty"),
        (b"[]", "must hold one object"),
        (b"{\n\n x: '\xff' }", ":3: is not UTF-8"),
        (b"// only a comment", "end of input"),
        (b"{" + b" " * (1024 * 1024), "is larger than 1 MiB"),
        (b"[" * 100_000, "is nested too deeply"),
        (b"{a:" * 5_000, "is nested too deeply"),
        (b'{"log": ' + b"9" * 5000 + b"}", "4300 digits"),
    ],
)
def test_f131_unreadable_file_is_one_problem(write: Write, content: bytes, problem: str) -> None:
    """A file that cannot be read as configuration is one problem that names the file, and the line if there is one."""
    path = write("")
    path.write_bytes(content)
    assert len(problems_of()) == 1
    assert problems_of()[0].startswith(str(path))
    assert problem in problems_of()[0]


def test_f131_folder_and_pipe_are_not_files(home: Path) -> None:
    """A folder or a pipe in place of the file is reported as not a file."""
    os.mkfifo(home / "fifo")
    assert problems_of(home) == [f"{home}: is not a file"]
    assert problems_of(home / "fifo") == [f"{home}/fifo: is not a file"]


def test_f131_file_writable_by_others_is_noticed(write: Write) -> None:
    """A file that others can change is read, with a notice that says how to close it."""
    path = write("{}")
    path.chmod(0o664)
    assert load().notices == [f"{path} can be changed by other users: chmod go-w {path}"]


def test_f131_linked_file_and_byte_order_mark_are_read(write: Write, home: Path) -> None:
    """A link to a file with a byte order mark is read like the file itself."""
    target = home / "dotfiles.json5"
    target.write_bytes(b"\xef\xbb\xbf{log:{level:'ERROR'}}")
    target.chmod(0o600)
    write("{}").unlink()
    (home / ".config/memoryd/config.json5").symlink_to(target)
    assert load().config.log.level == "ERROR"


def test_sections_of_other_programs_are_ignored_with_one_notice(write: Write) -> None:
    write("""{
        $schema: "https://example.com/schema.json",
        gateway: { port: 1 }, channels: {},
        agents: {
            defaults: { heartbeat: {}, model: "x", memorySearch: {} },
            list: [{ id: "main", tools: {} }],
        },
        models: { mode: "merge", providers: { openai: { apiKey: "k", models: [] } } },
    }""")
    assert load().notices == [
        "ignored, not memoryd's: gateway, channels, agents.defaults.heartbeat, agents.defaults.model, "
        "agents.list[0].tools, models.mode, models.providers.openai.models",
    ]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("{ workspace: '~/notes' }", "workspace: belongs under agents.defaults.workspace"),
        ("{ exclude: ['private/'] }", "exclude: unknown key (did you mean `agents.defaults.memorySearch.exclude`?)"),
        ("{ agents: { defaults: { exclude: ['private/'] } } }",
         "agents.defaults.exclude: unknown key (did you mean `memorySearch.exclude`?)"),
        ("{ agents: { list: [{ id: 'a', exclude: ['private/'] }] } }",
         "agents.list[0].exclude: unknown key (did you mean `memorySearch.exclude`?)"),
        ("{ readOnly: true }", "readOnly: unknown key (did you mean `memory.readOnly`?)"),
        ("{ read_only: true }", "read_only: unknown key (did you mean `memory.readOnly`?)"),
    ],
)  # fmt: skip
def test_key_of_memoryd_that_hides_or_names_the_notes_is_no_foreign_key_in_the_wrong_place(
    write: Write, text: str, problem: str
) -> None:
    write(text)
    assert problems_of() == [problem]


FOREIGN_PROVIDERS = """{ models: { providers: {
    anthropic: { apiKey: { source: "exec", provider: "vault", id: "a" }, baseUrl: 7, apikey: "slip", headers: [] },
    "my proxy": "anything",
    openai: { apiKey: "", baseUrl: "", headers: { "X-Team": { source: "file", provider: "f", id: "/x" }, "X-No": "" } },
    google: { apiKey: { source: "exec", provider: "vault", id: "value" }, baseUrl: "proxy.internal" },
    mistral: { apiKey: { nobody: "knows" }, headers: "none" },
    voyage: { apiKey: { source: "env", provider: "default", id: "VOYAGE_API_KEY" } },
} } }"""


def test_invalid_providers_of_another_program_fail_only_on_use(write: Write) -> None:
    write(FOREIGN_PROVIDERS)
    loaded = load()
    assert loaded.notices == ["ignored, not memoryd's: models.providers.anthropic, models.providers.my proxy"]
    providers = loaded.config.models.providers
    openai = providers["openai"]
    assert (openai.api_key, openai.base_url, list(openai.headers)) == (None, None, ["X-Team"])
    for name in ("google", "mistral"):
        key = providers[name].api_key
        assert key is not None
        with pytest.raises(ConfigError, match="which memoryd cannot open; it must be a text"):
            key.reveal()
    assert "knows" not in f"{loaded.config!r} {loaded.config.model_dump_json()}"
    voyage = providers["voyage"].api_key
    assert voyage is not None
    assert voyage.kind == "env"


@pytest.mark.parametrize(
    ("text", "notices"),
    [
        ("{ models: null }", ["ignored, not memoryd's: models"]),
        ("{ models: [] }", ["ignored, not memoryd's: models"]),
        ("{ models: 'x' }", ["ignored, not memoryd's: models"]),
        ("{ models: { providers: [] } }", ["ignored, not memoryd's: models.providers"]),
        ("{ models: { providers: { openai: null, google: 'x', mistral: [], x: null } } }",
         ["ignored, not memoryd's: models.providers.x"]),
        ("{ models: { $include: './models.json5' } }", []),
        ("{ models: { providers: { openai: { $include: './openai.json5', apiKey: 'k' } } } }", []),
        ("{ channels: { $include: './channels.json5' }, agents: { defaults: { tools: { $include: './t.json5' } } } }",
         ["ignored, not memoryd's: channels, agents.defaults.tools"]),
    ],
)  # fmt: skip
def test_sections_of_another_program_may_be_anything(write: Write, text: str, notices: list[str]) -> None:
    write(text)
    assert load().notices == notices


@pytest.mark.parametrize(
    ("text", "places"),
    [
        ("{ $include: ['./a.json5'], nonsense: 1 }", ["$include"]),
        ("{ agents: { $include: './agents.json5' } }", ["agents.$include"]),
        ("{ agents: { list: { $include: './list.json5' } } }", ["agents.list.$include"]),
        ("{ agents: { defaults: { $include: 'd' }, list: [{ $include: 'a' }] } }",
         ["agents.defaults.$include", "agents.list[0].$include"]),
        ("{ agents: { defaults: { memorySearch: { query: { $include: 'q' } } } } }",
         ["agents.defaults.memorySearch.query.$include"]),
        ("{ memory: { scope: { $include: 's' }, backend: 7 } }", ["memory.scope.$include"]),
    ],
)  # fmt: skip
def test_included_file_is_a_problem(write: Write, text: str, places: list[str]) -> None:
    write(text)
    found = "memoryd reads no included file; put the keys that it holds for memoryd into this one"
    assert problems_of() == [f"{place}: {found}" for place in places]


@pytest.mark.parametrize("address", ["'http://'", "'https://['", "'ftp://x'"])
def test_address_without_a_host_is_a_problem(write: Write, address: str) -> None:
    write(f"{{ agents: {{ defaults: {{ memorySearch: {{ remote: {{ baseUrl: {address} }} }} }} }} }}")
    assert "baseUrl: must be an address that starts with" in problems_of()[0]


def test_key_without_effect_is_noticed_only_if_not_the_default(write: Write) -> None:
    write("""{
        memory: { backend: "builtin", qmd: { update: { interval: "300s" } } },
        agents: {
            defaults: { memorySearch: { provider: "none", store: { fts: { tokenizer: "unicode61" } } } },
            list: [{ id: "a" }, { id: "b", memorySearch: { store: { fts: { tokenizer: "trigram" } } } }],
        },
    }""")
    assert load().notices == [
        "agents.list[1].memorySearch.store.fts.tokenizer has no effect: one tokenizer serves all languages"
    ]


def test_input_type_is_noticed_if_the_provider_has_none(write: Write) -> None:
    write("""{ agents: {
        defaults: { memorySearch: { provider: "openai", inputType: "text" } },
        list: [
            { id: "a" },
            { id: "b", memorySearch: { provider: "ollama", queryInputType: "query" } },
            { id: "c", memorySearch: { provider: "local", fallback: "mistral", inputType: "text" } },
            { id: "d", memorySearch: { provider: "local", fallback: "voyage" } },
            { id: "e", memorySearch: { provider: "auto" } },
        ],
    } }""")
    why = "its requests carry no input type"
    assert load().notices == [
        f"agents.defaults.memorySearch.inputType has no effect with provider ollama: {why}",
        f"agents.list[1].memorySearch.queryInputType has no effect with provider ollama: {why}",
        f"agents.list[2].memorySearch.inputType has no effect with provider mistral: {why}",
    ]


def test_settings_that_qmd_ignores_are_noticed_if_qmd_answers(write: Write) -> None:
    text = """{
        memory: { backend: "BACKEND", qmd: { update: { startup: "immediate" } } },
        agents: { defaults: { memorySearch: { query: { hybrid: { mmr: { enabled: true } } } } } },
    }"""
    startup = (
        'memory.qmd.update.startup has no effect as "immediate": '
        "qmd is refreshed at the start anyway, unless onBoot is false"
    )
    write(text.replace("BACKEND", "builtin"))
    assert load().notices == [startup]
    write(text.replace("BACKEND", "qmd"))
    assert load().notices == [
        "agents.defaults.memorySearch.query.hybrid has no effect on answers of qmd: "
        "qmd ranks by itself, and this holds while the builtin index answers for it",
        startup,
    ]


@pytest.mark.parametrize(
    ("memory", "is_noticed"),
    [
        ("{ backend: 'qmd', qmd: { scope: { rules: [] } } }", True),
        ("{ backend: 'qmd', qmd: { scope: { default: 'deny', rules: [] } } }", False),
        ("{ backend: 'qmd', qmd: {} }", False),
        ("{ backend: 'builtin', qmd: { scope: { rules: [] } } }", False),
    ],
)
def test_qmd_scope_that_is_stricter_than_in_openclaw_is_noticed(write: Write, memory: str, is_noticed: bool) -> None:
    write(f"{{ memory: {memory} }}")
    found = [notice for notice in load().notices if "where OpenClaw allows" in notice]
    assert bool(found) == is_noticed


def test_weights_without_weighted_fusion_are_noticed(write: Write) -> None:
    agents = """{ agents: {
        defaults: { memorySearch: { query: { hybrid: { %s } } } },
        list: [{ id: "a" }, { id: "b", memorySearch: { query: { hybrid: { textWeight: 0.4 } } } }],
    } }"""
    write(agents % "vectorWeight: 0.7, textWeight: 0.3")
    found = [notice for notice in load().notices if "fusion" in notice]
    assert [notice.partition(" ")[0] for notice in found] == [
        "agents.defaults.memorySearch.query.hybrid",
        "agents.list[1].memorySearch.query.hybrid",
    ]
    assert 'set its fusion to "weighted"' in found[0]
    write(agents % 'fusion: "weighted", vectorWeight: 0.7, textWeight: 0.3')
    assert load().notices == []


@pytest.mark.parametrize("search", ["{}", "{ sources: ['memory', 'sessions'] }", "{ sources: ['memory'] }"])
def test_sessions_source_of_qmd_gives_no_notice(write: Write, search: str) -> None:
    write(
        f"{{ memory: {{ backend: 'qmd', qmd: {{ sessions: {{ enabled: true }} }} }}, "
        f"agents: {{ defaults: {{ memorySearch: {search} }} }} }}"
    )
    assert load().notices == []
    (agent,) = load().config.resolved_agents()
    assert agent.default_sources == (("memory",) if search.endswith("['memory'] }") else ("memory", "sessions"))


def test_paths_are_relative_to_the_folder_of_the_file(home: Path) -> None:
    folder = home / "etc"
    folder.mkdir()
    (folder / "c.json5").write_text("""{ agents: { defaults: { workspace: "../notes", memorySearch: {
        local: { modelPath: "m.gguf", modelCacheDir: "~/models" }, query: { rerank: { modelPath: "r.gguf" } } } },
        list: [
            { id: "a" },
            { id: "b", workspace: "b", memorySearch: { local: { modelPath: "hf:o/r/f.gguf" } } },
        ] } }""")
    first, second = load(folder / "c.json5").config.resolved_agents()
    assert first.workspace == folder / "../notes"
    assert first.memory_search.local.model_path == str(folder / "m.gguf")
    assert first.memory_search.query.rerank.model_path == str(folder / "r.gguf")
    assert first.memory_search.local.model_cache_dir == str(home / "models")
    assert second.workspace == folder / "b"
    assert second.memory_search.local.model_path == "hf:o/r/f.gguf"


@pytest.mark.parametrize("workspace", ["/", "~", "~/", "/..", "~/x/.."])
def test_f132_root_and_home_are_refused_as_a_workspace(write: Write, workspace: str) -> None:
    """No spelling of the root or of the home folder is taken as a workspace."""
    write(f"{{ agents: {{ defaults: {{ workspace: '{workspace}' }} }} }}")
    assert "must be a folder of its own" in problems_of()[0]


@pytest.mark.parametrize("key", RETIRED)
def test_key_of_an_earlier_version_gives_a_notice(tmp_path: Path, key: str) -> None:
    raw: dict[str, object] = {}
    below: Any = raw
    *above, name = key.split(".")
    for section in above:
        below = below.setdefault(section, {})
    below[name] = 7
    path = tmp_path / "config.json5"
    path.write_text(json.dumps(raw))
    assert load(path).notices == [f"{key} has no effect any more: {RETIRED[key]}"]


def test_transcript_folder_without_agent_hides_no_other_problem(write: Write) -> None:
    folders = '[{ path: "~/talks" }]'
    agents = '[{ id: "a" }, { id: "a" }]'
    write(f"{{ memory: {{ sessions: {{ folders: {folders} }} }}, agents: {{ list: {agents} }} }}")
    with pytest.raises(ConfigError) as refused:
        load()
    found = " ".join(refused.value.problems)
    assert "memory.sessions.folders[0].agent" in found
    assert "agents.list[1].id" in found


def test_every_required_key_has_a_stand_in() -> None:
    """A missing key without a stand-in would hide the problems after it."""
    sections: list[type[Section]] = [Config]
    for section in sections:
        for field in section.model_fields.values():
            sections += [below for below in section_types(field.annotation) if below not in sections]
    needed = {
        field.alias or name
        for section in sections
        for name, field in section.model_fields.items()
        if field.is_required()
    }
    assert needed == set(REQUIRED)


def section_types(annotation: object) -> Iterator[type[Section]]:
    """Yield the sections that a type names."""
    if isinstance(annotation, type) and issubclass(annotation, Section):
        yield annotation
    for inner in get_args(annotation):
        yield from section_types(inner)
