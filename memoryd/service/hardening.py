"""The drop-in that takes from the service what the configuration does not need. Pure."""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from memoryd.service.service_needs import TEMPORARY, ServiceNeeds
from memoryd.service.unit_escaping import path_word

WRITABLE: Final = "@WRITABLE@"


def hardening_drop_in(template: str, needs: ServiceNeeds) -> str:
    """Return the drop-in: folders filled in, and what is needed left out, with the reason in its place.

    Raises InvalidRequest for a path that no unit can hold.
    """
    left_out = _left_out(needs)
    lines = []
    for line in template.splitlines():
        reason = left_out.get(line.partition("=")[0], "")
        if line == WRITABLE:
            lines += [f"ReadWritePaths={path_word(str(path))}" for path in _writable(needs)]
        else:
            lines.append(f"# left out, for {reason}: {line}" if reason else line)
    return "\n".join(lines) + "\n"


def _writable(needs: ServiceNeeds) -> tuple[Path, ...]:
    # without a /tmp of its own, that of everybody would be read-only to it
    outermost = [path for path in needs.writable if not any(parent in needs.writable for parent in path.parents)]
    return (*outermost, *(TEMPORARY if needs.temporary else ()))


def _left_out(needs: ServiceNeeds) -> Mapping[str, str]:
    return {
        "PrivateTmp": needs.temporary,
        "PrivateDevices": needs.gpu,
        "MemoryDenyWriteExecute": needs.javascript or needs.gpu,
        "IPAddressDeny": needs.network,
        "IPAddressAllow": needs.network,
    }
