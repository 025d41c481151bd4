"""Telling a read of an expired snapshot from damage."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from paimonlab.errors import (
    CorruptDataError,
    PaimonError,
    SnapshotExpiredError,
    TableNotFoundError,
)
from paimonlab.metadata.branches import BranchManager
from paimonlab.metadata.schemas import SchemaManager, gone_hint
from paimonlab.metadata.tags import TagManager
from paimonlab.read.read_plan import ReadPlan
from paimonlab.storage import FileIO


@contextmanager
def expiry_explained(snapshot_id: int, plan: ReadPlan, file_io: FileIO) -> Iterator[None]:
    """Turn a missing file of a snapshot that has expired into `SnapshotExpiredError`.

    Parameters
    ----------
    snapshot_id
        The snapshot that is read.
    plan, file_io
        How to read the table; its store.
    """
    try:
        yield
    except CorruptDataError as error:
        explain_missing(snapshot_id, plan, file_io, error)
        raise


def explain_missing(
    snapshot_id: int, plan: ReadPlan, file_io: FileIO, error: CorruptDataError
) -> None:
    """Raise `SnapshotExpiredError` if that is why a file of a snapshot is missing.

    `TableNotFoundError` if the whole table is.
    """
    is_missing = isinstance(error.__cause__, FileNotFoundError)
    if is_missing and not _is_kept(snapshot_id, plan, file_io):
        if not SchemaManager(file_io, plan.layout).ids():
            raise TableNotFoundError(plan.table_name, hint=gone_hint(plan.table_name)) from error
        raise SnapshotExpiredError(
            plan.table_name,
            str(snapshot_id),
            f"It has expired while it was read, and with it {error.path}; read the newest one.",
        ) from error


def _is_kept(snapshot_id: int, plan: ReadPlan, file_io: FileIO) -> bool:
    """Whether a branch or tag still has the snapshot, or that is unclear."""
    branches = BranchManager(file_io, plan.layout)
    try:
        layouts = [plan.layout.on_branch(None), *map(branches.layout, branches.names())]
        return any(
            file_io.has_file(layout.snapshot(snapshot_id))
            or any(tag.id == snapshot_id for _, tag in TagManager(file_io, layout).list())
            for layout in layouts
        )
    except (PaimonError, OSError):
        return True
