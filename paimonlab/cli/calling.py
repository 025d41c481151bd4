"""``paimonlab call``: the procedures of Paimon, as SQL calls them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import click

from paimonlab.catalog import Catalog
from paimonlab.cli.arguments import in_warehouse, refused
from paimonlab.cli.output import records, text_lines
from paimonlab.cli.planned import Consent, asks_first
from paimonlab.cli.progress import Bar


@dataclass(frozen=True, slots=True, kw_only=True)
class CalledProcedure:
    """A call, and what came of it."""

    procedure: str
    arguments: Mapping[str, object]
    rows: list[dict[str, Any]] | None = None
    """None: it was not called."""
    text: str = ""
    """The rows as a person reads them."""

    def __str__(self) -> str:
        """Tell it to a person."""
        given = ", ".join(f"{name} => {value!r}" for name, value in self.arguments.items())
        return f"sys.{self.procedure}({given})\n{self.text}".rstrip("\n")


@click.command()
@in_warehouse
@click.argument("statement", metavar="sys.PROCEDURE(NAME => VALUE, …)")
@asks_first
def call(catalog: Catalog, *, statement: str, consent: Consent) -> None:
    """Call a procedure: "sys.compact(table => 'db.t')".

    Values are literals. Before it asks, it shows what is called with what, not what that would
    do: some procedures have an argument dry_run for that.
    """
    from paimonlab.cli.call_text import parse_call
    from paimonlab.procedures import bind, find

    with refused():
        parsed = parse_call(statement)
        procedure = find(parsed.procedure)
        arguments = bind(procedure, parsed.positional, parsed.named)

    def verb(*, dry_run: bool) -> CalledProcedure:
        if dry_run:
            return CalledProcedure(procedure=procedure.name, arguments=arguments)
        with Bar(f"sys.{procedure.name}") as bar:
            found = procedure.call(catalog, arguments, progress=bar.progress)
        return CalledProcedure(
            procedure=procedure.name,
            arguments=arguments,
            rows=records(found),
            text="\n".join(text_lines(found)),
        )

    consent.run(verb)
