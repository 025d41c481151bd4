"""One call of a procedure: the catalog it works on, and its arguments."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TypeVar

from msgspec.structs import replace

from paimonlab.catalog import Catalog
from paimonlab.errors import ArgumentError, SchemaError, UnsupportedError
from paimonlab.procedures.names import table_name
from paimonlab.procedures.texts import duration, key_values, local_time
from paimonlab.progress import Progress
from paimonlab.spec.options.table_options import Options, check_known
from paimonlab.spec.schema.change_kinds import SetOption
from paimonlab.spec.schema.option_changes import set_option
from paimonlab.table.inside import definition_of, with_definition
from paimonlab.table.system import SystemTable
from paimonlab.table.table import Table
from paimonlab.workers import Workers, side_by_side

T = TypeVar("T")
_READ_PREFIXES = ("scan.", "incremental-between", "branch")


@dataclass(frozen=True, slots=True, kw_only=True)
class Invocation:
    """What a procedure works with."""

    procedure: str
    """Its name, for messages."""
    catalog: Catalog
    arguments: Mapping[str, object]
    """One of each parameter, None for null, of the types that `bind` makes."""
    default_database: str | None
    catalog_name: str | None
    progress: Progress | None
    workers: Workers = side_by_side
    """What rewrites files."""
    of_session: Callable[[Table], Mapping[str, str]] | None = None
    """Gives the options that a session sets for a table; None: there is no session."""
    is_dry_run: bool = False
    """Whether nothing may change."""
    noted: list[object] = field(default_factory=list, compare=False)
    """What was, or in a dry run would be, deleted or rewritten."""

    def note(self, plan: T) -> T:
        """Keep what was, or would be, deleted or rewritten."""
        self.noted.append(plan)
        return plan

    def text(self, name: str) -> str | None:
        """Return a text; None for null."""
        value = self.arguments[name]
        assert value is None or isinstance(value, str), f"{name} is bound as text"
        return value

    def filled(self, name: str) -> str | None:
        """Return a text; None for null and for blanks, which mean the same there."""
        value = self.text(name)
        return value if value and value.strip() else None

    def required_text(self, name: str) -> str:
        """Return a text that must not be blank."""
        value = self.filled(name)
        if value is None:
            raise ArgumentError(self.procedure, f"{name} must not be empty")
        return value

    def number(self, name: str) -> int | None:
        """Return a whole number; None for null."""
        value = self.arguments[name]
        assert value is None or isinstance(value, int), f"{name} is bound as a number"
        return value

    def parallelism(self) -> int | None:
        """Return how many may work at once; None: as many as there are.

        Raises
        ------
        ArgumentError
            If it is less than one.
        """
        most = self.number("parallelism")
        if most is not None and most < 1:
            raise ArgumentError(self.procedure, f"parallelism => {most} must be at least 1")
        return most

    def flag(self, name: str, *, default: bool = False) -> bool:
        """Return true or false; for null the default."""
        value = self.arguments[name]
        assert value is None or isinstance(value, bool), f"{name} is bound as true or false"
        return default if value is None else value

    def time(self, name: str) -> datetime | None:
        """Read a local time; None for null."""
        text = self.text(name)
        if text is None:
            return None
        return local_time(text, procedure=self.procedure, argument=name)

    def duration(self, name: str) -> timedelta | None:
        """Read how long something is; None for null."""
        text = self.text(name)
        if text is None:
            return None
        return duration(text, procedure=self.procedure, argument=name)

    def table_name(self, name: str = "table") -> str:
        """Return a name as ``database.table``."""
        return table_name(
            self.required_text(name),
            procedure=self.procedure,
            argument=name,
            default_database=self.default_database,
            catalog_name=self.catalog_name,
        )

    def table(self, name: str = "table") -> Table:
        """Open the table that an argument names, with the options that the session sets.

        Raises
        ------
        ArgumentError
            If the name is invalid, or that of a system table.
        TableNotFoundError
            If it does not exist.
        """
        return self.with_options_of_session(self._opened(name))

    def with_options_of_session(self, table: Table) -> Table:
        """Return a table with the options that the session sets for it."""
        return self._with(table, {})

    def _opened(self, name: str) -> Table:
        full_name = self.table_name(name)
        table = self.catalog.relation(full_name)
        if isinstance(table, SystemTable):
            raise ArgumentError(
                self.procedure, f"{full_name} is a system table, which is read-only"
            )
        return table

    def table_with(self, options: Mapping[str, str]) -> Table:
        """Open the table with options on top of its own and the session's.

        Raises
        ------
        SchemaError
            If an option cannot change once a table holds data, or not for one call.
        UnsupportedError
            If the option chooses what to read, which procedures do not.
        """
        return self._with(self._opened("table"), options)

    def _with(self, table: Table, options: Mapping[str, str]) -> Table:
        if self.of_session is not None:
            options = {**self.of_session(table), **options}
        if not options:
            return table
        schema = table.schema
        for key, value in options.items():
            if key.startswith(_READ_PREFIXES):
                raise UnsupportedError(f"{key} = {value!r} in options of sys.{self.procedure}")
            before = schema
            schema = set_option(schema, SetOption(key, value), has_snapshots=True)
            if key == "bucket" and schema != before:
                raise SchemaError(
                    f"{table.name}: option 'bucket' cannot change for one call; rescale the table"
                )
        definition = replace(definition_of(table), options=Options(schema.options))
        return with_definition(table, definition)

    def options(self) -> dict[str, str]:
        """Read the argument ``options``: ``k=v,k2=v2``.

        Raises
        ------
        ArgumentError
            If it is something else.
        SchemaError
            If a key is unknown.
        """
        options = key_values(
            self.text("options") or "", procedure=self.procedure, argument="options"
        )
        check_known(options)
        return options
