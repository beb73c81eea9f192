"""The agent programs that run hooks: what is particular about each, in one row.

What installs, lists and checks hooks goes by these rows, and so does the hook itself, whose every import is waited for:
at its top this module imports nothing. Each row is after the host's own documentation, which it names; what no source
shows is left out, and `cannot` says so.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from dataclasses import dataclass
    from typing import Any, Final, Literal

    SessionMoment = Literal["start", "prompt", "tool_failed", "answer", "compact", "end"]
    """What an event is to memoryd: the session begins, is told or answered something, a tool fails, it is shortened, it
    ends."""
    Layout = Literal["groups", "handlers", "plugin"]
    """How hooks lie in settings: lists of groups of handlers by event, lists of handlers, or a program of ours."""
else:

    def dataclass(**_options):
        """Give a class its columns by name, as the real one does, which takes longer to load than all the rest."""

        def made(row):
            row.__init__ = lambda self, **columns: vars(self).update(columns)
            return row

        return made


TAIL_BYTES: "Final" = 1024 * 1024


def last_exchange(path: str) -> tuple[str, str]:
    """Return what the user said last in a transcript of Claude Code, and the assistant's last message behind it.

    Only the end is read; empty where they are not found. Raises OSError.
    """
    # here, since only a child reads transcripts, and nobody waits for it
    import json

    from memoryd.domain.documents import Speaker
    from memoryd.domain.sessions.transcripts.claude import claude_text
    from memoryd.domain.sessions.transcripts.records import LeftOut, inner, text_blocks

    question = answer = ""
    for line in _last_lines(path):
        try:
            record = json.loads(line)
        except (ValueError, RecursionError):
            continue  # a line that is being written, or of another form
        said = claude_text(record) if isinstance(record, dict) else LeftOut.UNREADABLE
        if isinstance(said, LeftOut):
            continue
        if said.speaker is Speaker.USER:
            question, answer = said.text, ""
        else:
            # as it stands, not folded: it may be sent again from elsewhere, and is to be known then
            answer = "\n".join(text_blocks(inner(record, "message").get("content")) or []).strip()
    return question, answer


def _last_lines(path: str) -> "Iterator[bytes]":
    import os
    import stat

    # without waiting: the path is another program's word, and may name a pipe
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(descriptor, "rb") as file:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode):
            raise OSError("the transcript is no regular file")
        begin = max(0, found.st_size - TAIL_BYTES)
        file.seek(begin)
        lines = file.read(TAIL_BYTES).split(b"\n")
    yield from lines[1:] if begin else lines


@dataclass(frozen=True, kw_only=True)
class Host:
    """One agent program; what a row leaves out is as Claude Code has it, whose contract most others took over."""

    name: str
    title: str
    program: str
    source: str
    """Where its hooks are documented."""
    folder: str
    """Below the home folder."""
    folder_variable: str = ""
    """The environment variable that names another."""
    settings: str
    """The file of the user that holds hooks, below `folder`; of a plugin, its main file."""
    project: str = ""
    """That of a project, below its folder; empty where it has none."""
    layout: "Layout" = "groups"
    made_with: "Mapping[str, object] | None" = None
    """What a settings file needs that is made for our hooks."""
    timeout: int = 5
    """After how long the host ends a hook of ours, in its own unit, written into its settings; 0 writes none."""
    waits: float = 5.0
    """The same in seconds: what a hook has at most, from its start on."""
    events: "Mapping[str, SessionMoment]"
    has_comments: bool = False
    """Its settings may have comments and last commas."""
    tells: "tuple[SessionMoment, ...]" = ("start", "prompt", "tool_failed")
    """Moments at which the agent reads what the hook writes; all others are only reported to the daemon."""
    fields: "Mapping[str, str] | None" = None
    """How a hook's JSON names what Claude Code calls `session_id`, `prompt`, `tool_name`, `tool_input`, `error`,
    `last_assistant_message`, …: by the name there, with a dot before that of an inner object."""
    has_keys: bool = False
    """Its id of a session is a whole session key, which says of what kind the chat is."""
    reply: "Literal['nested', 'flat']" = "nested"
    """What the agent is told stands in `hookSpecificOutput.additionalContext`, or in `additional_context`."""
    has_transcript: bool = False
    """Its transcripts can be read for what its events leave out."""
    mcp: "tuple[str, str, str] | None" = None
    """The files of the user and of a project that declare MCP servers, as `settings` and `project`, and their key."""
    skills: str = "skills"
    """The folder of the user's skills: below `folder`, or of the home folder where it begins with `~/`."""
    instructions: str = "AGENTS.md"
    """The file of a project that its agent reads as instructions."""
    cannot: "tuple[str, ...]" = ()
    """What does not work there, a sentence each."""
    then: "tuple[str, ...]" = ()
    """What is left to the person after an install, a sentence each."""


_NAMES: "Final" = {"session": "session_id", "answer": "last_assistant_message", "transcript": "transcript_path"}


def is_here(host: Host) -> bool:
    """Return whether a host seems to be on this machine: its program, or the folder of its settings."""
    import os
    import shutil

    named = os.environ.get(host.folder_variable, "")
    folder = named or os.path.join(os.path.expanduser("~"), host.folder)  # noqa: PTH111, PTH118
    return shutil.which(host.program) is not None or os.path.isdir(folder)  # noqa: PTH112


def field(host: Host, hook: "Mapping[str, Any]", name: str) -> object:
    """Return what a hook's JSON has under our name of a field: as the host names it, else as Claude Code does."""
    plain = _NAMES.get(name, name)
    for path in ((host.fields or {}).get(name, plain), plain):
        value: object = hook
        for key in path.split("."):
            value = value.get(key) if isinstance(value, dict) else None
        if value:
            return value
    return None


def output(host: Host, event: str, text: str) -> object:
    """Return what is written, as JSON, for the agent to be told a text at an event."""
    if host.reply == "flat":
        return {"continue": True, "additional_context": text}
    return {"hookSpecificOutput": {"hookEventName": event, "additionalContext": text}}


_ROWS: "Final" = (
    Host(
        name="claude-code",
        title="Claude Code",
        program="claude",
        source="https://code.claude.com/docs/en/hooks",
        folder=".claude",
        folder_variable="CLAUDE_CONFIG_DIR",
        settings="settings.json",
        # not `settings.json`, which is committed: a hook names a path of this machine
        project=".claude/settings.local.json",
        events={
            "SessionStart": "start",
            "UserPromptSubmit": "prompt",
            "PostToolUseFailure": "tool_failed",
            "Stop": "answer",
            "PreCompact": "compact",
            "SessionEnd": "end",
        },
        has_transcript=True,
        mcp=("~/.claude.json", ".mcp.json", "mcpServers"),
        instructions="CLAUDE.md",
    ),
    Host(
        name="codex",
        title="Codex CLI",
        program="codex",
        source="https://developers.openai.com/codex/hooks",
        folder=".codex",
        folder_variable="CODEX_HOME",
        settings="hooks.json",
        project=".codex/hooks.json",
        events={"SessionStart": "start", "UserPromptSubmit": "prompt", "Stop": "answer", "PreCompact": "compact"},
        mcp=("config.toml", ".codex/config.toml", "mcp_servers"),
        skills="~/.agents/skills",
        cannot=(
            "No event says that a tool failed: PostToolUse has the output of a command, not whether it failed.",
            "No event says that a session ended: it is over after a while without messages.",
        ),
        then=("Codex runs a new hook only after you have trusted it: open /hooks there.",),
    ),
    Host(
        name="gemini",
        title="Gemini CLI",
        program="gemini",
        source="https://geminicli.com/docs/hooks/reference",
        folder=".gemini",
        settings="settings.json",
        project=".gemini/settings.json",
        has_comments=True,
        timeout=5000,
        events={
            "SessionStart": "start",
            "BeforeAgent": "prompt",
            "AfterTool": "tool_failed",
            "AfterAgent": "answer",
            "PreCompress": "compact",
            "SessionEnd": "end",
        },
        fields={"error": "tool_response.error.message", "answer": "prompt_response"},
        mcp=("settings.json", ".gemini/settings.json", "mcpServers"),
        instructions="GEMINI.md",
        cannot=(
            "A command that ends with another exit code than 0 is no error of a tool there, so nothing is told then.",
        ),
    ),
    Host(
        name="opencode",
        title="OpenCode",
        program="opencode",
        source="https://opencode.ai/docs/plugins",
        folder=".config/opencode",
        folder_variable="OPENCODE_CONFIG_DIR",
        settings="plugins/memoryd.js",
        project=".opencode/plugins/memoryd.js",
        layout="plugin",
        events={
            "start": "start",
            "prompt": "prompt",
            "tool_failed": "tool_failed",
            "answer": "answer",
            "compact": "compact",
            "end": "end",
        },
        mcp=("opencode.json", "opencode.json", "mcp"),
        cannot=(
            "It has no command hooks: a plugin of ours runs the same command.",
            "A tool that throws is not seen, only a shell command that ended with another exit code than 0.",
        ),
    ),
    Host(
        name="cursor",
        title="Cursor",
        program="cursor",
        source="https://cursor.com/docs/hooks",
        folder=".cursor",
        settings="hooks.json",
        project=".cursor/hooks.json",
        layout="handlers",
        made_with={"version": 1},
        timeout=0,
        events={
            "sessionStart": "start",
            "beforeSubmitPrompt": "prompt",
            "afterAgentResponse": "answer",
            "preCompact": "compact",
            "sessionEnd": "end",
        },
        fields={"session": "conversation_id", "answer": "text"},
        tells=("start", "prompt"),
        reply="flat",
        mcp=("mcp.json", ".cursor/mcp.json", "mcpServers"),
        cannot=(
            "Beside a prompt its documentation promises no context; version 3.20 takes it, another may drop it.",
            "After a failed tool its hooks cannot tell the agent anything.",
        ),
    ),
    Host(
        name="vscode",
        title="VS Code and Copilot CLI",
        program="code",
        source="https://code.visualstudio.com/docs/agent-customization/hooks",
        folder=".copilot",
        folder_variable="COPILOT_HOME",
        settings="hooks/memoryd.json",
        project=".github/hooks/memoryd.json",
        layout="handlers",
        made_with={"version": 1},
        events={"SessionStart": "start", "UserPromptSubmit": "prompt", "PreCompact": "compact"},
        fields={"session": "sessionId"},
        tells=("start", "prompt"),
        mcp=("", ".vscode/mcp.json", "servers"),
        instructions=".github/copilot-instructions.md",
        cannot=(
            "Beside a prompt its documentation promises no context; VS Code takes it by now, Copilot CLI 1.0 drops it.",
            "The answer of the agent is in no event, so only questions are kept.",
            "No event says that a tool failed, or that a session ended.",
            "It runs the hooks in the settings of Claude Code, too: install one of both.",
        ),
        then=("An MCP server for all projects is added in VS Code itself: MCP: Open User Configuration.",),
    ),
    Host(
        name="openclaw",
        title="OpenClaw",
        program="openclaw",
        source="https://docs.openclaw.ai/plugins/hooks",
        folder=".openclaw",
        folder_variable="OPENCLAW_STATE_DIR",
        settings="extensions/memoryd/index.js",
        layout="plugin",
        events={
            "start": "start",
            "prompt": "prompt",
            "answer": "answer",
            "compact": "compact",
            "end": "end",
        },
        tells=("start", "prompt"),
        has_keys=True,
        cannot=(
            "It has no command hooks: a plugin of ours runs the same command.",
            "After a failed tool a plugin can only look on, so nothing is told then.",
        ),
        then=(
            "Answers are kept after: openclaw config set plugins.entries.memoryd.hooks.allowConversationAccess true",
            "The gateway loads the plugin when it starts: openclaw gateway restart",
            "An MCP server is added by OpenClaw itself: openclaw mcp set",
        ),
    ),
)
HOSTS: "Final[Mapping[str, Host]]" = {row.name: row for row in _ROWS}
DEFAULT: "Final" = HOSTS["claude-code"]
"""Whose hooks do not name their host."""
