"""The part of `memoryctl doctor` about the loopback port: is it on, and can its token file be trusted. Asks nobody."""

from collections.abc import Iterator
from typing import Final

from memoryd.cli.checks.examination import Examination
from memoryd.cli.checks.finding import Finding, Looks
from memoryd.config.root import Config
from memoryd.errors import MemorydError, StoreUnavailable
from memoryd.files.token_file import TokenFile

PART: Final = "loopback port"


def port(examination: Examination) -> Iterator[Finding]:
    """Look at the token file of a port that is on. Tells no token."""
    if examination.config.http.enabled:
        yield _look(examination.config)
    else:
        yield Finding(PART, "off", "http.enabled is false")


def _look(config: Config) -> Finding:
    http = config.http
    file, where = TokenFile(http.token_path()), f"port {http.port} of {http.host}"
    try:
        file.read()
    except StoreUnavailable:
        return Finding(PART, "ok", f"{where}; the token file {file.path} is made when memoryd starts")
    except MemorydError as exc:
        return Finding(PART, "wrong", f"{where} stays closed: {exc}", exc.hint)
    return Finding(PART, "ok", f"{where}, token in {file.path}")


LOOKS: Looks = {"http.token": port}
