"""Parts that all agents of the same settings share, and that outlive a reload which leaves these as they are."""

from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

Part = TypeVar("Part")


class SharedParts(Generic[Part]):
    """Parts by their settings. `begin` starts over for another configuration, and `settle` lets go of the rest."""

    def __init__(self) -> None:
        self._here: dict[Hashable, tuple[object, Part]] = {}
        self._before: list[tuple[Hashable, object, Part]] = []

    @property
    def here(self) -> list[Part]:
        """The parts that somebody asked for since `begin`."""
        return [part for _, part in self._here.values()]

    def begin(self) -> list[Part]:
        """Start over; return the parts of before, which are taken up again where somebody wants the same."""
        self._before += [(settings, basis, part) for settings, (basis, part) in self._here.items()]
        self._here = {}
        return [part for _, _, part in self._before]

    def of(self, settings: Hashable, basis: object, make: Callable[[], Part]) -> Part:
        """Return the part of these settings, made if it is not there.

        Who shares one now takes the `basis` of the first: what else it is made of, which must be the same for a part
        of before.
        """
        if settings not in self._here:
            same = (part for wanted, made_of, part in self._before if (wanted, made_of) == (settings, basis))
            part = next(same, None)
            self._here[settings] = basis, make() if part is None else part
        return self._here[settings][1]

    def settle(self) -> None:
        """Let go of the parts of before that nobody asked for."""
        self._before = []
