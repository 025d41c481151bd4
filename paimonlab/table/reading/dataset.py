"""A read as a dataset of pyarrow, which other engines ask for the columns and rows they need."""

from __future__ import annotations

import io
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds  # noqa: TID251 - what engines take, no format of files

from paimonlab.errors import UnsupportedError
from paimonlab.interrupts import whole_module
from paimonlab.table.reading.expressions import restricted
from paimonlab.table.reading.scan import Scan

if TYPE_CHECKING:
    import duckdb
    import ibis.expr.types as ir


class ScanDataset(ds.FileSystemDataset):  # type: ignore[misc]
    """The rows of a scan: each question reads the same snapshot.

    Parameters
    ----------
    scan
        The read.
    condition
        Of pyarrow: only rows for which it is true, which rules out no files; None: all.

    Notes
    -----
    Where pyarrow does not call methods of Python, as in a union of datasets, it asks what its class
    keeps in C++: a file that refuses to be read. Without one pyarrow crashes.
    """

    def __init__(self, scan: Scan, condition: pc.Expression | None = None) -> None:
        layout = ds.ParquetFileFormat()
        super().__init__([layout.make_fragment(_Refusing())], scan.arrow_schema, layout)
        self._scan = scan
        self._condition = condition

    def __repr__(self) -> str:
        return f"<Dataset: {self._scan!r}>"

    def __reduce__(self) -> Any:
        raise TypeError("a dataset of a scan cannot be pickled; read it with scan.to_batches()")

    @property
    def schema(self) -> pa.Schema:
        """Names and types of the columns."""
        return self._scan.arrow_schema

    def scanner(
        self,
        columns: Sequence[str] | Mapping[str, pc.Expression] | None = None,
        filter: pc.Expression | None = None,
        **options: Any,
    ) -> ds.Scanner:
        """Prepare a read of some columns of the rows for which an expression is true.

        Parameters
        ----------
        columns
            Names in the order wanted, or expressions by the names they get; None: all.
        filter
            Of pyarrow; comparisons with constants rule out files.
        **options
            How pyarrow's own datasets would read: the table's options say that here.
        """
        del options
        scan, left = self._restricted(filter)
        if left is not None or isinstance(columns, Mapping):
            return ds.Scanner.from_batches(scan.to_batches(), columns=columns, filter=left)
        if columns is not None:
            scan = scan.selecting(columns)
        return ds.Scanner.from_batches(scan.to_batches())

    def count_rows(self, filter: pc.Expression | None = None, **options: Any) -> int:
        """Count the rows for which an expression is true; None: all.

        Parameters
        ----------
        filter
            Of pyarrow.
        **options
            As for `scanner`.
        """
        scan, left = self._restricted(filter)
        if left is None:
            return scan.count()
        rows: int = self.scanner(None, filter, **options).count_rows()
        return rows

    def _restricted(self, filter: pc.Expression | None) -> tuple[Scan, pc.Expression | None]:
        """Return the read of fewer rows, and what is left to evaluate on them."""
        left = self._condition
        if filter is None:
            return self._scan, left
        known = restricted(self._scan, filter)
        if known is not None:
            return known, left
        return self._scan, filter if left is None else left & filter

    def filter(self, expression: pc.Expression) -> ds.Dataset:
        """Return a dataset of the rows for which an expression is true.

        Parameters
        ----------
        expression
            Of pyarrow; comparisons with constants rule out files.
        """
        return ScanDataset(*self._restricted(expression))

    def sort_by(self, sorting: str | Sequence[tuple[str, str]], **kwargs: Any) -> ds.Dataset:
        """Return a dataset of the rows in another order, in memory.

        Parameters
        ----------
        sorting
            A column, or columns with ``ascending`` or ``descending``.
        **kwargs
            As of `pyarrow.dataset.Dataset.sort_by`.
        """
        return ds.InMemoryDataset(self.to_table()).sort_by(sorting, **kwargs)

    def join(self, right_dataset: ds.Dataset, *args: Any, **kwargs: Any) -> ds.Dataset:
        """Return a dataset of the rows joined with those of another one, in memory.

        Parameters
        ----------
        right_dataset
            The other one.
        *args, **kwargs
            As of `pyarrow.dataset.Dataset.join`.
        """
        return ds.InMemoryDataset(self.to_table()).join(_held(right_dataset), *args, **kwargs)

    def join_asof(self, right_dataset: ds.Dataset, *args: Any, **kwargs: Any) -> ds.Dataset:
        """Return a dataset of the rows joined with the nearest of another one, in memory.

        Parameters
        ----------
        right_dataset
            The other one.
        *args, **kwargs
            As of `pyarrow.dataset.Dataset.join_asof`.
        """
        held = ds.InMemoryDataset(self.to_table())
        return held.join_asof(_held(right_dataset), *args, **kwargs)

    def replace_schema(self, schema: pa.Schema) -> ds.Dataset:
        """Refuse it: columns are those of the scan.

        Parameters
        ----------
        schema
            Other columns.
        """
        del schema
        raise UnsupportedError("replace_schema of a dataset of a scan", "choose columns in scan()")

    def get_fragments(self, filter: pc.Expression | None = None) -> Any:
        """Refuse it: files of a table may have to be merged.

        Parameters
        ----------
        filter
            Of pyarrow.
        """
        del filter
        raise UnsupportedError("get_fragments of a dataset of a scan", "use scanner()")


class _Refusing(io.RawIOBase):
    """A file that says how the rows of a scan are read instead."""

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, _offset: int, _whence: int = 0) -> int:
        raise UnsupportedError("this use of a dataset of a scan", "give pyarrow scan.to_arrow()")


def _held(dataset: ds.Dataset) -> ds.Dataset:
    """Return a dataset whose rows pyarrow may read in C++ as often as it likes."""
    if isinstance(dataset, ScanDataset):
        return ds.InMemoryDataset(dataset.to_table())
    return dataset


def relation(
    scan: Scan, connection: duckdb.DuckDBPyConnection | None, name: str | None
) -> duckdb.DuckDBPyRelation:
    """Make a relation of DuckDB; see `Scan.to_duckdb`."""
    if isinstance(connection, str):
        raise TypeError(f"to_duckdb: {connection!r} is not a connection; give name={connection!r}")
    try:
        library = whole_module("duckdb")
    except ModuleNotFoundError:
        raise ModuleNotFoundError("to_duckdb needs DuckDB: pip install 'paimonlab[sql]'") from None
    database = library.connect() if connection is None else connection
    rows = ScanDataset(scan)
    if name is None:
        return database.from_arrow(rows)
    database.register(name, rows)
    return database.view(name)


def ibis_table(scan: Scan, backend: Any, name: str | None) -> ir.Table:
    """Make a table of Ibis; see `Scan.to_ibis`."""
    try:
        library = whole_module("ibis")
        whole_module("pyarrow_hotfix")  # of Ibis' extra for DuckDB, asked for only at the end
    except ModuleNotFoundError:
        raise ModuleNotFoundError("to_ibis needs Ibis: pip install 'paimonlab[ibis]'") from None
    opened = library.duckdb.connect() if backend is None else backend
    if getattr(opened, "name", "") != "duckdb":
        raise UnsupportedError(
            f"to_ibis with the backend {getattr(opened, 'name', opened)!r}",
            "give one of ibis.duckdb, or none",
        )
    # Ibis 12 asks for its own list by what DuckDB 2 has no more.
    known = opened.con.execute("SELECT table_name FROM information_schema.tables").fetchall()
    free = _free_name(scan.definition.name.rpartition(".")[2], {one for (one,) in known})
    taken = name or free
    relation(scan, opened.con, taken)
    return opened.table(taken)


def _free_name(name: str, known: Collection[str]) -> str:
    """Return a name that no other table has: the rows of that one would be read instead."""
    number, free = 1, name
    while free in known:
        number += 1
        free = f"{name}_{number}"
    return free
