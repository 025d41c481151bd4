"""``paimonlab call``: the procedures of Paimon, as SQL calls them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import click

from paimonlab import cli, procedures
from paimonlab.cli.arguments import in_warehouse
from paimonlab.cli.commands import command
from paimonlab.cli.planned import Consent, asks_first
from paimonlab.cli.progress import Bar
from paimonlab.cli.refusing import refused
from paimonlab.secrets import without_secrets

if TYPE_CHECKING:
    from paimonlab.catalog import Catalog
    from paimonlab.procedures import Procedure


@dataclass(frozen=True, slots=True, kw_only=True)
class CalledProcedure:
    """A call, and what came of it."""

    procedure: str
    arguments: Mapping[str, object]
    plans: Sequence[Mapping[str, Any]] | None = None
    """What it would delete or rewrite; None: it was called, or cannot tell."""
    rows: Sequence[Mapping[str, Any]] | None = None
    """None: it was not called."""
    text: str = field(default="", compare=False)
    """Plans or rows as a person reads them."""

    def __str__(self) -> str:
        """Tell it to a person."""
        given = ", ".join(f"{name} => {value!r}" for name, value in self.arguments.items())
        return f"sys.{self.procedure}({given})\n{self.text}".rstrip("\n")


@command()
@in_warehouse
@click.argument("statement", metavar="sys.PROCEDURE(NAME => VALUE, …)")
@asks_first
def call(catalog: Catalog, *, statement: str, consent: Consent) -> None:
    """Call a procedure: "sys.compact(table => 'db.t')".

    Values are literals. Before it asks, it shows what is called with what, and what that would
    delete or rewrite.
    """
    with refused():
        parsed = cli.call_text.parse_call(statement)
        procedure = procedures.find(parsed.procedure)
        arguments = procedures.bind(procedure, parsed.positional, parsed.named)

    def verb(*, dry_run: bool) -> CalledProcedure:
        if dry_run:
            return _planned(procedure, catalog, arguments)
        with Bar(f"sys.{procedure.name}") as bar:
            result = procedure.call(catalog, arguments, progress=bar.progress)
        return CalledProcedure(
            procedure=procedure.name,
            arguments=_told(arguments),
            rows=cli.output.records(result),
            text="\n".join(cli.output.text_lines(result)),
        )

    consent.run(verb)


def _told(arguments: Mapping[str, object]) -> Mapping[str, object]:
    """Return arguments as they may be shown."""
    return {
        name: without_secrets(value) if isinstance(value, str) else value
        for name, value in arguments.items()
    }


def _planned(
    procedure: Procedure, catalog: Catalog, arguments: Mapping[str, object]
) -> CalledProcedure:
    if not procedure.has_plan:
        return CalledProcedure(procedure=procedure.name, arguments=_told(arguments))
    plans = procedure.plan(catalog, arguments)
    return CalledProcedure(
        procedure=procedure.name,
        arguments=_told(arguments),
        plans=[cli.output.described(plan) for plan in plans],
        text="\n".join(line for plan in plans for line in cli.output.result_lines(plan)),
    )
