"""Point reads: rows by their full primary key."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from msgspec import structs

from paimonlab.arrow_values import arrow_array, empty_table
from paimonlab.errors import DataError, SchemaError
from paimonlab.read.lookups import keeps_newest, newest_rows
from paimonlab.read.splits import read_split
from paimonlab.scan.conditions import Conditions
from paimonlab.spec.predicates.predicate import Predicate, bind, col
from paimonlab.table.memories.planned_files import PlannedFiles
from paimonlab.table.reading.scan import Scan
from paimonlab.write.conversion import convert
from paimonlab.write.frames import batches_of

_FEW = 64
"""Keys that are looked for one by one; more of them are a scan."""
_FILE_BYTES = 1000
"""Of memory for a file of a plan, roughly."""


def lookup(scan: Scan, keys: Any) -> pa.Table:
    """Read the rows of keys.

    Few keys are found through what `paimonlab.read.key_blocks` remembers of the files, more of
    them by a scan: partitions, buckets, files, row groups and pages are pruned. What is found
    is joined with the keys.

    Parameters
    ----------
    scan
        Of all rows, with the columns wanted.
    keys
        The primary key columns: a dict of values or lists, or anything that speaks Arrow. A
        single value goes with each of a list.

    Returns
    -------
    pyarrow.Table
        One row per distinct key that is there, in any order.
    """
    wanted = _keys(scan, keys)
    names = wanted.schema.names
    if wanted.num_rows == 0:
        return empty_table(scan.arrow_schema)
    within = None
    for name in names:
        is_wanted = col(name).is_in(pc.unique(wanted.column(name)).to_pylist())
        within = is_wanted if within is None else within & is_wanted
    assert within is not None, "a primary key has columns"
    columns = (*scan.columns, *(name for name in names if name not in scan.columns))
    predicate = bind(within, scan.schema.fields, scan.definition.name)
    asked = scan.narrowed(columns, predicate)
    is_few = wanted.num_rows <= _FEW and asked.is_one_snapshot and asked.level is None
    rows = _few(asked, predicate) if is_few else asked.to_arrow()
    if len(names) > 1:
        # Each column alone matched; the combinations have to match, too.
        rows = _semi_join(rows, wanted, names)
    return rows.select(list(scan.columns))


def _keys(scan: Scan, keys: Any) -> pa.Table:
    schema = scan.schema
    if not schema.primary_keys:
        raise SchemaError(
            f"{scan.definition.name} has no primary key to look up; use scan(where=…)"
        )
    if isinstance(keys, Mapping):
        keys = _columns(keys)
    if isinstance(keys, str | int | float | bytes):
        named = ", ".join(f"{name!r}: …" for name in schema.primary_keys)
        raise TypeError(
            f"{scan.definition.name}: a lookup takes values by the columns of the primary key: "
            f"lookup({{{named}}}), not {keys!r}"
        )
    given = batches_of(keys, schema.field_names, table=scan.definition.name).read_all()
    if set(given.schema.names) != set(schema.primary_keys):
        raise DataError(
            f"{scan.definition.name}: a lookup takes the primary key columns "
            f"{', '.join(schema.primary_keys)}, it was given {', '.join(given.schema.names)}"
        )
    columns = [
        convert(given.column(name).combine_chunks(), schema.field(name).type, name, first_row=0)
        for name in schema.primary_keys
    ]
    return pa.table(columns, names=list(schema.primary_keys))


def _columns(keys: Mapping[str, Any]) -> dict[str, Any]:
    """Turn single values into columns, as long as the others."""
    counts = {name: len(values) for name, values in keys.items() if _is_column(values)}
    count = next(iter(counts.values()), 1)
    return {name: values if name in counts else [values] * count for name, values in keys.items()}


def _is_column(values: Any) -> bool:
    return hasattr(values, "__len__") and not isinstance(values, str | bytes)


def _semi_join(rows: pa.Table, wanted: pa.Table, names: list[str]) -> pa.Table:
    numbered = rows.select(names).append_column(
        "position", arrow_array(range(rows.num_rows), pa.int64())
    )
    matches = numbered.join(wanted, keys=names, join_type="left semi")
    return rows.take(matches.column("position"))


def _few(scan: Scan, predicate: Predicate) -> pa.Table:
    """Read the rows of a few keys through the remembered plan of their partitions."""
    conditions = Conditions.of(predicate, scan.schema)
    if scan.snapshot is None or conditions.is_impossible:
        return empty_table(scan.arrow_schema)
    files = _files(scan, conditions)
    plan = structs.replace(files.plan, columns=scan.columns, predicate=predicate)
    is_simple = keeps_newest(plan)
    batches: list[pa.RecordBatch] = []
    for split, positions in files.matching(conditions, scan.schema):
        of_split = None
        if is_simple and not any(split.deletion_files):
            chosen = [split.files[position] for position in positions]
            of_split = newest_rows(split, chosen, conditions.key, plan, scan.store.file_io)
        if of_split is None:
            of_split = list(read_split(split, plan, scan.store.file_io))
        batches += of_split
    return pa.Table.from_batches(batches, schema=plan.arrow_schema)


def _files(scan: Scan, conditions: Conditions) -> PlannedFiles:
    snapshot, store = scan.snapshot, scan.store
    assert snapshot is not None, "an empty table has no files"
    key = (
        snapshot.base_manifest_list,
        snapshot.delta_manifest_list,
        scan.schema.id,
        frozenset(scan.definition.options.items()),
        str(conditions.partition),
    )
    files = store.lookup_plans.get(key)
    if files is None:
        planned = replace(scan, predicate=conditions.partition, row_limit=None)
        files = PlannedFiles.of(planned.plan().splits, planned.read_plan())
        store.lookup_plans.put(key, files, _FILE_BYTES * (1 + len(files.split)))
    return files
