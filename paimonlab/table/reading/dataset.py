"""A read as a dataset of pyarrow, which other engines ask for the columns and rows they need."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds  # noqa: TID251 - what engines take, no format of files

from paimonlab.interrupts import whole_module
from paimonlab.table.reading.expressions import restricted
from paimonlab.table.reading.scan import Scan

if TYPE_CHECKING:
    import duckdb


class ScanDataset(ds.Dataset):  # type: ignore[misc]
    """The rows of a scan: each question reads the same snapshot.

    Parameters
    ----------
    scan
        The read.
    """

    def __init__(self, scan: Scan) -> None:
        self._scan = scan

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
        scan, left = self._scan, filter
        if filter is not None and (known := restricted(scan, filter)) is not None:
            scan, left = known, None
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
        if filter is None:
            return self._scan.count()
        found = restricted(self._scan, filter)
        if found is not None:
            return found.count()
        rows: int = self.scanner(None, filter, **options).count_rows()
        return rows

    def get_fragments(self, filter: pc.Expression | None = None) -> Any:
        """Refuse it: files of a table may have to be merged.

        Parameters
        ----------
        filter
            Of pyarrow.
        """
        del filter
        raise NotImplementedError("a dataset of a scan has no fragments; use scanner()")


def relation(
    scan: Scan, connection: duckdb.DuckDBPyConnection | None, name: str | None
) -> duckdb.DuckDBPyRelation:
    """Make a relation of DuckDB; see `Scan.to_duckdb`."""
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
