"""What all commands have: errors on one line, help in sections with examples, a warehouse.

The warehouse may be left out where one is configured, as notebooks have it
(`paimonlab.catalog.settings`): the first argument is a warehouse if it looks like a place.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from paimonlab.cli.examples import EXAMPLES, START
from paimonlab.errors import PaimonError, close_matches, habits

WAREHOUSE = "warehouse"
"""Name of the argument."""
CONFIGURED = ""
"""The warehouse that stands in the configuration."""
_SENTENCE = 200
"""Letters of a command's first sentence, which is in the list of all."""
_STATEMENTS = frozenset(
    {"alter", "call", "copy", "create", "delete", "describe", "drop", "explain", "from", "insert"}
    | {"merge", "optimize", "select", "show", "truncate", "update", "vacuum", "with"}
)
"""How SQL begins."""
_OF_SQL = frozenset({"-c", "-e", "-q", "-s", "--command", "--execute", "--query", "--sql"})
"""Options with which other programs take SQL."""
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")


def is_place(text: str) -> bool:
    """Whether a text is a folder or a URI, not the name of a table or database.

    Examples
    --------
    >>> is_place("./warehouse"), is_place("s3://b/w"), is_place("shop.orders")
    (True, True, False)
    """
    if text in {".", ".."} or text.startswith(("/", "./", "../", "~")) or _SCHEME.match(text):
        return True
    if any(mark in text for mark in "(=' \n"):  # a call, a condition, key=value
        return False
    return "/" in text or Path(text).is_dir()


def _is_sql(text: str) -> bool:
    return " " in text and text.partition(" ")[0].lower() in _STATEMENTS


class Command(click.Command):
    """A command whose help has examples, and which knows the configured warehouse."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Put the configured warehouse where none is given; know options of other tools."""
        try:
            return self._parsed(ctx, args)
        except click.NoSuchOption as error:
            meant = habits.SHELL_OPTIONS.get(error.option_name)
            own = {option for one in self.params for option in one.opts}
            if meant is None or (meant.startswith("-") and meant.split()[0] not in own):
                raise
            said = f"there is no option {error.option_name}. It is {meant}"
            raise click.UsageError(said, ctx=error.ctx) from error

    def _parsed(self, ctx: click.Context, args: list[str]) -> list[str]:
        if ctx.resilient_parsing and args and args[-1].startswith("-"):
            args = args[:-1]  # while its value is typed; click would tell nothing of the others
        not_a_place = None
        if any(one.name == WAREHOUSE and one.required for one in self.params):
            given, _, _ = self.make_parser(ctx).parse_args(args=list(args))
            first = given.get(WAREHOUSE)
            if not isinstance(first, str) or not is_place(first) or self._has_one_place(given):
                args = [CONFIGURED, *args]
                not_a_place = first
        try:
            return super().parse_args(ctx, args)
        except click.UsageError as error:
            examples = EXAMPLES.get(self.name or "", ())
            if isinstance(error, click.NoSuchOption | click.BadOptionUsage) or not examples:
                raise
            said = error.format_message()
            if not_a_place and "extra argument" in said:
                said += f". If {not_a_place} is the warehouse: there is no such folder"
            said += f"\nFor example: {examples[0]}"
            raise click.UsageError(said, ctx=error.ctx) from error

    def _has_one_place(self, given: Mapping[str, Any]) -> bool:
        """Whether one folder is given where a warehouse and another are wanted."""
        return any(
            isinstance(one.type, click.Path) and not isinstance(given.get(one.name or ""), str)
            for one in self.params
            if isinstance(one, click.Argument) and one.required and one.nargs == 1
        )

    def collect_usage_pieces(self, ctx: click.Context) -> list[str]:
        """Show that the warehouse may be left out."""
        pieces = super().collect_usage_pieces(ctx)
        return ["[WAREHOUSE]" if piece == "WAREHOUSE" else piece for piece in pieces]

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write examples below the options."""
        _write_examples(formatter, EXAMPLES.get(self.name or "", ()))
        super().format_epilog(ctx, formatter)


def _write_examples(formatter: click.HelpFormatter, lines: Sequence[str]) -> None:
    if lines:
        with formatter.section("Examples"):
            formatter.write("\n".join(f"  {line}" for line in lines) + "\n")


class Commands(click.Group):
    """Commands in sections; shows what goes wrong on one line, a bug keeps its traceback."""

    command_class = Command

    def __init__(self, *args: Any, **others: Any) -> None:
        super().__init__(*args, **others)
        self._sections: dict[str, Sequence[click.Command]] = {}

    @property
    def sections(self) -> Mapping[str, Sequence[click.Command]]:
        """Commands by what they are for."""
        return self._sections

    def add_section(self, title: str, commands: Sequence[click.Command]) -> None:
        """Add commands that belong together."""
        self._sections[title] = commands
        for command in commands:
            self.add_command(command)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Say how SQL is run to whom gives it as to other programs."""
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            if error.option_name not in _OF_SQL:
                raise
            said = (
                f"there is no option {error.option_name}. SQL is run by: paimonlab sql 'SELECT …'"
            )
            raise click.UsageError(said, ctx=error.ctx) from error

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command that was asked for."""
        try:
            return super().invoke(ctx)
        except PaimonError as error:
            raise click.ClickException(str(error)) from error

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command; a table alone is described, a warehouse alone listed."""
        first = args[0]
        if first in self.commands:
            return super().resolve_command(ctx, args)
        if _is_sql(first):
            ctx.fail(f"SQL is run by: paimonlab sql {shlex.quote(first)}")
        if is_place(first):
            names = [text for text in args[1:] if not text.startswith("-")]
            if names and _is_sql(names[0]):
                place = shlex.quote(first)
                ctx.fail(f"SQL is run by: paimonlab sql {place} {shlex.quote(names[0])}")
            args = ["describe" if names else "tables", *args]
        elif "." in first:
            args = ["describe", *args]
        elif not first.startswith("-"):
            close = close_matches(first, self.commands)
            if first in ("help", "version"):
                close = f" It is paimonlab --{first}."
            elif first.lower() in habits.COMMANDS:
                close = f" It is {habits.COMMANDS[first.lower()]} here."
            else:
                close += (
                    f" The tables of a database are listed by: paimonlab tables {first}. "
                    f"A table is shown by its whole name: paimonlab DATABASE.{first}."
                )
            ctx.fail(f"there is no command {first!r}.{close}")
        return super().resolve_command(ctx, args)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write how to begin below the commands."""
        _write_examples(formatter, START)
        super().format_epilog(ctx, formatter)

    def format_commands(self, _ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List commands by section."""
        widest = max(len(name) for name in self.commands)
        for title, commands in self._sections.items():
            rows = [
                (f"{command.name or '':{widest}}", command.get_short_help_str(_SENTENCE))
                for command in commands
            ]
            with formatter.section(title):
                formatter.write_dl(rows)


def command(name: str | None = None) -> Callable[[Callable[..., None]], Command]:
    """Make a function a command."""
    return click.command(name, cls=Command)
