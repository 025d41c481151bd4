"""Values that a source did not tell since they did not change: those of the row before are taken.

A row before is one of the same key that waits for the same epoch, else the row that the table has.
All rows are followed at once: each points at the row before it, until no pointer moves any more.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from paimonlab.arrow_values import arrow_array, numpy_values
from paimonlab.errors import DataError
from paimonlab.ingest.fitting import BadRow, FittedRows
from paimonlab.spec.distinct_integers import distinct_integers
from paimonlab.spec.row_kind import RowKind
from paimonlab.spec.schema.definition import TableSchema
from paimonlab.spec.types.arrow import to_arrow

_RETRACTS = np.array([int(kind) for kind in RowKind if kind.is_retract])

LookUp = Callable[[pa.Table, list[str]], pa.Table]
"""From keys and names of columns to those rows of the table, with the columns."""


def has_unchanged(waiting: Sequence[FittedRows]) -> bool:
    """Say whether there is a value to be found."""
    return any(rows.unchanged or rows.untold for rows in waiting)


def filled(
    waiting: Sequence[FittedRows], schema: TableSchema, table: str, look_up: LookUp
) -> tuple[list[FittedRows], list[BadRow]]:
    """Give rows the values that they had before.

    Parameters
    ----------
    waiting
        In the order of the source.
    schema, table
        Of the table, which has a primary key, and its name for messages.
    look_up
        Finds rows of the table.

    Returns
    -------
    list of FittedRows
        The same rows without unchanged values.
    list of BadRow
        Rows whose values there are nowhere; they are not among the others.
    """
    unchanged = {name for rows in waiting for name in rows.unchanged}
    names = sorted(unchanged.union(*(rows.untold for rows in waiting)))
    keys = list(schema.primary_keys)
    if wrong := [name for name in sorted(unchanged) if name in keys]:
        raise DataError(f"{table}: the source does not tell the key column {wrong[0]!r} of a row")
    chain = _Chain.of(waiting, keys)
    lost = np.zeros(len(chain.before), np.bool_)
    columns = {}
    for name in names:
        data_type = schema.field(name).type
        columns[name] = _found(waiting, name, to_arrow(data_type), chain, look_up, lost)
    made, bad = [], []
    start = 0
    for rows in waiting:
        count = rows.rows.num_rows
        whole = rows.with_values(
            {
                name: column.slice(start, count)
                for name, column in columns.items()
                if name in rows.rows.schema.names
            }
        )
        good, wrong_rows = _apart(whole, lost[start : start + count], table)
        made += good
        bad += wrong_rows
        start += count
    return made, bad


@dataclass(frozen=True, slots=True, eq=False)
class _Chain:
    """Which row each row had before it."""

    keys: pa.Table
    codes: npt.NDArray[np.int64]
    """The same number for rows of the same key."""
    before: npt.NDArray[np.int64]
    """-1: no row that waits."""
    retracts: npt.NDArray[np.bool_]

    @classmethod
    def of(cls, waiting: Sequence[FittedRows], keys: list[str]) -> _Chain:
        columns = [rows.rows.column(rows.kind_column) for rows in waiting]
        kinds = np.concatenate([numpy_values(column) for column in columns])
        tables = [pa.Table.from_batches([rows.rows.select(keys)]) for rows in waiting]
        found = pa.concat_tables(tables, promote_options="permissive").combine_chunks()
        codes = codes_of(found)
        order = np.argsort(codes, kind="stable")
        same = codes[order[1:]] == codes[order[:-1]]
        before = np.full(len(codes), -1, np.int64)
        before[order[1:][same]] = order[:-1][same]
        return cls(found, codes, before, np.isin(kinds, _RETRACTS))

    def origins(
        self, unchanged: npt.NDArray[np.bool_], untold: npt.NDArray[np.bool_]
    ) -> npt.NDArray[np.int64]:
        """Return the row whose value each row has: itself, or where its unchanged value began."""
        origin = np.arange(len(unchanged))
        before = self.before.copy()
        # A row that was taken away without its value hands it to the row of the new key.
        handed = np.flatnonzero(unchanged[1:] & unchanged[:-1] & self.retracts[:-1]) + 1
        before[handed] = handed - 1
        moves = (unchanged | untold) & (before >= 0)
        origin[moves] = before[moves]
        while True:
            further = origin[origin]
            if np.array_equal(further, origin):
                return origin
            origin = further


def codes_of(keys: pa.Table) -> npt.NDArray[np.int64]:
    """Return a number for each row: the same for rows with the same values."""
    codes = np.zeros(keys.num_rows, np.int64)
    for column in keys.columns:
        values = pc.dictionary_encode(column, null_encoding="encode")
        chunk = values.combine_chunks() if isinstance(values, pa.ChunkedArray) else values
        if isinstance(chunk, pa.ChunkedArray):
            chunk = chunk.unify_dictionaries().chunk(0)
        numbers = numpy_values(chunk.indices).astype(np.int64)
        _, codes = np.unique(codes * (len(chunk.dictionary) + 1) + numbers, return_inverse=True)
    return codes.reshape(-1)


def _found(
    waiting: Sequence[FittedRows],
    name: str,
    arrow_type: pa.DataType,
    chain: _Chain,
    look_up: LookUp,
    lost: npt.NDArray[np.bool_],
) -> pa.Array:
    """Return the values of a column; mark rows whose values there are nowhere."""
    values = pa.concat_arrays(
        [
            rows.rows.column(name).cast(arrow_type)
            if name in rows.rows.schema.names
            else pa.nulls(rows.rows.num_rows, arrow_type)
            for rows in waiting
        ]
    )
    unchanged = np.concatenate([_mask(rows.unchanged, rows, name) for rows in waiting])
    untold = np.concatenate([_mask(rows.untold, rows, name) for rows in waiting])
    origins = chain.origins(unchanged, untold)
    open_rows = unchanged | untold
    roots = open_rows & open_rows[origins]
    needed = distinct_integers(origins[roots])
    if not len(needed):
        return values.take(arrow_array(origins))
    wanted = chain.keys.take(arrow_array(needed))
    rows = look_up(wanted, name_list := [*wanted.schema.names, name])
    there = rows.select(name_list).combine_chunks()
    codes = codes_of(
        pa.concat_tables([wanted, there.select(wanted.schema.names)], promote_options="permissive")
    )
    of_wanted, of_there = codes[: len(needed)], codes[len(needed) :]
    order = np.argsort(of_there, kind="stable")
    at = np.searchsorted(of_there, of_wanted, sorter=order)
    is_there = np.zeros(len(needed), np.bool_)
    inside = at < len(of_there)
    is_there[inside] = of_there[order[at[inside]]] == of_wanted[inside]
    places = np.full(len(values), -1, np.int64)
    places[needed[is_there]] = len(values) + order[at[is_there]]
    final = origins.copy()
    final[roots] = places[origins[roots]]
    lost |= (final < 0) & unchanged
    column = there.column(name).cast(arrow_type)
    every = pa.concat_arrays([values, *column.chunks, pa.nulls(1, arrow_type)])
    return every.take(arrow_array(np.where(final < 0, len(every) - 1, final)))


def _mask(masks: Mapping[str, pa.Array], rows: FittedRows, name: str) -> npt.NDArray[np.bool_]:
    mask = masks.get(name)
    if mask is None:
        return np.zeros(rows.rows.num_rows, np.bool_)
    return numpy_values(mask, zero_copy_only=False)


def _apart(
    rows: FittedRows, lost: npt.NDArray[np.bool_], table: str
) -> tuple[list[FittedRows], list[BadRow]]:
    if not lost.any():
        return [rows], []
    good, bad, start = [], [], 0
    problem = (
        f"{table}: the source did not tell a value, since it did not change, and there is no row "
        "that has it"
    )
    for place in np.flatnonzero(lost).tolist():
        if place > start:
            good.append(rows.slice(start, place - start))
        bad.append(BadRow(rows.slice(place, 1), problem))
        start = place + 1
    if start < len(lost):
        good.append(rows.slice(start, len(lost) - start))
    return good, bad
