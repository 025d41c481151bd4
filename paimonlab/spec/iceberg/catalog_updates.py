"""What a REST catalog of Iceberg's is told, so that it shows a table as its metadata says.

The catalog keeps metadata of its own, with other ids of schemas: the table is created with a
placeholder, which takes schema 0.

Source: https://iceberg.apache.org/spec/#table-metadata-fields, Iceberg's REST catalog
specification and apache/paimon@1.4.2 ``org.apache.paimon.iceberg.IcebergRestMetadataCommitter``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec

from paimonlab.secrets import hides_secrets
from paimonlab.spec.iceberg.options import IcebergOptions
from paimonlab.spec.iceberg.table_metadata import (
    COMMIT_KEY,
    IcebergRef,
    IcebergSnapshot,
    TableMetadata,
    same_place,
)

_MAIN = "main"
_SKEW_MILLIS = 59_000
"""Iceberg takes snapshots that are up to one minute older than the newest change."""
_FORMAT_PROPERTY = "format-version"


class ShownSnapshot(msgspec.Struct, frozen=True, kw_only=True, rename="kebab"):
    """A snapshot as a catalog of Iceberg's has it."""

    snapshot_id: int
    manifest_list: str = ""
    summary: dict[str, str] = {}


class ShownRef(msgspec.Struct, frozen=True, kw_only=True, rename="kebab"):
    """A branch or a tag as a catalog of Iceberg's has it."""

    snapshot_id: int
    type: str = "branch"


@hides_secrets
class ShownTable(msgspec.Struct, frozen=True, kw_only=True, rename="kebab"):
    """The metadata of a table that a catalog of Iceberg's shows now."""

    format_version: int
    table_uuid: str
    last_updated_ms: int = 0
    last_sequence_number: int = 0
    schemas: list[dict[str, Any]] = []
    current_schema_id: int = 0
    partition_specs: list[dict[str, Any]] = []
    default_spec_id: int = 0
    current_snapshot_id: int | None = None
    snapshots: list[ShownSnapshot] = []
    refs: dict[str, ShownRef] = {}
    properties: dict[str, str] = {}
    next_row_id: int | None = None

    @property
    def current_id(self) -> int | None:
        """Id of the current snapshot; None: there is none, which some servers call -1."""
        known = self.current_snapshot_id
        return None if known is None or known < 0 else known

    @property
    def default_spec(self) -> list[dict[str, Any]]:
        """How the table is partitioned."""
        specs = {spec["spec-id"]: spec["fields"] for spec in self.partition_specs}
        return list(specs.get(self.default_spec_id, ()))


@hides_secrets
@dataclass(frozen=True, kw_only=True)
class NewTable:
    """A table without snapshots, which the metadata is put into."""

    schema: dict[str, Any]
    spec: list[dict[str, Any]]
    properties: dict[str, str]


@dataclass(frozen=True, kw_only=True)
class Changes:
    """What a catalog is told in one commit; nothing if there are no updates."""

    requirements: list[dict[str, Any]] = field(default_factory=list)
    updates: list[dict[str, Any]] = field(default_factory=list)


def placeholder(metadata: TableMetadata) -> NewTable:
    """Return the table to create.

    Servers give ids of their own, from 1, to the columns of a new table, and Paimon's begin at 0.
    So it has no columns; if it is partitioned by others than the first column, it has as many as
    are needed for these to get their ids, for otherwise the way it is partitioned would change.
    """
    spec = metadata.partition_specs[0]["fields"]
    properties = {_FORMAT_PROPERTY: str(metadata.format_version)}
    sources = [one["source-id"] for one in spec]
    if not sources or 0 in sources:
        nothing = {"type": "struct", "schema-id": 0, "fields": list[Any]()}
        return NewTable(schema=nothing, spec=[], properties=properties)
    current = metadata.schemas[-1]["fields"]
    columns = {one["id"]: one for one in current if one["id"] in sources}
    names = {one["name"] for one in columns.values()}
    fields = [
        columns.get(number)
        or {
            "id": number,
            "name": _free_name(f"f{number}", names),
            "required": False,
            "type": "boolean",
        }
        for number in range(1, max(sources) + 1)
    ]
    schema = {"type": "struct", "schema-id": 0, "fields": fields}
    return NewTable(schema=schema, spec=spec, properties=properties)


def _free_name(name: str, taken: set[str]) -> str:
    while name in taken:
        name += "_"
    return name


def is_placeholder(shown: ShownTable, metadata: TableMetadata) -> bool:
    """Whether a table is what `placeholder` made, and nothing was put into it yet."""
    if shown.current_id is not None or shown.snapshots or len(shown.schemas) != 1:
        return False
    return _described(shown.schemas[0]) == _described(placeholder(metadata).schema)


def is_of_table(shown: ShownTable, metadata: TableMetadata) -> bool:
    """Whether a table with snapshots was filled by Paimon: by its summaries, or by its files."""
    folder = same_place(metadata.snapshots[-1].manifest_list).rpartition("/")[0]
    return any(
        COMMIT_KEY in one.summary or same_place(one.manifest_list).rpartition("/")[0] == folder
        for one in shown.snapshots
    )


def needs_new_table(shown: ShownTable, metadata: TableMetadata) -> bool:
    """Whether a table cannot become what the metadata says, as after a rollback.

    Numbers of snapshots and of rows only grow in Iceberg.
    """
    if shown.format_version > metadata.format_version:
        return True
    missing = _missing(shown, metadata)
    if not missing:
        return shown.current_id != metadata.current_snapshot_id
    if missing[0].sequence_number <= shown.last_sequence_number:
        return True
    if metadata.format_version < 3:
        return False
    return (missing[0].first_row_id or 0) < (shown.next_row_id or 0)


def must_be_registered(metadata: TableMetadata) -> bool:
    """Whether a new table has to be taken over as a file, for the ids of its rows begin later."""
    current = metadata.current_snapshot
    return metadata.format_version >= 3 and bool(current and current.first_row_id)


def changes(shown: ShownTable, metadata: TableMetadata, options: IcebergOptions) -> Changes:
    """Return what makes a table what the metadata says.

    Parameters
    ----------
    shown
        What the catalog has: `needs_new_table` is false.
    metadata
        The newest one. To an empty table its newest snapshot alone is added, for Iceberg does not
        take snapshots that are much older than the table.
    options
        Of the table.
    """
    missing, updates = _missing(shown, metadata), list[dict[str, Any]]()
    if metadata.format_version > shown.format_version:
        updates.append(
            {"action": "upgrade-format-version", "format-version": metadata.format_version}
        )
    schema_ids, new = _schema_ids(shown, metadata)
    updates += [
        {"action": "add-schema", "schema": one, "last-column-id": metadata.last_column_id}
        for one in new
    ]
    current_schema = schema_ids[metadata.current_schema_id]
    if current_schema != shown.current_schema_id:
        updates.append({"action": "set-current-schema", "schema-id": current_schema})
    spec = metadata.partition_specs[0]["fields"]
    if _spec(shown.default_spec) != _spec(spec):
        numbered = {"spec-id": len(shown.partition_specs), "fields": spec}
        updates.append({"action": "add-spec", "spec": numbered})
        updates.append({"action": "set-default-spec", "spec-id": -1})
    floor = shown.last_updated_ms - _SKEW_MILLIS
    for one in missing:
        told = msgspec.structs.replace(
            one,
            schema_id=schema_ids[one.schema_id],
            timestamp_ms=max(one.timestamp_ms, floor),
        )
        updates.append({"action": "add-snapshot", "snapshot": msgspec.to_builtins(told)})
        floor = told.timestamp_ms
    if shown.current_id != metadata.current_snapshot_id:
        updates.append(
            {
                "action": "set-snapshot-ref",
                "ref-name": _MAIN,
                "type": "branch",
                "snapshot-id": metadata.current_snapshot_id,
            }
        )
    updates += _updates_of_tags(shown, metadata, missing)
    listed = {one.snapshot_id for one in metadata.snapshots}
    gone = sorted({one.snapshot_id for one in shown.snapshots} - listed)
    if gone:
        updates.append({"action": "remove-snapshots", "snapshot-ids": gone})
    properties = {**metadata.properties, **_properties(options)}
    told_properties = {
        key: value for key, value in properties.items() if shown.properties.get(key) != value
    }
    if told_properties:
        updates.append({"action": "set-properties", "updates": told_properties})
    requirements: list[dict[str, Any]] = [
        {"type": "assert-table-uuid", "uuid": shown.table_uuid},
        {"type": "assert-ref-snapshot-id", "ref": _MAIN, "snapshot-id": shown.current_id},
        {"type": "assert-current-schema-id", "current-schema-id": shown.current_schema_id},
    ]
    return Changes(requirements=requirements if updates else [], updates=updates)


def registered(metadata: TableMetadata, options: IcebergOptions, now_millis: int) -> bytes:
    """Return the file that a catalog takes over, as if the table had been made by updates."""
    nothing = ShownTable(format_version=metadata.format_version, table_uuid="", schemas=[])
    ids, new = _schema_ids(nothing, metadata)
    snapshots = [
        msgspec.structs.replace(one, schema_id=ids.get(one.schema_id, one.schema_id))
        for one in metadata.snapshots
    ]
    return msgspec.structs.replace(
        metadata,
        schemas=new,
        current_schema_id=ids[metadata.current_schema_id],
        snapshots=snapshots,
        last_updated_ms=max(metadata.last_updated_ms, now_millis),
        properties={**metadata.properties, **_properties(options)},
        refs={
            **metadata.refs,
            _MAIN: IcebergRef(
                snapshot_id=metadata.current_snapshot_id, type="branch", max_ref_age_ms=None
            ),
        },
    ).to_json()


def _missing(shown: ShownTable, metadata: TableMetadata) -> list[IcebergSnapshot]:
    """Return the snapshots to add, oldest first."""
    known = {(one.snapshot_id, same_place(one.manifest_list)) for one in shown.snapshots}
    lacking = [
        (one.snapshot_id, same_place(one.manifest_list)) not in known for one in metadata.snapshots
    ]
    if True not in lacking:
        return []
    if False not in lacking:
        return metadata.snapshots[-1:]
    last_known = len(lacking) - 1 - lacking[::-1].index(False)
    return metadata.snapshots[last_known + 1 :]


def _schema_ids(
    shown: ShownTable, metadata: TableMetadata
) -> tuple[dict[int, int], list[dict[str, Any]]]:
    """Say by which ids a catalog knows schemas.

    Returns
    -------
    ids : dict
        By Paimon's ids.
    new : list
        Schemas that the catalog lacks.
    """
    known = {_described(one): one["schema-id"] for one in reversed(shown.schemas)}
    following = max([0, *(one["schema-id"] for one in shown.schemas)]) + 1
    ids, new = dict[int, int](), list[dict[str, Any]]()
    for schema in metadata.schemas:
        described = _described(schema)
        if described not in known:
            known[described] = following
            new.append({**schema, "schema-id": following})
            following += 1
        ids[schema["schema-id"]] = known[described]
    return ids, new


def _updates_of_tags(
    shown: ShownTable, metadata: TableMetadata, missing: Sequence[IcebergSnapshot]
) -> list[dict[str, Any]]:
    listed = {one.snapshot_id for one in metadata.snapshots}
    there = {one.snapshot_id for one in shown.snapshots} | {one.snapshot_id for one in missing}
    there &= listed
    wanted = {name: ref for name, ref in metadata.refs.items() if ref.snapshot_id in there}
    known = {name: ref.snapshot_id for name, ref in shown.refs.items() if ref.type == "tag"}
    updates: list[dict[str, Any]] = [
        {"action": "remove-snapshot-ref", "ref-name": name} for name in known if name not in wanted
    ]
    for name, ref in wanted.items():
        if known.get(name) != ref.snapshot_id and name != _MAIN:
            described = msgspec.to_builtins(ref)
            updates.append({"action": "set-snapshot-ref", "ref-name": name, **described})
    return updates


def _properties(options: IcebergOptions) -> dict[str, str]:
    return {
        "write.metadata.previous-versions-max": str(options.former_versions),
        "write.metadata.delete-after-commit.enabled": str(options.deletes_former).lower(),
    }


def _described(schema: Mapping[str, Any]) -> str:
    """Return what is equal for schemas with the same columns, however they are written."""
    return repr(_plain(schema["fields"]))


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return sorted((key, _plain(one)) for key, one in value.items() if one is not None)
    if isinstance(value, list):
        return [_plain(one) for one in value]
    return value.replace(" ", "") if isinstance(value, str) and "(" in value else value


def _spec(fields: Sequence[Mapping[str, Any]]) -> list[tuple[Any, ...]]:
    return [(one["name"], one["transform"], one["source-id"]) for one in fields]
