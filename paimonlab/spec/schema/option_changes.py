"""What changes of options make of a schema.

Source: apache/paimon@1.3.1 ``org.apache.paimon.schema.SchemaManager#checkAlterTableOption``.
"""

from __future__ import annotations

from dataclasses import replace

from paimonlab.errors import SchemaError
from paimonlab.spec.options.given import option_text
from paimonlab.spec.options.registry import FALLBACK_KEYS, find_option
from paimonlab.spec.options.table_options import Options, OptionSlice, option_field
from paimonlab.spec.schema.change_kinds import RemoveOption, SetOption
from paimonlab.spec.schema.table_schema import TableSchema


def set_option(schema: TableSchema, change: SetOption, *, has_snapshots: bool) -> TableSchema:
    """Return the schema with an option set; a former key becomes the present one.

    Raises
    ------
    SchemaError
        If the option cannot change, or not once the table holds data.
    """
    key = FALLBACK_KEYS.get(change.key, change.key)
    value = option_text(key, change.value)
    if Options(schema.options).get(key) != value:
        _check_changeable(key, has_snapshots=has_snapshots)
        if key == "bucket" and has_snapshots:
            _check_bucket_change(schema.options.get(key, "-1"), value)
        if key == _VECTORS and has_snapshots:
            _check_vectors_change(schema, value)
    others = {k: v for k, v in schema.options.items() if FALLBACK_KEYS.get(k, k) != key}
    return replace(schema, options={**others, key: value})


def remove_option(schema: TableSchema, change: RemoveOption, *, has_snapshots: bool) -> TableSchema:
    """Return the schema with an option back at its default.

    Raises
    ------
    SchemaError
        If the option cannot change, or not once the table holds data.
    """
    key = FALLBACK_KEYS.get(change.key, change.key)
    if key in Options(schema.options):
        _check_changeable(key, has_snapshots=has_snapshots)
        if key == "bucket" and has_snapshots:
            raise SchemaError("option 'bucket' cannot be removed once the table holds data")
        if key == _VECTORS and has_snapshots:
            _check_vectors_change(schema, "false")
    others = {k: v for k, v in schema.options.items() if FALLBACK_KEYS.get(k, k) != key}
    return replace(schema, options=others)


class VectorOptions(OptionSlice):
    """The table options that say whether deletion vectors come and go."""

    has_vectors: bool = option_field("deletion-vectors.enabled", "boolean", default=False)
    """``deletion-vectors.enabled``"""
    is_modifiable: bool = option_field("deletion-vectors.modifiable", "boolean", default=False)
    """``deletion-vectors.modifiable``"""


_VECTORS = "deletion-vectors.enabled"
_DEFINED_ONCE = ("primary-key", "partition", "path")


def _check_changeable(key: str, *, has_snapshots: bool) -> None:
    if key in _DEFINED_ONCE:
        raise SchemaError(f"option {key!r} is part of the definition: create another table")
    spec = find_option(key)
    if has_snapshots and spec is not None and spec.immutable:
        raise SchemaError(f"option {key!r} cannot be changed once the table holds data")


def _check_vectors_change(schema: TableSchema, value: str) -> None:
    """Refuse to turn vectors on if rows were merged without them: outdated rows would reappear.

    Source: apache/paimon@2.0.0 ``org.apache.paimon.schema.SchemaManager#checkAlterTableOption``.
    """
    options = Options(schema.options)
    before = options.slice(VectorOptions)
    after = options.with_options({_VECTORS: value}).slice(VectorOptions)
    is_same = before.has_vectors == after.has_vectors
    if not schema.primary_keys or before.is_modifiable or is_same:
        return
    raise SchemaError(
        f"option {_VECTORS!r} cannot be changed once a table with a primary key holds data: rows "
        "that newer ones replaced would reappear. After a full compaction, while nobody writes, "
        "set 'deletion-vectors.modifiable' = 'true' first"
    )


def _check_bucket_change(old: str, new: str) -> None:
    for value, fault in ((old, "from"), (new, "to")):
        if value.strip() in ("-1", "-2"):
            raise SchemaError(
                f"option 'bucket' cannot be changed {fault} {value} once the table holds data"
            )
