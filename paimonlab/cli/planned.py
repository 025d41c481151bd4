"""Commands that delete: they show what would happen, and do it on request."""

from __future__ import annotations

import functools
import sys
from dataclasses import dataclass
from typing import Any, Protocol

import click

from paimonlab import cli
from paimonlab.cli.arguments import Body, json_flag


class Verb(Protocol):
    """Deletes, or only says what it would delete."""

    def __call__(self, *, dry_run: bool) -> Any:
        """Return the plan, or what was done."""


@dataclass(frozen=True, slots=True)
class Consent:
    """What the user said of a plan."""

    yes: bool
    dry_run: bool
    as_json: bool

    def run(self, verb: Verb) -> None:
        """Run a verb, or show what it would do.

        Parameters
        ----------
        verb
            Its result is printed.
        """
        if self.yes:
            self._show(verb(dry_run=False), is_plan=False)
            return
        plan = verb(dry_run=True)
        self._show(plan, is_plan=True)
        if self.dry_run or getattr(plan, "is_empty", False):
            return
        if self.as_json or not is_asked():
            raise click.UsageError(
                "nothing was changed: give --yes to do this, --dry-run to see it only"
            )
        if click.confirm("Do this?"):
            self._show(verb(dry_run=False), is_plan=False)

    def _show(self, result: Any, *, is_plan: bool) -> None:
        if self.as_json:
            click.echo(cli.output.json_text({"dry_run": is_plan, **cli.output.described(result)}))
            return
        click.echo("would be done:" if is_plan else "done:")
        for line in cli.output.result_lines(result):
            click.echo(f"  {line}")


def is_asked() -> bool:
    """Whether somebody can answer."""
    return sys.stdin.isatty()


def asks_first(body: Body) -> Body:
    """Give a command ``--yes``, ``--dry-run`` and ``--json``; its function gets ``consent``."""

    @click.option("--yes", is_flag=True, help="Do it, do not ask.")
    @click.option("--dry-run", is_flag=True, help="Show what would be done, change nothing.")
    @json_flag
    @functools.wraps(body)
    def command(*arguments: Any, yes: bool, dry_run: bool, as_json: bool, **others: Any) -> None:
        if yes and dry_run:
            raise click.UsageError("--yes and --dry-run exclude each other")
        body(*arguments, consent=Consent(yes, dry_run, as_json), **others)

    return command
