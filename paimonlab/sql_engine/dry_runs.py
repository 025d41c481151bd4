"""Dry runs of statements that write: what they would change, without writing anything."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlglot import exp

from paimonlab.errors import AlreadyExistsError, UnsupportedError
from paimonlab.progress import Progress
from paimonlab.spec.plurals import many
from paimonlab.spec.predicates.predicate import all_of, col
from paimonlab.sql_engine import changes, engine, merges
from paimonlab.sql_engine.engine import EngineOptions, Planned
from paimonlab.sql_engine.refusal import NotTranslatedError
from paimonlab.sql_engine.statements import definitions
from paimonlab.sql_engine.tables import Sources
from paimonlab.sql_engine.tree import parse
from paimonlab.table import changing
from paimonlab.table.changing.statement import PlannedChange
from paimonlab.table.inside import writable
from paimonlab.table.table import Table


@dataclass(frozen=True, slots=True)
class DryRun:
    """What a statement would do."""

    table: str
    """That it would write to."""
    change: PlannedChange
    planned: Planned | None = field(default=None, repr=False)
    """The query of its rows; None if it has none."""

    @property
    def said(self) -> str:
        """In words: ``db.t: 3 rows would be deleted, in 1 of 4 files``."""
        change = self.change
        counts = {
            "inserted": change.rows_inserted,
            "updated": change.rows_updated,
            "deleted": change.rows_deleted,
        }
        known = [f"{many(count, 'row')} {verb}" for verb, count in counts.items() if count]
        if not known:
            return f"{self.table}: no row would be changed"
        said = f"{self.table}: {', '.join(known)} if it is run"
        if change.files_changed:
            files = many(change.files_read, "file")
            said += f"; {change.files_changed:,} of {files} replaced or marked"
        elif change.files_read:
            said += f"; {many(change.files_read, 'file')} read"
        return said


def dry_run(
    text: str,
    sources: Sources,
    values: Mapping[str, Any] | Sequence[Any] = (),
    options: EngineOptions | None = None,
    progress: Progress | None = None,
) -> DryRun:
    """Say what a statement that writes would change; nothing is written.

    Its query is run, so that values that do not fit are found.

    Parameters
    ----------
    text, sources, values, options, progress
        As `changes.run` takes them.

    Raises
    ------
    NotTranslatedError
        If `changes.run` would refuse it.
    UnsupportedError
        If it is not about rows.
    AlreadyExistsError
        If a table of CREATE TABLE … AS exists.
    """
    tree = parse(text)
    match tree:
        case exp.Insert():
            return _insert(tree, sources, values, options, progress)
        case exp.Delete():
            table, where = changes.deleted_rows(tree, sources, values)
            change = changing.planned.planned_delete(*writable(table), where, progress=progress)
            return DryRun(table.name, change)
        case exp.Update():
            table, new, wanted = changes.updated_rows(tree, sources, values)
            change = changing.planned.planned_update(
                *writable(table), new, wanted, progress=progress
            )
            return DryRun(table.name, change)
        case exp.Merge():
            merging, planned = merges.bound_merge(tree, sources, values, options, progress)
            try:
                change = merging.planned()
            except UnsupportedError as error:  # Spark may do it
                raise NotTranslatedError(error.feature, "MERGE") from error
            name = sources.name_of(tuple(part.name for part in tree.this.parts))
            return DryRun(name, change, planned)
        case exp.Create() if tree.expression is not None and str(tree.kind).upper() == "TABLE":
            return _create(tree, sources, values, options, progress)
    word = text.split(maxsplit=1)[0].upper()
    raise NotTranslatedError(
        f"a dry run of {word}", word, "INSERT, UPDATE, DELETE and MERGE have one"
    )


def _insert(
    tree: exp.Insert,
    sources: Sources,
    values: Mapping[str, Any] | Sequence[Any],
    options: EngineOptions | None,
    progress: Progress | None,
) -> DryRun:
    found = changes.inserted_rows(tree, sources, values, options, progress)
    writable(found.table)
    change = PlannedChange(rows_inserted=found.rows.num_rows)
    if found.is_overwrite:
        gone = _replaced(found.table, found.partition)
        change = PlannedChange(
            rows_inserted=found.rows.num_rows,
            rows_deleted=gone.rows_deleted,
            files_read=gone.files_read,
            files_changed=gone.files_read,
        )
    return DryRun(found.table.name, change, found.planned)


def _replaced(table: Table, partition: Mapping[str, Any]) -> PlannedChange:
    """Count the rows and the files that are overwritten: of a partition, or of all."""
    conditions = [col(name) == value for name, value in partition.items()]
    scan = table.scan(where=all_of(*conditions))
    files = sum(len(split.files) for split in scan.plan().splits)
    return PlannedChange(rows_deleted=scan.count(), files_read=files)


def _create(
    tree: exp.Create,
    sources: Sources,
    values: Mapping[str, Any] | Sequence[Any],
    options: EngineOptions | None,
    progress: Progress | None,
) -> DryRun:
    definitions.told(tree, sources)
    name, planned = changes.created_table(tree, sources, values)
    if sources.catalog.has_table(name):
        raise AlreadyExistsError("table", name)
    rows = engine.run(planned, options, progress)
    return DryRun(name, PlannedChange(rows_inserted=rows.num_rows), planned)
