"""Writing some columns of rows that are there: ``table.write_columns``."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import pyarrow as pa
from msgspec.structs import replace

from paimonlab.errors import FilesConflictError, UnsupportedError
from paimonlab.read.read_plan import ReadPlan
from paimonlab.read.row_groups import group_splits, read_row_group
from paimonlab.scan.plan import ScanOptions, ScanRequest, plan
from paimonlab.scan.split import DataSplit
from paimonlab.spec.commit_message import CommitMessage
from paimonlab.spec.options.table_options import Options, parse_list
from paimonlab.spec.predicates.predicate import Predicate
from paimonlab.spec.schema.row_tracking import RowTrackingOptions, with_tracking
from paimonlab.spec.snapshot import BATCH_COMMIT_IDENTIFIER, Snapshot
from paimonlab.spec.types.system_fields import ROW_ID
from paimonlab.storage import FileIO
from paimonlab.table.committing.failures import files_deleted_on_failure
from paimonlab.table.committing.users import new_user
from paimonlab.table.definition import TableDefinition
from paimonlab.table.plans.read import read_plan
from paimonlab.table.plans.write import write_plan
from paimonlab.table.reading.scan import Scan
from paimonlab.table.store import TableStore
from paimonlab.table.upkeep.after_commit import committer_of
from paimonlab.write.columns import (
    NewValues,
    completing,
    new_values,
    patched,
    projected,
    touched,
)
from paimonlab.write.folders import delete_files
from paimonlab.write.write_plan import WritePlan
from paimonlab.write.writer import TableWriter

logger = logging.getLogger(__name__)

_ONE_FILE = {"target-file-size": str(2**62)}
"""A file completes one other, however large."""
_ORDER_PREFIXES = ("clustering.", "sink.clustering.")
_INDEX_PREFIX, _INDEX_COLUMNS = "file-index.", ".columns"
_MOST_RUNS = 4
"""Of an update: once, and three times more."""


def write_columns(
    definition: TableDefinition,
    store: TableStore,
    data: Any,
    *,
    properties: Mapping[str, str] | None = None,
) -> Snapshot | None:
    """Write columns and commit them; see `Table.write_columns`."""
    if not definition.options.slice(RowTrackingOptions).data_evolution:
        raise UnsupportedError(
            "data-evolution.enabled = 'false'",
            f"{definition.name} has no columns in files of their own; make a table with "
            "'row-tracking.enabled' and 'data-evolution.enabled'",
        )
    new = new_values(data, definition.schema, table=definition.name)
    return _commit(definition, store, new, store.snapshots.latest(), properties)


def update_columns(
    definition: TableDefinition,
    store: TableStore,
    predicate: Predicate | None,
    names: Sequence[str],
    applied: Callable[[pa.RecordBatch], pa.RecordBatch],
    found: Callable[[int], None],
) -> Snapshot | None:
    """Give columns of the rows of a condition new values, computed from the old ones.

    Parameters
    ----------
    definition, store
        Of a table with data evolution.
    predicate
        Bound to its schema; None: every row.
    names
        The columns that get new values.
    applied
        Makes rows with new values of rows with all columns.
    found
        Is told, each time it runs, how many rows the condition is true for.

    Returns
    -------
    Snapshot or None
        None if the condition is true for no row.

    Raises
    ------
    FilesConflictError
        If others changed the same rows again and again.

    Notes
    -----
    The new values of all rows are held in memory.
    """
    schema = with_tracking(definition.schema)
    for number in range(1, _MOST_RUNS + 1):
        scan = Scan(
            definition=definition,
            store=store,
            snapshot=store.snapshots.latest(),
            schema=schema,
            columns=(*definition.schema.field_names, ROW_ID),
            predicate=predicate,
            row_limit=None,
        )
        updated = [applied(rows).select([ROW_ID, *names]) for rows in scan.to_batches()]
        found(sum(rows.num_rows for rows in updated))
        if not updated:
            return None
        new = new_values(pa.Table.from_batches(updated), definition.schema, table=definition.name)
        try:
            return _commit(definition, store, new, scan.snapshot, None)
        except FilesConflictError as error:
            if number == _MOST_RUNS:
                raise
            logger.info("%s: the update runs again: %s", definition.name, error)
    raise AssertionError("the last run returns or raises")


def _commit(
    definition: TableDefinition,
    store: TableStore,
    new: NewValues,
    snapshot: Snapshot | None,
    properties: Mapping[str, str] | None,
) -> Snapshot | None:
    """Write new values of the rows of a snapshot and commit them."""
    if not len(new.row_ids):
        return None
    messages: list[CommitMessage] = []
    try:
        splits = touched(groups_of(definition, store, snapshot), new, table=definition.name)
        write = CompletingWrite.of(definition, store, new.columns, snapshot)
        for split in splits:
            messages.append(write.complete(split, new))  # noqa: PERF401 - one by one
    except BaseException:
        delete_files(messages, write_plan(definition, store.layout), store.file_io)
        raise
    with files_deleted_on_failure(definition, store, messages):
        return committer_of(definition, store).append(
            messages,
            user=new_user(definition.options),
            identifier=BATCH_COMMIT_IDENTIFIER,
            properties=dict(properties) if properties else None,
            is_new_user=True,
        )


def groups_of(
    definition: TableDefinition, store: TableStore, snapshot: Snapshot | None
) -> list[DataSplit]:
    """Return one split per group of files with the same row ids."""
    planned = plan(
        ScanRequest(snapshot=snapshot),
        schema=definition.schema,
        schemas=store.schemas,
        manifests=store.manifests,
        options=definition.options.slice(ScanOptions),
        table=definition.name,
    )
    return [group for split in planned.splits for group in group_splits(split, definition.name)]


@dataclass(frozen=True, slots=True)
class CompletingWrite:
    """All that it takes to write files that complete others, picklable."""

    writing: WritePlan
    reading: ReadPlan
    file_io: FileIO

    @classmethod
    def of(
        cls,
        definition: TableDefinition,
        store: TableStore,
        columns: Sequence[str],
        snapshot: Snapshot | None,
    ) -> Self:
        """Plan the writing of columns of the rows of a snapshot."""
        names = (*definition.schema.partition_keys, *columns)
        schema = projected(definition.schema, names, definition.name)
        options = _options_for(definition.options, schema.field_names)
        written = schema.field_names
        return cls(
            write_plan(replace(definition, schema=schema, options=options), store.layout),
            read_plan(definition, store, definition.schema, written, None, snapshot=snapshot),
            store.file_io,
        )

    def complete(self, split: DataSplit, new: NewValues) -> CommitMessage:
        """Write the file that completes a group of files."""
        names = self.writing.schema.field_names
        with TableWriter(self.writing, self.file_io) as writer:
            for batch in self._rows(split, new, names):
                writer.write(batch)
            (message,) = writer.prepare_commit()
        return completing(message, split, names)

    def _rows(
        self, split: DataSplit, new: NewValues, names: tuple[str, ...]
    ) -> Iterator[pa.RecordBatch]:
        head = split.files[0]
        assert head.first_row_id is not None, "only files with row ids are completed"
        ours = new.between(head.first_row_id, head.first_row_id + head.row_count)
        if len(ours.row_ids) == head.row_count and names == new.columns:
            return iter(ours.values.to_batches())
        current = read_row_group(split, self.reading, self.file_io)
        return patched(current, ours, head.first_row_id)


def _options_for(options: Options, names: Sequence[str]) -> Options:
    """Ask for one file, rows at their places, and indexes of those columns alone that it has."""
    kept = {key: text for key, text in options.items() if not key.startswith(_ORDER_PREFIXES)}
    kept |= _ONE_FILE
    for key, text in options.items():
        if key.startswith(_INDEX_PREFIX) and key.endswith(_INDEX_COLUMNS):
            indexed = [name for name in parse_list(text) if name.partition("[")[0] in names]
            kept[key] = ",".join(indexed)
            if not indexed:
                del kept[key]
    return Options(kept)
