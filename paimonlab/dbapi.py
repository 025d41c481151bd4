"""Python's database API (PEP 249) over a catalog, without Spark: for tools that speak it.

Statements are Spark's SQL. Each that writes is a commit of its own: there are no transactions over
several statements, so that ``commit`` has nothing to do and ``rollback`` is refused.

Examples
--------
>>> import tempfile
>>> cursor = connect(tempfile.mkdtemp()).cursor()
>>> for sql in ("CREATE DATABASE db", "CREATE TABLE db.t (id INT, v STRING)"):
...     _ = cursor.execute(sql)
>>> _ = cursor.execute("INSERT INTO db.t VALUES (1, 'a'), (2, 'b')")
>>> cursor.execute("SELECT v FROM db.t WHERE id = :id", {"id": 2}).fetchall()
[('b',)]
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self, TypeAlias

import pyarrow as pa

from paimonlab import catalog, errors, sql_engine

apilevel = "2.0"
threadsafety = 1
"""Threads may share the module, not connections."""
paramstyle = "named"
"""``:name``; values in a sequence are those of each ``?``."""

Row: TypeAlias = tuple[Any, ...]
Column: TypeAlias = tuple[str, str, None, None, None, None, None]
"""Name and type in Spark's words; PEP 249 allows the others to be unknown."""
Values: TypeAlias = Mapping[str, Any] | Sequence[Any]


class Warning(Exception):  # noqa: N818 - the name is PEP 249's
    """What PEP 249 has for warnings; never raised."""


class Error(Exception):
    """What every error of this module is."""


class InterfaceError(Error):
    """A connection or a cursor is closed, or has no rows to fetch."""


class DatabaseError(Error):
    """A statement failed."""


class DataError(DatabaseError):
    """Values do not fit."""


class OperationalError(DatabaseError):
    """Files, memory or other writers were in the way."""


class IntegrityError(DatabaseError):
    """What PEP 249 has for broken references; never raised."""


class InternalError(DatabaseError):
    """What PEP 249 has for cursors out of step; never raised."""


class ProgrammingError(DatabaseError):
    """The statement is wrong: there is no such table, a type does not fit."""


class NotSupportedError(DatabaseError):
    """Something is not supported without Spark, or not at all."""


_ERRORS: tuple[tuple[tuple[type[Exception], ...], type[DatabaseError]], ...] = (
    ((errors.UnsupportedError,), NotSupportedError),
    ((errors.DataError,), DataError),
    (
        (errors.NotFoundError, errors.AlreadyExistsError, errors.SchemaError, ValueError),
        ProgrammingError,
    ),
    ((errors.PaimonError, OSError), OperationalError),
)


@contextmanager
def _translated() -> Iterator[None]:
    """Raise errors as PEP 249 names them."""
    try:
        yield
    except (errors.PaimonError, OSError, ValueError) as error:
        kind = next(ours for theirs, ours in _ERRORS if isinstance(error, theirs))
        raise kind(str(error)) from error


def connect(warehouse: str | Path | Mapping[str, str]) -> Connection:
    """Open a warehouse.

    Parameters
    ----------
    warehouse
        Its folder or address, or the options of a catalog: as `paimonlab.connect` takes them.

    Raises
    ------
    OperationalError, ProgrammingError
        If it cannot be opened.
    """
    with _translated():
        return Connection(catalog.connect(warehouse))


class Connection:
    """A catalog, as PEP 249 has it; `connect` opens it.

    Parameters
    ----------
    opened
        The catalog.
    """

    def __init__(self, opened: catalog.Catalog) -> None:
        self._catalog: catalog.Catalog | None = opened

    @property
    def catalog(self) -> catalog.Catalog:
        """The catalog.

        Raises
        ------
        InterfaceError
            If the connection is closed.
        """
        if self._catalog is None:
            raise InterfaceError("the connection is closed")
        return self._catalog

    def cursor(self) -> Cursor:
        """Return what runs statements."""
        _ = self.catalog
        return Cursor(self)

    def commit(self) -> None:
        """Do nothing: each statement was committed when it ended."""
        _ = self.catalog

    def rollback(self) -> None:
        """Refuse it.

        Raises
        ------
        NotSupportedError
            Always: each statement was committed when it ended.
        """
        raise NotSupportedError(
            "each statement is a commit of its own; CALL sys.rollback goes back to a snapshot"
        )

    def close(self) -> None:
        """Let go of the catalog."""
        self._catalog = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Cursor:
    """Runs statements, and has the rows of the last one.

    Parameters
    ----------
    connection
        Where its tables are.
    """

    arraysize = 1
    """How many rows `fetchmany` gives if it is not told."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self.description: Sequence[Column] | None = None
        """The columns of the rows; None if the last statement has none."""
        self._rows: pa.Table | None = None
        self._rowcount = -1
        self._fetched = 0

    @property
    def rowcount(self) -> int:
        """How many rows the last statement has, or changed; -1 if it has none."""
        return self._rowcount

    def execute(self, operation: str, parameters: Values = ()) -> Self:
        """Run a statement.

        Parameters
        ----------
        operation
            In Spark's SQL, with ``:name`` or ``?`` for values.
        parameters
            The values: by name, or one for each ``?``.

        Raises
        ------
        DatabaseError
            If it fails; `NotSupportedError` if it needs Spark.
        """
        self._rows, self.description, self._fetched, self._rowcount = None, None, 0, -1
        opened = self.connection.catalog
        with _translated():
            self._run(operation, parameters, opened)
        return self

    def _run(self, text: str, values: Values, opened: catalog.Catalog) -> None:
        sources = sql_engine.tables.Sources(opened)
        options = sql_engine.engine.EngineOptions.of(opened.options)
        first = text.split(maxsplit=1)[0].upper() if text.strip() else ""
        if first in sql_engine.first_words.WRITING:
            changed = sql_engine.changes.run(text, sources, values, options).rows
            self._rowcount = -1 if changed is None else changed
            return
        calls = sql_engine.statements.calls
        if first == sql_engine.first_words.COPYING:
            self._rows = sql_engine.copying.statement.run(text, sources, values, options)
            types = [str(field.type) for field in self._rows.schema]
        elif first in calls.CALLING:
            if values:
                raise errors.UnsupportedError(f"parameters of {first}", "write literals")
            self._rows = calls.run(text, sources, _ignored)
            types = [str(field.type) for field in self._rows.schema]
        else:
            planned = sql_engine.engine.plan(text, sources, values)
            self._rows, types = sql_engine.engine.run(planned, options), planned.types
        self._rowcount = self._rows.num_rows
        self.description = [
            (name, kind, None, None, None, None, None)
            for name, kind in zip(self._rows.schema.names, types, strict=True)
        ]

    def executemany(self, operation: str, seq_of_parameters: Sequence[Values]) -> Self:
        """Run a statement for several values, each in a commit of its own.

        Parameters
        ----------
        operation
            As for `execute`.
        seq_of_parameters
            The values of each run.
        """
        for parameters in seq_of_parameters:
            self.execute(operation, parameters)
        return self

    def fetchone(self) -> Row | None:
        """Return the next row; None if there is none left."""
        return next(iter(self.fetchmany(1)), None)

    def fetchmany(self, size: int | None = None) -> list[Row]:
        """Return the next rows.

        Parameters
        ----------
        size
            How many at most; None: `arraysize`.
        """
        return self._next(self.arraysize if size is None else size)

    def fetchall(self) -> list[Row]:
        """Return all rows that are left."""
        return self._next(None)

    def fetch_arrow_table(self) -> pa.Table:
        """Return all rows that are left as Arrow."""
        left = self._found.slice(self._fetched)
        self._fetched = self._found.num_rows
        return left

    @property
    def _found(self) -> pa.Table:
        if self._rows is None:
            raise InterfaceError("the last statement has no rows to fetch")
        return self._rows

    def _next(self, size: int | None) -> list[Row]:
        taken = self._found.slice(self._fetched, size)
        self._fetched += taken.num_rows
        columns = [column.to_pylist() for column in taken.columns]
        return list(zip(*columns, strict=True))

    def __iter__(self) -> Iterator[Row]:
        while (row := self.fetchone()) is not None:
            yield row

    def setinputsizes(self, sizes: object) -> None:
        """Do nothing, as PEP 249 allows.

        Parameters
        ----------
        sizes
            Of the parameters.
        """

    def setoutputsize(self, size: object, column: object = None) -> None:
        """Do nothing, as PEP 249 allows.

        Parameters
        ----------
        size
            Of values.
        column
            Which column.
        """

    def close(self) -> None:
        """Let go of the rows."""
        self._rows, self.description = None, None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _ignored(_done: int, _total: int, _unit: str) -> None:
    """Ignore progress."""
