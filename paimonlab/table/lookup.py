"""Point reads: rows by their full primary key."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from paimonlab.errors import DataError, SchemaError
from paimonlab.spec.predicate import bind, col
from paimonlab.table.scan import Scan
from paimonlab.write.conversion import convert
from paimonlab.write.rows import batches_of


def lookup(scan: Scan, keys: Any) -> pa.Table:
    """Read the rows of keys.

    The keys prune partitions, buckets, files and row groups; what remains is joined.

    Parameters
    ----------
    scan
        Of all rows, with the columns wanted.
    keys
        The primary key columns: a dict of lists, or anything that speaks Arrow.

    Returns
    -------
    pyarrow.Table
        One row a distinct key that is there, in any order.
    """
    wanted = _keys(scan, keys)
    names = wanted.schema.names
    if wanted.num_rows == 0:
        return scan.arrow_schema.empty_table()
    within = None
    for name in names:
        one = col(name).is_in(pc.unique(wanted.column(name)).to_pylist())
        within = one if within is None else within & one
    assert within is not None, "a primary key has columns"
    columns = (*scan.columns, *(name for name in names if name not in scan.columns))
    predicate = bind(within, scan.schema.fields, scan.parts.name)
    found = replace(scan, columns=columns, predicate=predicate).to_arrow()
    if len(names) > 1:
        # Each column alone matched; the combinations have to match, too.
        found = _semi_join(found, wanted, names)
    return found.select(list(scan.columns))


def _keys(scan: Scan, keys: Any) -> pa.Table:
    schema = scan.schema
    if not schema.primary_keys:
        raise SchemaError(f"{scan.parts.name} has no primary key to look up; use scan(where=…)")
    given = pa.table(keys) if isinstance(keys, dict) else batches_of(keys).read_all()
    if set(given.schema.names) != set(schema.primary_keys):
        raise DataError(
            f"{scan.parts.name}: a lookup takes the primary key columns "
            f"{', '.join(schema.primary_keys)}, it was given {', '.join(given.schema.names)}"
        )
    columns = [
        convert(given.column(name).combine_chunks(), schema.field(name).type, name)
        for name in schema.primary_keys
    ]
    return pa.table(columns, names=list(schema.primary_keys))


def _semi_join(found: pa.Table, wanted: pa.Table, names: list[str]) -> pa.Table:
    numbered = found.select(names).append_column("position", pa.array(range(found.num_rows)))
    matches = numbered.join(wanted, keys=names, join_type="left semi")
    return found.take(matches.column("position"))
