"""From the file, the environment and the flags to one validated configuration.

Precedence: flag, `MEMORYD_*` environment, file, default.
"""

import os
from dataclasses import dataclass
from pathlib import Path

from memoryd.config.loading.anchor import anchor
from memoryd.config.loading.consistency import adjusted, contradictions
from memoryd.config.loading.decoding import ConfigText, parse, read
from memoryd.config.loading.exposure import exposures
from memoryd.config.loading.included import includes
from memoryd.config.loading.llm_given import text_model_notices
from memoryd.config.loading.mending import Mended, mended
from memoryd.config.loading.not_ours import set_foreign_aside
from memoryd.config.loading.not_yet import differences, without_effect
from memoryd.config.loading.overrides import Overrides, apply, from_environment
from memoryd.config.loading.places import places
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
    source = source_of(path)
    return loaded_of(read(source) if source is not None else ConfigText(), source, overrides)


def loaded_of(written: ConfigText, source: Path | None, overrides: Overrides = NO_OVERRIDES) -> Loaded:
    """Load a text as that of the file `source`, which need not be there yet. Raises ConfigError as `load` does."""
    result = set_foreign_aside(parse(written.text, source) if source is not None else {})
    seen = [*written.notices, *result.notices]
    if unread := includes(result.ours):
        raise _refused(unread, source, written, seen)
    anchor(result.ours, source.absolute().parent if source is not None else Path.home())
    from_variables, problems = from_environment(os.environ)
    apply(overrides.over(from_variables), result.ours)
    found = _validated(result.ours, [*result.problems, *problems])
    if found.problems or found.config is None:
        raise _refused(found.problems, source, written, [*seen, *found.notices])
    return Loaded(found.config, [*seen, *found.notices, *_notices(found.config, source)], source)


def source_of(path: Path | None) -> Path | None:
    """Return the file to read: one that somebody named must exist, the default one need not."""
    if path is not None:
        return path
    default = config_file()
    is_named = bool(os.environ.get("MEMORYD_CONFIG"))
    return default if is_named or os.path.lexists(default) else None


def _validated(raw: Raw, problems: list[str]) -> Mended:
    """Return what could be read, with all that is wrong and the notices of what was changed."""
    found = mended(raw)
    found.problems = [*problems, *found.problems]
    if found.config is not None:
        found.problems += contradictions(found.config, found.broken)
        found.notices += adjusted(found.config)
    return found


def _notices(config: Config, source: Path | None) -> list[str]:
    notices = [*without_effect(config), *differences(config), *transcript_notices(config.resolved_agents())]
    return [*notices, *text_model_notices(config), *map(str, exposures(config, source))]


def _refused(problems: list[str], source: Path | None, written: ConfigText, notices: list[str]) -> ConfigError:
    found = places(written.text)
    lines = [place.line if (place := found.of_sentence(problem)) else None for problem in problems]
    return ConfigError(problems, source=str(source or ""), lines=lines, notices=notices)
