"""Texts that begin as a bullet does, `- W @Peter: …`: on a command line they are arguments, and no options."""

import click

_BULLET = "- "
_MARK = "\0"
"""Stands before such a text while options are looked for; no argument of a program can hold it."""


class BulletCommand(click.Command):
    """A command that takes texts which may be bullets."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the arguments; what begins with a dash and a blank is none of the options."""
        return super().parse_args(ctx, [_MARK + one if one.startswith(_BULLET) else one for one in args])


class BulletText(click.types.StringParamType):
    """A text that may be a bullet."""

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the text as it was given."""
        return str(super().convert(value, param, ctx)).removeprefix(_MARK)
