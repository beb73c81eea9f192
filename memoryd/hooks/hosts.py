"""The agent programs that run hooks, with the particulars of each in one row.

Installing, listing and checking hooks use these rows, and so does the hook itself. Every import delays a hook, so this
module imports nothing at the top. Each row follows the host's own documentation, which it names; features without a
source are left out, and `cannot` says so.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from dataclasses import dataclass
    from typing import Any, Final, Literal

    SessionMoment = Literal["start", "prompt", "tool_failed", "answer", "compact", "end"]
    """What an event means to memoryd: the session begins, the user sends a prompt, a tool fails, the agent answers, the
    context is compacted, the session ends."""
    Layout = Literal["groups", "handlers", "plugin"]
    """The form of hooks in settings: lists of groups of handlers by event, lists of handlers, or a program of ours."""
else:

    def dataclass(**_options):
        """Add an `__init__` with keyword arguments to a class. The real decorator loads slowly."""

        def add_init(row):
            row.__init__ = lambda self, **columns: vars(self).update(columns)
            return row

        return add_init


TAIL_BYTES: "Final" = 1024 * 1024


def last_exchange(path: str) -> tuple[str, str]:
    """Return the last message of the user in a transcript of Claude Code, and the assistant's last message after it.

    Only the last `TAIL_BYTES` are read; missing messages are empty. Raises OSError.
    """
    # imported here, since only a child reads transcripts, for which no one waits
    import json

    from memoryd.domain.documents import Speaker
    from memoryd.domain.sessions.transcripts.claude import claude_text
    from memoryd.domain.sessions.transcripts.records import LeftOut, inner, text_blocks

    question = answer = ""
    for line in _last_lines(path):
        try:
            record = json.loads(line)
        except (ValueError, RecursionError):
            continue  # a line that is being written, or has another format
        utterance = claude_text(record) if isinstance(record, dict) else LeftOut.UNREADABLE
        if isinstance(utterance, LeftOut):
            continue
        if utterance.speaker is Speaker.USER:
            question, answer = utterance.text, ""
        else:
            # unfolded: the same answer may be sent again from elsewhere, and must be recognised as a repetition
            answer = "\n".join(text_blocks(inner(record, "message").get("content")) or []).strip()
    return question, answer


def _last_lines(path: str) -> "Iterator[bytes]":
    import os
    import stat

    # O_NONBLOCK: the path comes from another program, and may be a pipe
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(descriptor, "rb") as file:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise OSError("the transcript is no regular file")
        begin = max(0, status.st_size - TAIL_BYTES)
        file.seek(begin)
        lines = file.read(TAIL_BYTES).split(b"\n")
    yield from lines[1:] if begin else lines


@dataclass(frozen=True, kw_only=True)
class Host:
    """One agent program. The defaults are those of Claude Code, whose contract most others have adopted."""

    name: str
    title: str
    program: str
    source: str
    """URL of the documentation of its hooks."""
    folder: str
    """Its folder below the home folder."""
    folder_variable: str = ""
    """The environment variable that overrides `folder`."""
    settings: str
    """The user's file with hooks, below `folder`; for a plugin, its main file."""
    project: str = ""
    """The project's file with hooks, below the project folder; empty if there is none."""
    layout: "Layout" = "groups"
    made_with: "Mapping[str, object] | None" = None
    """Required content of a settings file that is created for our hooks."""
    timeout: int = 5
    """Timeout of a hook that is written into its settings, in the host's unit; 0 writes none."""
    timeout_seconds: float = 5.0
    """The same timeout in seconds, from the start of the hook."""
    events: "Mapping[str, SessionMoment]"
    has_comments: bool = False
    """Its settings may have comments and trailing commas."""
    read_moments: "tuple[SessionMoment, ...]" = ("start", "prompt", "tool_failed")
    """Moments at which the agent reads the output of the hook; all others are only reported to the daemon."""
    fields: "Mapping[str, str] | None" = None
    """The host's names of the JSON fields that Claude Code calls `session_id`, `prompt`, `tool_name`, `tool_input`,
    `error`, `last_assistant_message`, …; a dot leads into an inner object."""
    has_keys: bool = False
    """Its session id is a complete session key, which includes the kind of chat."""
    reply: "Literal['nested', 'flat']" = "nested"
    """Whether the text for the agent is in `hookSpecificOutput.additionalContext`, or in `additional_context`."""
    has_transcript: bool = False
    """Its transcripts can be read for texts that its events leave out."""
    mcp: "tuple[str, str, str] | None" = None
    """The user's and the project's file that declare MCP servers, like `settings` and `project`, and their key."""
    skills: str = "skills"
    """The folder of the user's skills: below `folder`, or below the home folder if it begins with `~/`."""
    instructions: str = "AGENTS.md"
    """The file of a project that its agent reads as instructions."""
    cannot: "tuple[str, ...]" = ()
    """Limitations, one sentence each."""
    then: "tuple[str, ...]" = ()
    """Steps left to the person after an install, one sentence each."""


_NAMES: "Final" = {"session": "session_id", "answer": "last_assistant_message", "transcript": "transcript_path"}


def is_installed(host: Host) -> bool:
    """Return whether a host seems to be installed: its program exists, or the folder of its settings."""
    import os
    import shutil

    folder = os.environ.get(host.folder_variable) or os.path.join(os.path.expanduser("~"), host.folder)  # noqa: PTH111, PTH118
    return shutil.which(host.program) is not None or os.path.isdir(folder)  # noqa: PTH112


def field(host: Host, hook: "Mapping[str, Any]", name: str) -> object:
    """Return the value of a field in a hook's JSON, under the host's name or else under that of Claude Code."""
    plain = _NAMES.get(name, name)
    for path in ((host.fields or {}).get(name, plain), plain):
        value: object = hook
        for key in path.split("."):
            value = value.get(key) if isinstance(value, dict) else None
        if value:
            return value
    return None


def output(host: Host, event: str, text: str) -> object:
    """Return the JSON value by which a hook passes a text to the agent."""
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
        # not `settings.json`, which is committed: a hook has a path of this machine
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
            "A command that ends with another exit code than 0 is no error of a tool there, so nothing is sent then.",
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
        read_moments=("start", "prompt"),
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
        read_moments=("start", "prompt"),
        mcp=("", ".vscode/mcp.json", "servers"),
        instructions=".github/copilot-instructions.md",
        cannot=(
            "Beside a prompt its documentation promises no context; VS Code takes it by now, Copilot CLI 1.0 drops it.",
            "The answer of the agent is in no event, so only questions are kept.",
            "No event says that a tool failed, or that a session ended.",
            "It runs the hooks in the settings of Claude Code, too: install only one of the two.",
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
        read_moments=("start", "prompt"),
        has_keys=True,
        cannot=(
            "It has no command hooks: a plugin of ours runs the same command.",
            "After a failed tool a plugin can only observe, so nothing is sent then.",
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
"""The host of hooks that were installed without `--host`."""
