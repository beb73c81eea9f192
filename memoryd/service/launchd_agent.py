"""Where our agent of launchd lies, what it is called, and where launchd puts what it writes."""

from pathlib import Path
from typing import Final

LABEL: Final = "ai.memoryd"
NOT_LOADED: Final = "not loaded"


def agent_file() -> Path:
    """Tell where the property list of our agent lies."""
    return Path.home() / "Library" / "LaunchAgents" / f"{LABEL}.plist"


def log_file() -> Path:
    """Tell where launchd puts what the daemon writes to its streams."""
    return Path.home() / "Library" / "Logs" / "memoryd" / "memoryd.log"
