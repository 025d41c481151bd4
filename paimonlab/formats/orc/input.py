"""An ORC data file -> Arrow batches."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import pyarrow as pa
from pyarrow import orc

from paimonlab.errors import CorruptDataError, MemoryLimitError, UnsupportedError
from paimonlab.formats.orc.statistics import stripe_stats
from paimonlab.formats.orc.tail import LZO, OrcTail, Source, Stripe, check_stripe, read_tail
from paimonlab.formats.orc.timestamps import is_timestamp, read_timestamps
from paimonlab.formats.orc.values import converted
from paimonlab.formats.row_group import RowGroup
from paimonlab.formats.whole_groups import WholeGroups
from paimonlab.spec.predicates.predicate import ColumnStats
from paimonlab.spec.types.data_types import DataField
from paimonlab.storage import FileIO

_OUT_OF_RANGE = "out of range for nanosecond resolution"
"""What pyarrow says of a timestamp."""


class _OutOfRangeError(UnsupportedError):
    """A timestamp that the library cannot hold."""


class OrcInput(WholeGroups):
    """An open file. Use it as a context manager.

    Parameters
    ----------
    file_io, path
        The file.
    legacy_ltz
        ``orc.timestamp-ltz.legacy.type`` of the table.
    """

    def __init__(self, file_io: FileIO, path: str, *, legacy_ltz: bool = True) -> None:
        self.path = path
        self._legacy_ltz = legacy_ltz
        self._source = file_io.open_input(path)
        try:
            self._bytes = Source(self._source, path)
            self._tail: OrcTail = read_tail(self._bytes)
            self._source.seek(0)
            with _damage_named(path):
                self._file = orc.ORCFile(self._source)
                self._names: tuple[str, ...] = tuple(self._file.schema.names)
            self.row_groups = self._row_groups()
            """All stripes, in file order; one for all of a file compressed with LZO."""
        except BaseException:
            self._source.close()
            raise

    @property
    def size_bytes(self) -> int:
        """Size of the file."""
        return int(self._source.size())

    def close(self) -> None:
        """Close the file."""
        self._source.close()

    def _row_groups(self) -> tuple[RowGroup, ...]:
        if self._tail.codec == LZO:
            return (RowGroup(0, 0, self._file.nrows, self._file.content_length),)
        return tuple(_row_group(index, one) for index, one in enumerate(self._tail.stripes))

    @property
    def column_names(self) -> frozenset[str]:
        """Names of the columns."""
        return frozenset(self._names)

    def group_stats(self, fields: Sequence[DataField]) -> dict[str, ColumnStats]:
        """Return what is known of columns, one value per stripe; nothing of LZO files."""
        if self._tail.codec == LZO:
            return {}
        with _damage_named(self.path):
            return stripe_stats(self._tail, fields)

    def group_columns(self, index: int, fields: Sequence[DataField]) -> Iterator[list[pa.Array]]:
        """Read columns of a stripe."""
        for stored in self._stripe(index, fields):
            yield [self._column(stored[field.name], field) for field in fields]

    def _stripe(self, index: int, fields: Sequence[DataField]) -> Iterator[dict[str, pa.Array]]:
        """Read columns of a stripe, or of all stripes of a file compressed with LZO."""
        is_checked = self._tail.codec != LZO
        if is_checked:
            check_stripe(self._bytes, self._tail, index)
        row_count = 0
        for stripe in [index] if is_checked else range(self._file.nstripes):
            try:
                columns = self._library_read(stripe, fields)
            except _OutOfRangeError:
                if not is_checked:
                    raise
                columns = self._read_beside(stripe, fields)
            row_count += len(next(iter(columns.values())))
            yield columns
        expected = self.row_groups[index].row_count
        if row_count != expected:
            problem = f"{row_count:,} rows found, its end says {expected:,}"
            raise CorruptDataError(self.path, problem)

    def _library_read(self, stripe: int, fields: Sequence[DataField]) -> dict[str, pa.Array]:
        # The library takes a point in a name for the way into a ROW.
        has_points = any("." in name for name in self._names)
        chosen = None if has_points else [field.name for field in fields]
        with _damage_named(self.path):
            batch = self._file.read_stripe(stripe, chosen)
        return {field.name: batch.column(field.name) for field in fields}

    def _read_beside(self, stripe: int, fields: Sequence[DataField]) -> dict[str, pa.Array]:
        """Decode timestamps here that the library cannot hold."""
        others = [field for field in fields if not is_timestamp(field)]
        columns = self._library_read(stripe, others) if others else {}
        for field in fields:
            if is_timestamp(field):
                with _damage_named(self.path):
                    columns[field.name] = read_timestamps(self._bytes, self._tail, stripe, field)
        return columns

    def _column(self, array: pa.Array, field: DataField) -> pa.Array:
        try:
            return converted(array, field.type, legacy_ltz=self._legacy_ltz)
        except (pa.ArrowException, ValueError, OverflowError) as error:
            raise CorruptDataError(self.path, f"column {field.name!r}: {error}") from error


def _row_group(index: int, stripe: Stripe) -> RowGroup:
    return RowGroup(index, stripe.first_row, stripe.row_count, stripe.size_bytes)


@contextmanager
def _damage_named(path: str) -> Iterator[None]:
    """Turn what pyarrow says of a damaged file into an error that names the file."""
    try:
        yield
    except MemoryError as error:
        raise MemoryLimitError(path, str(error)) from error
    except pa.ArrowInvalid as error:
        if _OUT_OF_RANGE not in str(error):
            raise CorruptDataError(path, f"cannot be read as ORC: {error}") from error
        raise _OutOfRangeError(
            "an ORC timestamp outside the years 1677 to 2262",
            f"{path} has one ({error}); leave the column out",
        ) from error
    except (pa.ArrowException, OSError, UnicodeDecodeError, ValueError) as error:
        raise CorruptDataError(path, f"cannot be read as ORC: {error}") from error
