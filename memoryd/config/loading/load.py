"""Load the file, the environment and the flags into one validated configuration.

Precedence: flag, `MEMORYD_*` environment, file, default. Relative paths start at the folder of the file. Validation
removes invalid values and goes on, so that it reports all problems at once.

For keys that OpenClaw also has, a number out of range is replaced by the nearest allowed one, with a notice. It is a
problem where another number could send or delete data against the owner's will (token budget, retention, file size,
vector length), and for keys that OpenClaw does not have.
"""

import contextlib
import json
import os
import re
import shlex
from collections.abc import Iterable
from pathlib import Path

from msgspec import Struct
from pydantic import ValidationError
from pydantic_core import ErrorDetails

from memoryd.config.loading.consistency import contradictions, overlap_notices, text_model_notices, transcript_notices
from memoryd.config.loading.exposure import WRITERS, exposures, mode_of_others
from memoryd.config.loading.foreign import no_effect_notices, openclaw_differences, separate_foreign_keys
from memoryd.config.loading.keys import dotted, explain, location_of
from memoryd.config.loading.overrides import Overrides, apply, read_environment
from memoryd.config.loading.raw import (
    KEY,
    KeyPath,
    KeyPlaces,
    Place,
    Raw,
    includes,
    of_agent,
    parse,
    places,
    read,
    value_at,
)
from memoryd.config.paths import config_file
from memoryd.config.root import Config
from memoryd.domain.expressions import expression, word_set
from memoryd.errors import ConfigError, InvalidRequest


class LoadedConfig(Struct):
    """A configuration without the invalid values; `config` is None if none could be built."""

    config: Config | None = None
    problems: list[str] = []
    broken: list[KeyPath] = []
    """The locations of the values that were removed."""
    notices: list[str] = []


NO_OVERRIDES = Overrides()


class Loaded(Struct, frozen=True):
    """A valid configuration, the notices for its owner, and its file."""

    config: Config
    notices: list[str]
    source: Path | None


def load(path: Path | None = None, overrides: Overrides = NO_OVERRIDES) -> Loaded:
    """Load `path`, else `$MEMORYD_CONFIG`, else the user's default file, which may be missing.

    Relative paths in the file start at its folder. Raises ConfigError with all problems of file and environment at
    once; after a syntax error or an `$include` no other problems are reported.
    """
    source = config_source(path)
    return load_text(read(source) if source is not None else "", source, overrides)


def load_text(text: str, source: Path | None, overrides: Overrides = NO_OVERRIDES) -> Loaded:
    """Load `text` as the content of `source`, which need not exist yet. Raises ConfigError as `load` does."""
    keys = separate_foreign_keys(parse(text, source) if source is not None else {})
    is_open = source is not None and mode_of_others(source) & WRITERS
    notices = [f"{source} can be changed by other users: chmod go-w {shlex.quote(str(source))}"] * bool(is_open)
    notices += keys.notices
    if unread := includes(keys.ours):
        raise _refused(unread, source, text, notices)
    from_variables, problems = read_environment(os.environ)
    apply(overrides.merge(from_variables), keys.ours)
    result = validate_raw(keys.ours, source.absolute().parent if source is not None else Path.home())
    problems = [*keys.problems, *problems, *result.problems]
    notices += result.notices
    if result.config is not None:
        problems += contradictions(result.config, result.broken)
        notices += overlap_notices(result.config)
    if problems or result.config is None:
        raise _refused(problems, source, text, notices)
    config = result.config
    notices += [
        *no_effect_notices(config),
        *openclaw_differences(config),
        *transcript_notices(config.resolved_agents()),
        *text_model_notices(config),
        *map(str, exposures(config, source)),
    ]
    return Loaded(config, notices, source)


def config_source(path: Path | None) -> Path | None:
    """Return the file to read: an explicit file even if it is missing, the default file only if it exists."""
    if path is not None:
        return path
    default = config_file()
    is_named = bool(os.environ.get("MEMORYD_CONFIG"))
    return default if is_named or os.path.lexists(default) else None


def config_to_edit(what: str) -> tuple[Path, str]:
    """Return the file that a command writes `what` into, and its text, which is empty if the file does not exist.

    Raises InvalidRequest for a symbolic link, because another program may own its target.
    """
    source = config_source(None)
    if source is not None and source.is_symlink():
        raise InvalidRequest(f"{source} is a link", hint=f"write {what} into what it leads to")
    return source or config_file(), read(source) if source is not None and source.exists() else ""


def _refused(problems: list[str], source: Path | None, text: str, notices: list[str]) -> ConfigError:
    key_places = places(text)
    lines = [place.line if (place := key_places.of_sentence(problem)) else None for problem in problems]
    return ConfigError(problems, source=str(source or ""), lines=lines, notices=notices)


NOWHERE = Place(0, 0)
POSITION = expression(r":(?P<line>\d+)(?::(?P<column>\d+))?: (?P<what>.*)", re.DOTALL)


class Remark(Struct, frozen=True):
    """One sentence about a file; `key` is empty and `place` is None if it is not about a key or place."""

    message: str
    key: str = ""
    place: Place | None = None


class ConfigCheck(Struct, frozen=True):
    """Problems and notices of a file; `loaded` is None if memoryd would reject the file."""

    source: Path | None
    loaded: Loaded | None
    problems: tuple[Remark, ...]
    notices: tuple[Remark, ...]


def check_config(path: Path | None = None) -> ConfigCheck:
    """Check `path`, else the file that the daemon would read at its start, with the environment of this process."""
    source = config_source(path)
    key_places = KeyPlaces()
    # a file that cannot be read has no places; loading reports the reason
    with contextlib.suppress(ConfigError):
        key_places = places(read(source)) if source is not None else key_places
    try:
        loaded = load(path)
    except ConfigError as error:
        problems, notices = _remarks(error.problems, source, key_places), _remarks(error.notices, source, key_places)
        return ConfigCheck(source, None, problems, notices)
    return ConfigCheck(source, loaded, (), _remarks(loaded.notices, source, key_places))


def _remarks(sentences: Iterable[str], source: Path | None, key_places: KeyPlaces) -> tuple[Remark, ...]:
    """Return the remarks in the order of the file; remarks without a place come last."""
    remarks = [_remark(sentence, source, key_places) for sentence in sentences]
    return tuple(sorted(remarks, key=lambda remark: (remark.place is None, remark.place or NOWHERE)))


def _remark(sentence: str, source: Path | None, key_places: KeyPlaces) -> Remark:
    """Parse a sentence of the form `FILE:line:column: what`, `FILE: what`, or `section.key: what`."""
    named = sentence.removeprefix(str(source)) if source is not None else sentence
    if named != sentence:
        position = POSITION.match(named)
        if position is None:
            return Remark(named.removeprefix(":").strip())
        return Remark(position["what"], place=Place(int(position["line"]), int(position["column"] or 1)))
    place = key_places.of_sentence(sentence)
    key = KEY.match(sentence) if place is not None else None
    return Remark(sentence, key[0] if key else "", place)


PASSES = 8
REQUIRED = {"id": "unnamed-{}", "agent": "unnamed-{}", "path": "/nowhere/{}", "action": "deny"}
"""Substitutes for invalid keys without a default. With them list items stay, so that later problems have the right
position in the list."""


def validate_raw(raw: Raw, folder: Path) -> LoadedConfig:
    """Validate the file and remove its invalid values from `raw`; paths are relative to `folder`."""
    result = LoadedConfig()
    for _ in range(PASSES):
        try:
            result.config = Config.model_validate(raw, by_alias=True, by_name=False, context=folder)
            break
        except ValidationError as error:
            _mend(error, raw, result)
    return result


def _mend(error: ValidationError, raw: Raw, result: LoadedConfig) -> None:
    """Clamp numbers first; if none could be clamped, report the errors and remove the invalid values."""
    errors = [(location_of(details), details) for details in error.errors(include_url=False)]
    notices = [line for location, details in errors if (line := clamp_number(details, location, raw)) is not None]
    result.notices += notices
    if notices:
        return
    # problems of a later pass result from the values removed here
    if not result.broken:
        result.problems = explain(error, Config)
    for location, _ in errors:
        result.broken.append(_remove(location, raw, len(result.broken)))


def _remove(location: KeyPath, raw: Raw, number: int) -> KeyPath:
    """Remove a value with its key, or replace a required one by a harmless substitute; return its location."""
    *above, key = location
    holder = value_at(raw, tuple(above))
    if isinstance(holder, list) and isinstance(key, int) and above == ["agents", "list"]:
        holder[key] = {"id": REQUIRED["id"].format(number)}
    elif not isinstance(holder, dict):
        return _remove(tuple(above), raw, number) if above else location
    elif above and isinstance(above[-1], int) and key in REQUIRED:
        holder[str(key)] = REQUIRED[str(key)].format(number)
    else:
        holder.pop(str(key), None)
    return location


NEAREST = word_set("""
    memory.qmd.update.debounceMs memory.qmd.update.startupDelayMs
    memorySearch.query.minScore memorySearch.query.maxResults
    memorySearch.query.hybrid.vectorWeight memorySearch.query.hybrid.textWeight
    memorySearch.query.hybrid.candidateMultiplier memorySearch.query.hybrid.mmr.lambda
    memorySearch.query.hybrid.temporalDecay.halfLifeDays memorySearch.local.contextSize
    memorySearch.chunking.tokens memorySearch.chunking.overlap
    memorySearch.sync.watchDebounceMs memorySearch.sync.intervalMinutes
    memorySearch.sync.sessions.deltaBytes memorySearch.sync.sessions.deltaMessages
    memorySearch.sync.embeddingBatchTimeoutSeconds memorySearch.remote.nonBatchConcurrency
    memorySearch.remote.batch.concurrency memorySearch.remote.batch.pollIntervalMs
    memorySearch.remote.batch.timeoutMinutes
""")
"""Keys of OpenClaw, which uses the nearest allowed value. Keys of memoryd alone are rejected if out of range.

`memorySearch` means the defaults and every agent of the list.
"""
DEFAULT_IF_LESS = word_set("""
    memory.qmd.limits.maxResults memory.qmd.limits.maxSnippetChars
    memory.qmd.limits.maxInjectedChars memory.qmd.limits.timeoutMs
    memory.qmd.update.commandTimeoutMs memory.qmd.update.updateTimeoutMs
    memory.qmd.update.embedTimeoutMs
""")
"""Keys for which 0 and less mean the default; the least allowed value would return nothing, or always time out."""
BOUNDS = {"greater_than_equal": "ge", "less_than_equal": "le", "greater_than": "gt"}


def clamp_number(details: ErrorDetails, location: KeyPath, raw: Raw) -> str | None:
    """Clamp a number in `raw` and return the notice; None if the number must not be changed."""
    name = ".".join(map(str, of_agent(location) or location))
    holder, value, kind = value_at(raw, location[:-1]), details["input"], details["type"]
    if name not in NEAREST | DEFAULT_IF_LESS or not isinstance(holder, dict) or not isinstance(value, int | float):
        return None
    key, where = str(location[-1]), f"{dotted(location)}: {json.dumps(value)}"
    if kind == "finite_number" or kind == "greater_than" or (kind == "greater_than_equal" and name in DEFAULT_IF_LESS):
        del holder[key]
        return f"{where} is out of range, the default is used"
    if kind not in BOUNDS:
        return None
    bound = details["ctx"][BOUNDS[kind]]
    holder[key] = int(bound) if bound == int(bound) else bound
    return f"{where} is out of range, {holder[key]} is used"
