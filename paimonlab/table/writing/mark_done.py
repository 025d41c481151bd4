"""Marking partitions as complete for readers that look at folders.

Source: apache/paimon@1.3.1 ``org.apache.paimon.partition.actions``,
``org.apache.paimon.partition.file.SuccessFile``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec
import pyarrow as pa

from paimonlab.arrow_values import arrow_array
from paimonlab.clock import now_millis
from paimonlab.errors import CorruptMetadataError, SchemaError, UnsupportedError
from paimonlab.spec.binary_row.rows import decode
from paimonlab.spec.commit_message import CommitMessage
from paimonlab.spec.decoding import ready
from paimonlab.spec.options.table_options import OptionSlice, option_field, parse_list
from paimonlab.spec.partitions.folders import PartitionOptions, partition_paths
from paimonlab.storage import safe_join
from paimonlab.table.definition import TableDefinition
from paimonlab.table.partition_values import partition_values
from paimonlab.table.store import TableStore

SUCCESS_FILE = "_SUCCESS"


class MarkDoneOptions(OptionSlice):
    """The table options that say how a partition is marked."""

    actions: tuple[str, ...] = option_field(
        "partition.mark-done-action", "string", ("success-file",), parse=parse_list
    )
    """``partition.mark-done-action``"""
    after_write: bool = option_field("partition.end-input-to-done", "boolean", default=False)
    """``partition.end-input-to-done``: whether Spark marks the partitions that a write wrote to."""


class SuccessFile(msgspec.Struct, frozen=True, rename="camel"):
    """The document in a ``_SUCCESS`` file."""

    creation_time: int
    """Epoch milliseconds of the first mark."""
    modification_time: int
    """Epoch milliseconds of the last mark."""


def mark_partitions_done(
    definition: TableDefinition, store: TableStore, partitions: Sequence[Mapping[str, Any]]
) -> list[str]:
    """Mark partitions; see `Table.mark_partitions_done`."""
    _check_actions(definition)
    paths = [_path(definition, partition) for partition in partitions]
    for path in paths:
        _mark(store, path)
    return paths


def check_marks_of_writes(definition: TableDefinition) -> None:
    """Check that `mark_written` can do what the table asks for.

    Raises
    ------
    UnsupportedError
        If it asks for another action than a ``_SUCCESS`` file.
    """
    if _marks_writes(definition):
        _check_actions(definition)


def mark_written(
    definition: TableDefinition, store: TableStore, messages: Iterable[CommitMessage]
) -> None:
    """Mark the partitions that were written to, if the table asks for it."""
    if not _marks_writes(definition):
        return
    keys = definition.schema.partition_keys
    types = [definition.schema.field(key).type for key in keys]
    rows = arrow_array(list({message.partition for message in messages}), pa.large_binary())
    options = definition.options.slice(PartitionOptions)
    for path in partition_paths(keys, decode(rows, types), types, options):
        _mark(store, path)


def _marks_writes(definition: TableDefinition) -> bool:
    has_partitions = bool(definition.schema.partition_keys)
    return has_partitions and definition.options.slice(MarkDoneOptions).after_write


def _check_actions(definition: TableDefinition) -> None:
    for action in definition.options.slice(MarkDoneOptions).actions:
        if action != "success-file":
            raise UnsupportedError(
                f"partition.mark-done-action = {action!r}",
                "a file-system catalog keeps no list of partitions and tells no server; "
                "'success-file' would do",
            )


def _path(definition: TableDefinition, partition: Mapping[str, Any]) -> str:
    keys = definition.schema.partition_keys
    if not keys or set(partition) != set(keys):
        raise SchemaError(
            f"{definition.name}: give a value of each partition column to mark a partition done; "
            f"they are: {', '.join(keys) or 'none'}"
        )
    values = partition_values(partition, definition)
    types = [definition.schema.field(key).type for key in keys]
    row = pa.record_batch(
        [arrow_array([values[key]], values[key].type) for key in keys], list(keys)
    )
    (path,) = partition_paths(keys, row, types, definition.options.slice(PartitionOptions))
    return path


def _mark(store: TableStore, partition_path: str) -> None:
    path = safe_join(store.layout.table_path, partition_path, SUCCESS_FILE)
    now = now_millis()
    created = now
    if store.file_io.exists(path):
        try:
            document = msgspec.json.decode(store.file_io.read(path), type=ready(SuccessFile))
        except msgspec.DecodeError as error:
            raise CorruptMetadataError(path, str(error)) from error
        created = document.creation_time
    text = msgspec.json.encode(SuccessFile(created, now))
    store.file_io.replace(path, msgspec.json.format(text, indent=2))
