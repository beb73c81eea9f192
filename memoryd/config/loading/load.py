"""From the file, the environment and the flags to one validated configuration.

Precedence: flag, `MEMORYD_*` environment, file, default.
"""

import os
from dataclasses import dataclass
from pathlib import Path

from memoryd.config.loading.anchor import anchor
from memoryd.config.loading.consistency import adjusted, contradictions
from memoryd.config.loading.decoding import read
from memoryd.config.loading.exposure import exposures
from memoryd.config.loading.included import includes
from memoryd.config.loading.llm_given import text_model_notices
from memoryd.config.loading.mending import mended
from memoryd.config.loading.not_ours import set_foreign_aside
from memoryd.config.loading.not_yet import differences, without_effect
from memoryd.config.loading.overrides import Overrides, apply, from_environment
from memoryd.config.loading.raw import Raw
from memoryd.config.loading.transcripts_given import transcript_notices
from memoryd.config.paths import config_file
from memoryd.config.root import Config
from memoryd.errors import ConfigError

NO_OVERRIDES = Overrides()


@dataclass(frozen=True, slots=True)
class Loaded:
    """A valid configuration, what its owner should know about it, and the file it came from."""

    config: Config
    notices: list[str]
    source: Path | None


def load(path: Path | None = None, overrides: Overrides = NO_OVERRIDES) -> Loaded:
    """Load `path`, else `$MEMORYD_CONFIG`, else the user's file, which may be missing.

    Relative paths in the file start at its folder. Raises ConfigError with all problems of file and environment
    at once; a syntax error hides the rest, and so does what stands in another file.
    """
    source = _source(path)
    raw, notices = read(source) if source is not None else ({}, [])
    result = set_foreign_aside(raw)
    if unread := includes(result.ours):
        raise ConfigError(unread, source=str(source or ""))
    anchor(result.ours, source.absolute().parent if source is not None else Path.home())
    from_variables, problems = from_environment(os.environ)
    apply(overrides.over(from_variables), result.ours)
    config, changed = _validated(result.ours, [*result.problems, *problems], source)
    notices += [*result.notices, *changed, *without_effect(config), *differences(config)]
    notices += [*transcript_notices(config.resolved_agents()), *text_model_notices(config)]
    return Loaded(config, [*notices, *map(str, exposures(config, source))], source)


def _source(path: Path | None) -> Path | None:
    """Return the file to read: one that somebody named must exist, the default one need not."""
    if path is not None:
        return path
    default = config_file()
    is_named = bool(os.environ.get("MEMORYD_CONFIG"))
    return default if is_named or os.path.lexists(default) else None


def _validated(raw: Raw, problems: list[str], source: Path | None) -> tuple[Config, list[str]]:
    """Return the configuration with the notices of what was changed in it."""
    found = mended(raw)
    problems += found.problems
    if found.config is not None:
        problems += contradictions(found.config, found.broken)
    if problems or found.config is None:
        raise ConfigError(problems, source=str(source or ""))
    return found.config, [*found.notices, *adjusted(found.config)]
