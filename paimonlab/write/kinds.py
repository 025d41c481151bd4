"""Which kinds of rows a table accepts.

Source: apache/paimon@1.3.1 ``org.apache.paimon.utils.RowKindFilter``. Java writes rows that its
merge functions refuse later, which makes the key unreadable; here they are refused at once.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from paimonlab.arrow_values import arrow_array, numpy_values
from paimonlab.errors import DataError
from paimonlab.spec.row_kind import RowKind
from paimonlab.spec.types.system_fields import VALUE_KIND
from paimonlab.write.write_plan import WritePlan


def admitted(rows: pa.RecordBatch, plan: WritePlan) -> pa.RecordBatch:
    """Leave out rows that the table ignores, and refuse kinds that it cannot merge.

    Parameters
    ----------
    rows
        n rows with ``_VALUE_KIND`` (int8).
    plan
        How to write to the table.

    Raises
    ------
    DataError
        If rows retract something and the table's merge engine cannot.
    """
    kinds = numpy_values(rows.column(VALUE_KIND))
    if not kinds.any():
        return rows
    options = plan.options
    ignored: list[RowKind] = []
    if options.ignore_delete:
        ignored = [RowKind.UPDATE_BEFORE, RowKind.DELETE]
    elif options.ignore_update_before:
        ignored = [RowKind.UPDATE_BEFORE]
    is_ignored = np.isin(kinds, ignored)
    if is_ignored.any():
        rows = rows.filter(arrow_array(~is_ignored))
        kinds = kinds[~is_ignored]
    for kind in (RowKind.UPDATE_BEFORE, RowKind.DELETE):
        reason = plan.engine.refusal_of(kind)
        if reason is not None and (kinds == kind).any():
            raise DataError(f"{plan.table_name} takes no rows of kind {kind.symbol}: {reason}")
    return rows
