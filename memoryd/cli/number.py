"""A number that an option takes."""

import math

import click


class Number(click.FloatRange):
    """A number within its range; nan compares with nothing, so that no range keeps it out."""

    def convert(self, value: float, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Return the number; raises BadParameter."""
        number = super().convert(value, param, ctx)
        if math.isnan(number):
            self.fail(f"{value!r} is not a number.", param, ctx)
        return number
