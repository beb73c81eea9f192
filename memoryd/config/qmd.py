"""`memory.qmd`: the qmd sidecar."""

from datetime import timedelta
from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from memoryd.config.access import AccessSection
from memoryd.config.section import AnchoredPath, Duration, OpenClawSection, ResultCount, Text, TupleOf
from memoryd.domain.expressions import expression


def _never_relative(command: str) -> str:
    if "/" in command and not command.startswith(("/", "~")):
        raise ValueError("must be a bare command name or an absolute path")
    return command


Executable = Annotated[Text, AfterValidator(_never_relative)]
"""A command name or an absolute path: a relative path could name a program inside a workspace."""


_BRACES = expression(r"(?<!\\)\{([^{}]*)(?<!\\)\}")
_COMMA = expression(r"(?<!\\),")
MAX_GLOBS = 256
"""Upper bound of globs that one pattern with braces expands to."""


def expand_globs(pattern: str) -> tuple[str, ...]:
    """Return the globs that a pattern with braces and commas expands to; raises ValueError if there are too many."""
    todo, done = [pattern], list[str]()
    while todo:
        glob = todo.pop()
        braces = _BRACES.search(glob)
        if braces is None:
            done += [part.strip() for part in _COMMA.split(glob)]
        else:
            before, after = glob[: braces.start()], glob[braces.end() :]
            todo += [f"{before}{choice}{after}" for choice in braces[1].split(",")]
        if len(done) + len(todo) > MAX_GLOBS:
            raise ValueError(f"must stand for at most {MAX_GLOBS} globs, by its braces and commas")
    return tuple(done)


def _of_few_globs(pattern: str) -> str:
    expand_globs(pattern)
    return pattern


Milliseconds = Annotated[int, Field(ge=1, le=86_400_000)]
DelayMs = Annotated[int, Field(ge=0, le=86_400_000)]


class QmdPathSection(OpenClawSection):
    """A directory or file that qmd indexes besides the memory files."""

    path: Text
    """The folder or file: absolute, `~` or relative to the workspace."""
    name: Text | None = None
    """The name of the collection in qmd; unset: `custom-<position>-<agent>`."""
    pattern: Annotated[Text, AfterValidator(_of_few_globs)] = "**/*.md"
    """Which files below the folder are indexed, as a glob."""


QmdPaths = TupleOf[QmdPathSection]


class QmdMcporterSection(OpenClawSection):
    """Queries through the `mcporter` MCP client."""

    enabled: bool = False
    """Without effect: memoryd keeps qmd running and asks it directly, not through mcporter."""
    server_name: Text = "qmd"
    """Without effect: qmd is asked directly."""
    start_daemon: bool = True
    """Without effect: qmd is asked directly."""


class QmdSessionsSection(OpenClawSection):
    """Export of transcripts to Markdown, for qmd."""

    enabled: bool = False
    """`true`: each agent's session transcripts are exported, without secrets, to a collection of its qmd, and searched
    by queries that name no `sources`, too, unless `memorySearch.sources` is set; the builtin index reads them for this
    key only if qmd is not the backend and no remote provider would receive them."""
    export_dir: AnchoredPath | None = None
    """The folder for exports, with a subfolder for each agent; absolute, `~`, or relative to the folder of the
    configuration file, and outside of every workspace; unset: the state directory."""
    retention_days: Annotated[int, Field(ge=1, le=36_500)] | None = None
    """How many days after its last message an export is kept; unset: as long as its transcript."""


class QmdUpdateSection(OpenClawSection):
    """When the index of qmd is refreshed."""

    interval: Duration = timedelta(minutes=5)
    """How often the index is refreshed, such as `"5m"`; a bare number counts minutes; 0: never."""
    debounce_ms: DelayMs = 15_000
    """The least time between two refreshes after changes, in milliseconds."""
    on_boot: bool = True
    """Whether the index is refreshed at the start."""
    startup: Literal["off", "idle", "immediate"] = "off"
    """`idle`: the first refresh waits for `startupDelayMs`; `immediate`: the same as `off`, since `onBoot` refreshes at
    the start."""
    startup_delay_ms: DelayMs = 120_000
    """How long the first refresh waits with `startup: idle`, in milliseconds."""
    wait_for_boot_sync: bool = False
    """`true`: a query waits for the first refresh, within its deadline."""
    embed_interval: Duration = timedelta(minutes=60)
    """How often vectors are computed, in the modes that use them, such as `"1h"`; a bare number counts minutes; 0: only
    at the start."""
    command_timeout_ms: Milliseconds = 30_000
    """How long a short command of qmd may take, in milliseconds."""
    update_timeout_ms: Milliseconds = 120_000
    """How long a refresh may take, in milliseconds."""
    embed_timeout_ms: Milliseconds = 120_000
    """How long computing vectors may take, in milliseconds."""


class QmdLimitsSection(OpenClawSection):
    """Bounds of what a qmd search returns."""

    max_results: ResultCount = 6
    """How many hits qmd is asked for at most."""
    max_snippet_chars: int = Field(default=700, ge=1, le=100_000)
    """The longest snippet of a hit, in characters."""
    max_injected_chars: int = Field(default=4000, ge=1, le=1_000_000)
    """How many characters all snippets of an answer have at most; the snippet that exceeds it is cut, and is the
    last."""
    timeout_ms: Milliseconds = 4000
    """How long one search may take, in milliseconds; after that the builtin index answers."""


class QmdSection(OpenClawSection):
    """Settings of the qmd sidecar."""

    command: Executable = "qmd"
    """The program: a name on the daemon's PATH, or an absolute path."""
    search_mode: Literal["search", "vsearch", "query"] = "search"
    """qmd's search command: `search` (words), `vsearch` (vectors) or `query` (both, expanded and reranked)."""
    search_tool: Text | None = None
    """Without effect: it names a tool of mcporter."""
    rerank: bool | None = None
    """`false`: `searchMode: query` without the reranking model."""
    include_default_memory: bool = True
    """Whether the notes of the workspace are indexed."""
    paths: QmdPaths = ()
    """Additional paths that qmd indexes, for every agent."""
    mcporter: QmdMcporterSection = QmdMcporterSection()
    """Without effect: qmd is asked directly, not through mcporter."""
    sessions: QmdSessionsSection = QmdSessionsSection()
    """Session transcripts as a collection of qmd."""
    update: QmdUpdateSection = QmdUpdateSection()
    """When qmd reads the files again and makes vectors."""
    limits: QmdLimitsSection = QmdLimitsSection()
    """How much a search of qmd returns."""
    scope: AccessSection = AccessSection()
    """Who may ask while qmd is the backend, as in `memory.scope`; if both are set, both must allow; without `default`
    it denies, where OpenClaw allows."""

    @property
    def has_vectors(self) -> bool:
        """True if the search mode uses vectors."""
        return self.search_mode != "search"

    @property
    def wants_reranking(self) -> bool:
        """True if the hits are to be reranked."""
        return self.search_mode == "query" and self.rerank is not False

    @property
    def query_seconds(self) -> float:
        """The time limit of one search."""
        return self.limits.timeout_ms / 1000
