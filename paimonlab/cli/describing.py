"""``paimonlab describe``: what a table is, at a glance."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import click

from paimonlab import cli
from paimonlab.cli.arguments import json_flag, on_table
from paimonlab.cli.commands import command
from paimonlab.clock import now_millis
from paimonlab.secrets import redacted
from paimonlab.spec.byte_counts import bytes_text
from paimonlab.spec.plurals import many
from paimonlab.spec.rows_said import rows_said
from paimonlab.table import system

if TYPE_CHECKING:
    from paimonlab.spec.snapshot import Snapshot
    from paimonlab.table.table import Table

_COLUMNS = ("column", "type", "key", "default", "comment")
_AGES = ((86_400_000, "day"), (3_600_000, "hour"), (60_000, "minute"), (1_000, "second"))


@command()
@on_table
@json_flag
def describe(table: Table, *, as_json: bool) -> None:
    """Say what a table is: keys, columns, options, size, the last commit.

    'paimonlab DB.TABLE' does the same. Only metadata is read.
    """
    facts = _facts(table)
    click.echo(cli.output.json_text(facts) if as_json else "\n".join(_lines(table, facts)))


def _facts(table: Table) -> Mapping[str, Any]:
    schema, snapshot = table.schema, table.snapshot
    parts = system.open_system_table(table, "partitions").scan().to_arrow()
    return {
        "table": table.name,
        "comment": schema.comment,
        "primary_keys": table.primary_keys,
        "partition_keys": table.partition_keys,
        "bucket": table.options.get("bucket", "-1"),
        "rows_before_merging": snapshot.total_record_count if snapshot else 0,
        "files": sum(parts["file_count"].to_pylist()),
        "bytes": sum(parts["file_size_in_bytes"].to_pylist()),
        "partitions": parts.num_rows if table.partition_keys else None,
        "snapshots": len(table.snapshots.ids()),
        "tags": list(table.tags),
        "branches": list(table.branches),
        "last_commit": None if snapshot is None else _commit(snapshot),
        "columns": [
            {
                "column": field.name,
                "type": cli.output.type_text(field.type),
                "key": _key(table, field.name),
                "default": field.default_value,
                "comment": field.description,
            }
            for field in schema.fields
        ],
        "options": redacted(schema.options),
    }


def _key(table: Table, name: str) -> str:
    parts = ["primary key"] if name in table.primary_keys else []
    return ", ".join([*parts, *(["partition"] if name in table.partition_keys else [])])


def _commit(snapshot: Snapshot) -> Mapping[str, Any]:
    return {
        "snapshot_id": snapshot.id,
        "kind": snapshot.commit_kind.value,
        "rows": snapshot.delta_record_count,
        "user": snapshot.commit_user,
        "time_millis": snapshot.time_millis,
    }


def _lines(table: Table, facts: Mapping[str, Any]) -> Iterator[str]:
    kind = f"primary key {', '.join(table.primary_keys)}" if table.primary_keys else "append"
    about = [kind]
    if table.partition_keys:
        about.append(f"partitioned by {', '.join(table.partition_keys)}")
    if facts["bucket"] != "-1":
        about.append(f"bucket {facts['bucket']}")
    yield f"{table.name}: {'; '.join(about)}"
    if facts["comment"]:
        yield facts["comment"]
    yield ""
    rows = many(facts["rows_before_merging"], "row")
    before_merging = " before merging" if table.primary_keys else ""
    size = [
        f"{rows}{before_merging}",
        many(facts["files"], "file"),
        bytes_text(facts["bytes"]),
    ]
    if facts["partitions"] is not None:
        size.append(many(facts["partitions"], "partition"))
    yield ", ".join(size)
    names = [_named(what, facts[what]) for what in ("tags", "branches")]
    yield ", ".join(filter(None, [many(facts["snapshots"], "snapshot"), *names]))
    if facts["last_commit"] is not None:
        yield f"last commit {_told(facts['last_commit'])}"
    yield ""
    columns = [column for column in _COLUMNS if any(one[column] for one in facts["columns"])]
    texts = {name: [one[name] or "" for one in facts["columns"]] for name in columns}
    yield from cli.output.texts_in_columns(texts)
    if facts["options"]:
        yield ""
        yield "options: " + ", ".join(f"{key}={value}" for key, value in facts["options"].items())


def _told(commit: Mapping[str, Any]) -> str:
    rows = commit["rows"]
    changed = "" if rows is None else f", {rows_said(commit['kind'], rows)}"
    return (
        f"{_age(now_millis() - commit['time_millis'])}: {commit['kind'].lower()}{changed} "
        f"(snapshot {commit['snapshot_id']})"
    )


def _age(millis: int) -> str:
    for length, name in _AGES:
        if millis >= length:
            return f"{many(millis // length, name)} ago"
    return "just now"


def _named(what: str, names: list[str]) -> str:
    return f"{what} {', '.join(names)}" if names else ""
