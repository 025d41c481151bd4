"""One attempt of a commit: its manifests and the snapshot that would make them visible."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from paimonlab.arrow_values import numpy_values
from paimonlab.secrets import hides_secrets
from paimonlab.spec.manifests.manifest import FileKind
from paimonlab.spec.snapshot import (
    CURRENT_VERSION,
    FIRST_SNAPSHOT_ID,
    NO_WATERMARK,
    CommitKind,
    Snapshot,
)


@hides_secrets
@dataclass(frozen=True, slots=True, kw_only=True)
class CommitRequest:
    """Who commits, and what is kept with the snapshot."""

    user: str
    identifier: int
    watermark: int | None = None
    """Event time, epoch milliseconds."""
    properties: Mapping[str, str] | None = None
    statistics: str | None = None
    """File of statistics; None: those of the snapshot before, if they still fit."""
    only_manifests: bool = False
    """Whether just manifests are rewritten: schema and properties stay those of the snapshot
    before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ManifestLists:
    """Names and sizes of the manifest lists of an attempt."""

    base: tuple[str, int]
    delta: tuple[str, int]
    changelog: tuple[str, int] | None = None
    index_manifest: str | None = None


def next_snapshot(
    request: CommitRequest,
    kind: CommitKind,
    delta: pa.Table,
    lists: ManifestLists,
    *,
    latest: Snapshot | None,
    schema_id: int,
    next_row_id: int,
    changelog_rows: int,
    time_millis: int,
) -> Snapshot:
    """Return the snapshot that follows ``latest``.

    Parameters
    ----------
    request, kind
        Who commits what.
    delta
        Entries of the commit (`ENTRY_SCHEMA`).
    lists
        The manifest lists of the attempt: base, delta, changelog and index files.
    latest
        None: the table is empty.
    schema_id
        The latest schema.
    next_row_id
        The first row id that is free.
    changelog_rows
        Rows of the changelog files.
    time_millis
        Now, epoch milliseconds.

    Notes
    -----
    Statistics go from snapshot to snapshot as long as the schema stays, properties never,
    unless just manifests are rewritten.
    """
    added_rows = _delta_record_count(delta)
    total = (latest.total_record_count or 0) if latest else 0
    properties = dict(request.properties) if request.properties else None
    if latest is not None and request.only_manifests:
        schema_id, properties = latest.schema_id, latest.properties
    is_same_schema = latest is not None and latest.schema_id == schema_id
    inherited = latest.statistics if latest and is_same_schema else None
    return Snapshot(
        version=CURRENT_VERSION,
        id=latest.id + 1 if latest else FIRST_SNAPSHOT_ID,
        schema_id=schema_id,
        base_manifest_list=lists.base[0],
        base_manifest_list_size=lists.base[1],
        delta_manifest_list=lists.delta[0],
        delta_manifest_list_size=lists.delta[1],
        changelog_manifest_list=lists.changelog[0] if lists.changelog else None,
        changelog_manifest_list_size=lists.changelog[1] if lists.changelog else None,
        changelog_record_count=changelog_rows,
        index_manifest=lists.index_manifest,
        commit_user=request.user,
        commit_identifier=request.identifier,
        commit_kind=kind,
        time_millis=time_millis,
        total_record_count=total + added_rows,
        delta_record_count=added_rows,
        watermark=_watermark(latest.watermark if latest else None, request.watermark),
        statistics=request.statistics or inherited,
        properties=properties,
        next_row_id=next_row_id,
    )


def _delta_record_count(delta: pa.Table) -> int:
    rows = numpy_values(delta["row_count"])
    is_added = numpy_values(delta["kind"]) == int(FileKind.ADD)
    return int(np.where(is_added, rows, -rows).sum())


def _watermark(previous: int | None, given: int | None) -> int | None:
    known = [mark for mark in (previous, given) if mark is not None and mark != NO_WATERMARK]
    return max(known, default=None)
