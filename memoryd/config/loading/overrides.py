"""Values of flags and environment variables that override the file.

The variables are `MEMORYD_WORKSPACE`, `MEMORYD_LOG_LEVEL`, and `MEMORYD_OFFLINE` (1 forbids every download; 0 leaves it
to the file). An empty variable counts as unset. The variables for paths are read in `memoryd.config.paths`. Other keys
have no variable; `MEMORYD_CONFIG` names another file.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import get_args

from msgspec import Struct

from memoryd.config.limits import LogLevel
from memoryd.config.loading.raw import Raw, agents_in
from memoryd.config.paths import from_here

OFFLINE = ("MEMORYD_OFFLINE", "HF_HUB_OFFLINE")
"""Variables that forbid every download."""
HUB_VARIABLE = "HF_ENDPOINT"
"""The variable with the address of another model hub."""
PROXY_VARIABLES = tuple(
    name for word in ("HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY", "NO_PROXY") for name in (word, word.lower())
)
"""Variables that name the proxies."""
YES = frozenset({"1", "true", "yes", "on"})
NO = frozenset({"", "0", "false", "no", "off"})
DEFAULTS = ("agents", "defaults")


class Overrides(Struct, frozen=True):
    """Values that win over the file; None or False keeps the file's value.

    `workspace` is used for the default agent, and for every agent without a workspace of its own. With `all_markdown`
    the extra paths of every agent include its complete workspace.
    """

    workspace: Path | None = None
    log_level: str | None = None
    offline: bool = False
    all_markdown: bool = False

    def merge(self, other: "Overrides") -> "Overrides":
        """Return the union of both; the values of this object win."""
        return Overrides(**{name: getattr(self, name) or getattr(other, name) for name in self.__struct_fields__})


def read_environment(environment: Mapping[str, str]) -> tuple[Overrides, list[str]]:
    """Return the values of the variables, and the problems of invalid ones."""
    problems: list[str] = []
    workspace = environment.get("MEMORYD_WORKSPACE", "")
    level = environment.get("MEMORYD_LOG_LEVEL", "").upper()
    if level and level not in get_args(LogLevel):
        problems.append(f"MEMORYD_LOG_LEVEL: must be one of {', '.join(get_args(LogLevel))}, not {level}")
        level = ""
    offline = environment.get("MEMORYD_OFFLINE", "").lower()
    if offline not in YES | NO:
        problems.append("MEMORYD_OFFLINE: must be 1 or 0")
    overrides = Overrides(
        workspace=from_here(workspace) if workspace else None,
        log_level=level or None,
        offline=offline in YES,
    )
    return overrides, problems


def apply(overrides: Overrides, raw: Raw) -> None:
    """Write the overrides into `raw`; sections of a wrong type stay, for validation to report."""
    entries = [agent for location, agent in agents_in(raw) if location[1] == "list"]
    if overrides.workspace is not None:
        ensure_section(raw, DEFAULTS)["workspace"] = str(overrides.workspace.absolute())
        chosen = next((entry for entry in entries if entry.get("default") is True), entries[0] if entries else {})
        chosen.pop("workspace", None)
    if overrides.log_level is not None:
        ensure_section(raw, ("log",))["level"] = overrides.log_level
    for holder in (ensure_section(raw, DEFAULTS), *entries) if overrides.offline else ():
        ensure_section(holder, ("memorySearch", "local"))["download"] = False
    if overrides.all_markdown:
        extra = ensure_section(raw, (*DEFAULTS, "memorySearch")).setdefault("extraPaths", [])
        if isinstance(extra, list):
            # the complete workspace
            extra.append(".")


def ensure_section(raw: Raw, path: tuple[str, ...]) -> Raw:
    """Return the section at `path`, created if missing; a detached dict if another type of value is in the way."""
    for name in path:
        below = raw.setdefault(name, {})
        raw = below if isinstance(below, dict) else {}
    return raw
