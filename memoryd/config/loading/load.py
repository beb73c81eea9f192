"""From the file, the environment and the flags to one validated configuration.

Precedence: flag, `MEMORYD_*` environment, file, default. Relative paths start at the folder of the file. Validation
takes out what is wrong and goes on, so that it reports all problems at once.

A number beyond OpenClaw's range is brought into ours with a notice where OpenClaw has the key. It is a problem where
another number would send or delete what the owner did not mean to (budget of tokens, retention, size of files, length
of vectors), and for keys that OpenClaw does not have.
"""

import json
import os
import re
import shlex
from collections.abc import Iterable
from pathlib import Path

from msgspec import Struct
from pydantic import ValidationError
from pydantic_core import ErrorDetails

from memoryd.config.loading.consistency import adjusted, contradictions, text_model_notices, transcript_notices
from memoryd.config.loading.exposure import WRITERS, exposures, mode_of_others
from memoryd.config.loading.foreign import differences, set_foreign_aside, without_effect
from memoryd.config.loading.keys import dotted, explain, location_of
from memoryd.config.loading.overrides import Overrides, apply, from_environment
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
    """A configuration without the values that are wrong; None if none could be made."""

    config: Config | None = None
    problems: list[str] = []
    broken: list[KeyPath] = []
    """The locations of the values that were taken out."""
    notices: list[str] = []


NO_OVERRIDES = Overrides()


class Loaded(Struct, frozen=True):
    """A valid configuration, the notices for its owner, and its file."""

    config: Config
    notices: list[str]
    source: Path | None


def load(path: Path | None = None, overrides: Overrides = NO_OVERRIDES) -> Loaded:
    """Load `path`, else `$MEMORYD_CONFIG`, else the user's file, which may be missing.

    Relative paths in the file start at its folder. Raises ConfigError with all problems of file and environment
    at once; a syntax error hides the rest, and so does what stands in another file.
    """
    source = source_of(path)
    return loaded_of(read(source) if source is not None else "", source, overrides)


def loaded_of(text: str, source: Path | None, overrides: Overrides = NO_OVERRIDES) -> Loaded:
    """Load a text as that of the file `source`, which need not be there yet. Raises ConfigError as `load` does."""
    result = set_foreign_aside(parse(text, source) if source is not None else {})
    is_open = source is not None and mode_of_others(source) & WRITERS
    seen = [f"{source} can be changed by other users: chmod go-w {shlex.quote(str(source))}"] * bool(is_open)
    seen += result.notices
    if unread := includes(result.ours):
        raise _refused(unread, source, text, seen)
    from_variables, problems = from_environment(os.environ)
    apply(overrides.over(from_variables), result.ours)
    found = mended(result.ours, source.absolute().parent if source is not None else Path.home())
    problems = [*result.problems, *problems, *found.problems]
    seen += found.notices
    if found.config is not None:
        problems += contradictions(found.config, found.broken)
        seen += adjusted(found.config)
    if problems or found.config is None:
        raise _refused(problems, source, text, seen)
    return Loaded(found.config, [*seen, *_notices(found.config, source)], source)


def source_of(path: Path | None) -> Path | None:
    """Return the file to read: one that somebody named must exist, the default one need not."""
    if path is not None:
        return path
    default = config_file()
    is_named = bool(os.environ.get("MEMORYD_CONFIG"))
    return default if is_named or os.path.lexists(default) else None


def editable(what: str) -> tuple[Path, str]:
    """Return the file that a command writes `what` into, and its text, empty where there is none yet.

    Raises InvalidRequest for a link: what it leads to is somebody else's.
    """
    source = source_of(None)
    if source is not None and source.is_symlink():
        raise InvalidRequest(f"{source} is a link", hint=f"write {what} into what it leads to")
    return source or config_file(), read(source) if source is not None and source.exists() else ""


def _notices(config: Config, source: Path | None) -> list[str]:
    notices = [*without_effect(config), *differences(config), *transcript_notices(config.resolved_agents())]
    return [*notices, *text_model_notices(config), *map(str, exposures(config, source))]


def _refused(problems: list[str], source: Path | None, text: str, notices: list[str]) -> ConfigError:
    found = places(text)
    lines = [place.line if (place := found.of_sentence(problem)) else None for problem in problems]
    return ConfigError(problems, source=str(source or ""), lines=lines, notices=notices)


NOWHERE = Place(0, 0)
POSITION = expression(r":(?P<line>\d+)(?::(?P<column>\d+))?: (?P<what>.*)", re.DOTALL)


class Remark(Struct, frozen=True):
    """One sentence about a file; `key` is empty, and `place` None, where it is about none."""

    message: str
    key: str = ""
    place: Place | None = None


class Checked(Struct, frozen=True):
    """Problems and notices of a file; `loaded` is None if memoryd would refuse it."""

    source: Path | None
    loaded: Loaded | None
    problems: tuple[Remark, ...]
    notices: tuple[Remark, ...]


def checked(path: Path | None = None) -> Checked:
    """Look at `path`, else at the file that a start would read; the environment counts as it does there."""
    source = source_of(path)
    found = _places(source)
    try:
        loaded = load(path)
    except ConfigError as error:
        problems, notices = _remarks(error.problems, source, found), _remarks(error.notices, source, found)
        return Checked(source, None, problems, notices)
    return Checked(source, loaded, (), _remarks(loaded.notices, source, found))


def _places(source: Path | None) -> KeyPlaces:
    """Return the places of keys; none of a file that cannot be read, for which loading says why."""
    try:
        return places(read(source)) if source is not None else KeyPlaces()
    except ConfigError:
        return KeyPlaces()


def _remarks(sentences: Iterable[str], source: Path | None, found: KeyPlaces) -> tuple[Remark, ...]:
    """Return them in the order of the file, those without a line last."""
    remarks = [_remark(sentence, source, found) for sentence in sentences]
    return tuple(sorted(remarks, key=lambda one: (one.place is None, one.place or NOWHERE)))


def _remark(sentence: str, source: Path | None, found: KeyPlaces) -> Remark:
    """Take a sentence apart: `FILE:line:column: what`, `FILE: what`, or `section.key: what`."""
    named = sentence.removeprefix(str(source)) if source is not None else sentence
    if named != sentence:
        position = POSITION.match(named)
        if position is None:
            return Remark(named.removeprefix(":").strip())
        return Remark(position["what"], place=Place(int(position["line"]), int(position["column"] or 1)))
    place = found.of_sentence(sentence)
    key = KEY.match(sentence) if place is not None else None
    return Remark(sentence, key[0] if key else "", place)


PASSES = 8
REQUIRED = {"id": "unnamed-{}", "agent": "unnamed-{}", "path": "/nowhere/{}", "action": "deny"}
"""Keys without a default; an agent and its socket keep their places in the lists, by which they are told."""


def mended(raw: Raw, folder: Path) -> LoadedConfig:
    """Validate the file, which is changed to what could be read of it; paths are relative to `folder`."""
    result = LoadedConfig()
    for _ in range(PASSES):
        try:
            result.config = Config.model_validate(raw, by_alias=True, by_name=False, context=folder)
            break
        except ValidationError as error:
            _mend(error, raw, result)
    return result


def _mend(error: ValidationError, raw: Raw, result: LoadedConfig) -> None:
    """Bring numbers into their range first; the other errors are problems, in the words of the file."""
    errors = [(location_of(details), details) for details in error.errors(include_url=False)]
    notices = [line for place, details in errors if (line := bring_into_range(details, place, raw)) is not None]
    result.notices += notices
    if notices:
        return
    # later problems result from what was taken out
    if not result.broken:
        result.problems = explain(error, Config)
    for place, _ in errors:
        result.broken.append(_take_out(place, raw, len(result.broken)))


def _take_out(place: KeyPath, raw: Raw, number: int) -> KeyPath:
    """Take a value out with its key, or put a harmless one where there must be one; return where that was."""
    *above, key = place
    holder = value_at(raw, tuple(above))
    if isinstance(holder, list) and isinstance(key, int) and above == ["agents", "list"]:
        holder[key] = {"id": REQUIRED["id"].format(number)}
    elif not isinstance(holder, dict):
        return _take_out(tuple(above), raw, number) if above else place
    elif above and isinstance(above[-1], int) and key in REQUIRED:
        holder[str(key)] = REQUIRED[str(key)].format(number)
    else:
        holder.pop(str(key), None)
    return place


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
"""Keys of OpenClaw, which takes the nearest value that is allowed; a key of memoryd's own is refused out of its range.

`memorySearch` stands for the defaults and for every agent of the list.
"""
USUAL_IF_LESS = word_set("""
    memory.qmd.limits.maxResults memory.qmd.limits.maxSnippetChars
    memory.qmd.limits.maxInjectedChars memory.qmd.limits.timeoutMs
    memory.qmd.update.commandTimeoutMs memory.qmd.update.updateTimeoutMs
    memory.qmd.update.embedTimeoutMs
""")
"""Here 0 and less mean the default; the least that is allowed would tell nothing, or always be late."""
BOUNDS = {"greater_than_equal": "ge", "less_than_equal": "le", "greater_than": "gt"}


def bring_into_range(details: ErrorDetails, location: KeyPath, raw: Raw) -> str | None:
    """Change a number in the file that may be another one, and return the notice of it; None if it may not be."""
    name = ".".join(map(str, of_agent(location) or location))
    holder, value, kind = value_at(raw, location[:-1]), details["input"], details["type"]
    if name not in NEAREST | USUAL_IF_LESS or not isinstance(holder, dict) or not isinstance(value, int | float):
        return None
    key, where = str(location[-1]), f"{dotted(location)}: {json.dumps(value)}"
    if kind == "finite_number" or kind == "greater_than" or (kind == "greater_than_equal" and name in USUAL_IF_LESS):
        del holder[key]
        return f"{where} is out of range, the default is used"
    if kind not in BOUNDS:
        return None
    bound = details["ctx"][BOUNDS[kind]]
    holder[key] = int(bound) if bound == int(bound) else bound
    return f"{where} is out of range, {holder[key]} is used"
