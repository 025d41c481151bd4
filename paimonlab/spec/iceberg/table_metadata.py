"""The metadata file of an Iceberg table.

Source: https://iceberg.apache.org/spec/#table-metadata-fields and apache/paimon@1.4.2
``org.apache.paimon.iceberg.metadata.IcebergMetadata``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Self

import msgspec

from paimonlab.errors import CorruptMetadataError
from paimonlab.secrets import hides_secrets
from paimonlab.spec.decoding import ready
from paimonlab.spec.snapshot import Snapshot

VERSION_HINT = "version-hint.text"
NO_PARTITION_ID = 999
"""The highest id of a partition field where there is none."""
FIRST_PARTITION_ID = 1000
COMMIT_KEY = "paimon-commit-identity"
"""Which Paimon commit a snapshot is of; so Java has it since 2.0."""
FOREVER_MILLIS = 2**63 - 1

_VERSION_NAME = re.compile(r"v(\d+)\.metadata\.json")
_SCHEME = re.compile(r"^([a-z][a-z0-9+.-]*):/+")
_SAME_SCHEMES = {"s3a": "s3", "s3n": "s3"}


class IcebergSnapshot(
    msgspec.Struct, frozen=True, kw_only=True, rename="kebab", omit_defaults=True
):
    """One snapshot; its id is that of Paimon's."""

    sequence_number: int
    snapshot_id: int
    parent_snapshot_id: int | None = None
    timestamp_ms: int
    summary: dict[str, str]
    manifest_list: str
    schema_id: int
    first_row_id: int | None = None
    """Since version 3."""
    added_rows: int | None = None
    """Since version 3: rows that got ids."""


class IcebergRef(msgspec.Struct, frozen=True, kw_only=True, rename="kebab"):
    """A tag."""

    snapshot_id: int
    type: str = "tag"
    max_ref_age_ms: int | None = FOREVER_MILLIS
    """Paimon lets tags expire, not Iceberg."""


@hides_secrets
class TableMetadata(msgspec.Struct, frozen=True, kw_only=True, rename="kebab", omit_defaults=True):
    """What an Iceberg table is as of one snapshot."""

    format_version: int
    table_uuid: str
    location: str
    last_sequence_number: int
    last_updated_ms: int
    last_column_id: int
    schemas: list[dict[str, Any]]
    current_schema_id: int
    partition_specs: list[dict[str, Any]]
    default_spec_id: int
    last_partition_id: int
    sort_orders: list[dict[str, Any]]
    default_sort_order_id: int
    snapshots: list[IcebergSnapshot]
    """Oldest first."""
    current_snapshot_id: int
    next_row_id: int | None = None
    """Since version 3."""
    properties: dict[str, str]
    refs: dict[str, IcebergRef]

    @property
    def current_snapshot(self) -> IcebergSnapshot | None:
        """The newest snapshot; None if it is not listed."""
        ids = {snapshot.snapshot_id: snapshot for snapshot in self.snapshots}
        return ids.get(self.current_snapshot_id)

    def to_json(self) -> bytes:
        """Encode as the bytes of a metadata file."""
        return msgspec.json.format(msgspec.json.encode(self), indent=2)

    @classmethod
    def from_json(cls, data: bytes, *, path: str) -> Self:
        """Decode the bytes of a metadata file; unknown fields are ignored.

        Raises
        ------
        CorruptMetadataError
            If a field is missing or has the wrong type. ``path`` is only for the message.
        """
        try:
            return msgspec.json.decode(data, type=ready(cls))
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise CorruptMetadataError(path, str(error)) from error


def version_name(snapshot_id: int) -> str:
    """Return the name of the metadata file of a snapshot."""
    return f"v{snapshot_id}.metadata.json"


def version_of(name: str) -> int | None:
    """Return which snapshot a metadata file is of; None: it is another file.

    Examples
    --------
    >>> version_of("v12.metadata.json"), version_of("version-hint.text")
    (12, None)
    """
    match = _VERSION_NAME.fullmatch(name)
    return int(match[1]) if match else None


def commit_identity(snapshot: Snapshot) -> str:
    """Return what tells a snapshot from another one of its id, as after a rollback.

    Source: ``IcebergCommitCallback.commitIdentity`` of Paimon 2.0.
    """
    if snapshot.uuid is not None:
        return snapshot.uuid
    return f"{snapshot.commit_user}:{snapshot.commit_identifier}:{snapshot.time_millis}"


def is_of(metadata: TableMetadata, snapshot: Snapshot) -> bool:
    """Whether metadata was made of a snapshot, and not of one that a rollback deleted.

    Java says so in the metadata only since 2.0; before, the time at which it was made, which
    is after the commit, decides.
    """
    current = metadata.current_snapshot
    if current is None or current.snapshot_id != snapshot.id:
        return False
    identity = current.summary.get(COMMIT_KEY)
    if identity is not None:
        return identity == commit_identity(snapshot)
    return current.timestamp_ms >= snapshot.time_millis


def same_place(path: str) -> str:
    """Return what is equal for all spellings of a path.

    Examples
    --------
    >>> same_place("file:///w/t"), same_place("/w/t"), same_place("s3a://b/t")
    ('/w/t', '/w/t', 's3://b/t')
    """
    match = _SCHEME.match(path)
    if match is None:
        return path.rstrip("/")
    rest = path[match.end() :].rstrip("/")
    if match[1] == "file":
        return f"/{rest}"
    return f"{_SAME_SCHEMES.get(match[1], match[1])}://{rest}"


def with_tag(metadata: TableMetadata, name: str, snapshot_id: int | None) -> TableMetadata | None:
    """Return metadata with a tag more, or less; None if nothing changes.

    Parameters
    ----------
    metadata
        The newest one.
    name
        Of the tag.
    snapshot_id
        Of which snapshot the tag is; None: it was deleted. Iceberg cannot have tags of snapshots
        that it does not have.
    """
    known = {snapshot.snapshot_id for snapshot in metadata.snapshots}
    refs: dict[str, IcebergRef] = {**metadata.refs}
    refs.pop(name, None)
    if snapshot_id in known and snapshot_id is not None:
        refs[name] = IcebergRef(snapshot_id=snapshot_id)
    if refs == metadata.refs:
        return None
    return msgspec.structs.replace(metadata, refs=refs)


def tags_of(tags: Mapping[str, int], snapshots: list[IcebergSnapshot]) -> dict[str, IcebergRef]:
    """Return the tags that Iceberg can have: those of snapshots that it has."""
    known = {snapshot.snapshot_id for snapshot in snapshots}
    return {
        name: IcebergRef(snapshot_id=snapshot_id)
        for name, snapshot_id in tags.items()
        if snapshot_id in known
    }
