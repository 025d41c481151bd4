"""One row for each key, by any merge engine."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from paimonlab.errors import DataError
from paimonlab.merge.aggregation import aggregate
from paimonlab.merge.folds import pick
from paimonlab.merge.groups import Members
from paimonlab.merge.key_rows import KeyRows, Merged
from paimonlab.merge.never_null import with_values_where_required
from paimonlab.merge.order import one_array
from paimonlab.merge.partial_update import partial_update
from paimonlab.spec.merge_engine import EngineKind, MergeEngine
from paimonlab.spec.row_kind import RowKind


def merge(
    rows: pa.Table,
    names: Sequence[str],
    members: Members,
    *,
    kinds: npt.NDArray[np.int8] | None,
    engine: MergeEngine,
    required: Collection[str],
    only_rows_stay: bool = True,
) -> Merged:
    """Merge the rows of each key.

    Parameters
    ----------
    rows
        n rows with at least the columns ``engine.needs(names)``.
    names
        Columns of the result.
    members
        The rows by key, oldest first.
    kinds : (n,) int8 or None
        ``_VALUE_KIND`` of every row; None: all are ``+I`` or ``+U``.
    engine
        What becomes of the rows of a key.
    required
        Columns that are never null.
    only_rows_stay
        Whether the only row of a key stays as it is. If not, a retraction is applied to
        nothing.

    Returns
    -------
    Merged
        One row per key, in the order of the keys; a key whose row is gone has a row of kind
        ``-D``.

    Raises
    ------
    DataError
        If rows retract something and the engine cannot, or if no value is left for a column that
        is never null.
    """
    needed = {name: one_array(rows[name]) for name in engine.needs(names)}
    given = KeyRows(needed, members, kinds, frozenset(required), only_rows_stay)
    match engine.kind:
        case EngineKind.PARTIAL_UPDATE:
            merged = partial_update(given, engine)
        case EngineKind.AGGREGATION:
            merged = aggregate(given, engine)
        case _:
            merged = _selected(given, engine)
    if not engine.selects_rows:
        merged = with_values_where_required(merged, given, engine)
    return Merged({name: merged.columns[name] for name in names}, merged.kinds)


def _selected(rows: KeyRows, engine: MergeEngine) -> Merged:
    """Let one row of each key stay as it is."""
    members, retract = rows.members, rows.is_retract
    is_first = engine.kind is EngineKind.FIRST_ROW
    if retract is not None and engine.ignore_delete:
        adds = members.keep(~retract)
        chosen = adds.first() if is_first else adds.last()
        # Where nothing else is left, the row that says so.
        chosen = np.where(chosen < 0, members.last(), chosen)
    elif retract is not None and is_first:
        raise DataError(f"rows that take something away: {engine.refusal_of(RowKind.DELETE)}")
    else:
        chosen = members.first() if is_first else members.last()
    columns = {name: pick(column, chosen) for name, column in rows.columns.items()}
    return Merged(columns, None if rows.kinds is None else rows.kinds[chosen])
