"""What a procedure takes, returns and does."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import pyarrow as pa

from paimonlab.catalog import Catalog
from paimonlab.errors import ArgumentError, ReadOnlyError, UnsupportedError
from paimonlab.procedures.invocation import Invocation
from paimonlab.progress import Progress
from paimonlab.spec.types.arrow import arrow_schema
from paimonlab.spec.types.data_types import DataField, DataType
from paimonlab.table.table import Table
from paimonlab.workers import Workers, side_by_side

Row = Sequence[object]
"""Values in the order of the result's columns."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """A parameter of a procedure."""

    name: str
    type: DataType
    is_required: bool
    description: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Procedure:
    """A call by name: `paimonlab.procedures.find` finds it."""

    name: str
    parameters: tuple[Parameter, ...]
    """In the order of positional arguments."""
    result: tuple[DataField, ...]
    """The columns of the rows that a call returns."""
    description: str
    rows: Callable[[Invocation], Sequence[Row]] = field(repr=False, compare=False)
    """Does it."""
    has_plan: bool = False
    """Whether `plan` can tell what a call would do: it deletes or rewrites, and asks
    `Invocation.is_dry_run` before it does."""

    def call(
        self,
        catalog: Catalog,
        arguments: Mapping[str, object],
        *,
        default_database: str | None = None,
        catalog_name: str | None = None,
        progress: Progress | None = None,
        workers: Workers = side_by_side,
        of_session: Callable[[Table], Mapping[str, str]] | None = None,
        noted: list[object] | None = None,
    ) -> pa.Table:
        """Do what the procedure says.

        Parameters
        ----------
        catalog
            The catalog with the tables.
        arguments
            What `bind` returns; what is left out is null.
        default_database
            The database of tables named without one.
        catalog_name
            What may stand in front of ``database.table``.
        progress
            Called as long work goes on.
        workers
            What rewrites files: threads of this process, or the executors of an engine.
        of_session
            Gives the options that a session sets for a table.
        noted
            What was deleted or rewritten is added to it, as `plan` returns it.

        Returns
        -------
        pyarrow.Table
            The columns of ``result``; most procedures return one row.

        Raises
        ------
        ArgumentError
            If an argument is invalid; nothing was done.
        ReadOnlyError
            If the catalog is read-only.
        UnsupportedError
            If the procedure or an argument is not implemented.
        """
        if catalog.is_read_only:
            raise ReadOnlyError(f"CALL sys.{self.name}")
        invocation = self._invocation(
            catalog,
            arguments,
            default_database=default_database,
            catalog_name=catalog_name,
            progress=progress,
            workers=workers,
            of_session=of_session,
        )
        schema = arrow_schema(self.result)
        rows = self._done(invocation)
        if noted is not None:
            noted += invocation.noted
        columns = zip(*rows, strict=True) if rows else ([] for _ in schema)
        arrays = [
            pa.array(values, column.type) for values, column in zip(columns, schema, strict=True)
        ]
        return pa.Table.from_arrays(arrays, schema=schema)

    def plan(
        self,
        catalog: Catalog,
        arguments: Mapping[str, object],
        *,
        default_database: str | None = None,
        catalog_name: str | None = None,
    ) -> tuple[object, ...]:
        """Return what a call would delete or rewrite, and do nothing.

        Parameters
        ----------
        catalog, arguments, default_database, catalog_name
            As of `call`.

        Returns
        -------
        tuple
            What the verbs of tables return for ``dry_run=True``: a `SnapshotExpiry`, a
            `CompactResult` and so on, one for each verb.

        Raises
        ------
        UnsupportedError
            If the procedure has no plan.
        """
        if not self.has_plan:
            raise UnsupportedError(
                f"a dry run of sys.{self.name}",
                "only procedures that delete or rewrite files have one",
            )
        invocation = self._invocation(
            catalog,
            arguments,
            default_database=default_database,
            catalog_name=catalog_name,
            is_dry_run=True,
        )
        self._done(invocation)
        return tuple(invocation.noted)

    def _invocation(
        self,
        catalog: Catalog,
        arguments: Mapping[str, object],
        *,
        default_database: str | None,
        catalog_name: str | None,
        progress: Progress | None = None,
        workers: Workers = side_by_side,
        of_session: Callable[[Table], Mapping[str, str]] | None = None,
        is_dry_run: bool = False,
    ) -> Invocation:
        unknown = arguments.keys() - {parameter.name for parameter in self.parameters}
        if unknown:
            raise TypeError(f"{self.name} has no parameter {sorted(unknown)}; bind() first")
        return Invocation(
            procedure=self.name,
            catalog=catalog,
            arguments={
                parameter.name: arguments.get(parameter.name) for parameter in self.parameters
            },
            default_database=default_database,
            catalog_name=catalog_name,
            progress=progress,
            workers=workers,
            of_session=of_session,
            is_dry_run=is_dry_run,
        )

    def _done(self, invocation: Invocation) -> Sequence[Row]:
        try:
            return self.rows(invocation)
        except ValueError as error:
            if type(error) is not ValueError:
                raise
            raise ArgumentError(self.name, str(error)) from error
