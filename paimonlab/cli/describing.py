"""``paimonlab describe``: what a table is, at a glance."""

from __future__ import annotations

import shutil
import sys
import textwrap
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
_SHORTENED = ("comment", "default", "type", "column")
"""What is shortened to fit a terminal, in this order."""
_LEAST = 20
"""Letters that are left of it."""
_GAP = 2
"""Blanks between columns."""
_AGES = ((86_400_000, "day"), (3_600_000, "hour"), (60_000, "minute"), (1_000, "second"))


@command()
@on_table
@json_flag
def describe(table: Table, *, as_json: bool) -> None:
    """Say what a table is: keys, columns, options, size, the last commit.

    'paimonlab DB.TABLE' does the same. Only metadata is read. A terminal gets lines that fit it;
    long types are whole elsewhere, and with --json.
    """
    facts = _facts(table)
    if as_json:
        click.echo(cli.output.json_text(facts))
        return
    width = shutil.get_terminal_size().columns if _is_terminal() else None
    click.echo("\n".join(_lines(table, facts, width)))


def _is_terminal() -> bool:
    return sys.stdout.isatty()


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


def _lines(table: Table, facts: Mapping[str, Any], width: int | None) -> Iterator[str]:
    before, columns, after = _parts(table, facts)
    yield from (part for line in before for part in _wrapped(line, width))
    yield from cli.output.texts_in_columns(_fitting(columns, width))
    yield from (part for line in after for part in _wrapped(line, width))


def _wrapped(line: str, width: int | None) -> list[str]:
    if width is None or len(line) <= width:
        return [line]
    return textwrap.wrap(
        line, width, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False
    )


def _fitting(columns: Mapping[str, list[str]], width: int | None) -> Mapping[str, list[str]]:
    """Shorten what explains a column, then its name, until a row is no wider than ``width``."""
    if width is None:
        return columns
    wide = {name: max(map(len, (name, *texts))) for name, texts in columns.items()}
    over = sum(wide.values()) + _GAP * (len(wide) - 1) - width
    for name in (one for one in _SHORTENED if one in wide):
        taken = max(0, min(over, wide[name] - _LEAST))
        wide[name] -= taken
        over -= taken
    return {
        name: [text if len(text) <= wide[name] else f"{text[: wide[name] - 1]}…" for text in texts]
        for name, texts in columns.items()
    }


def _parts(
    table: Table, facts: Mapping[str, Any]
) -> tuple[list[str], Mapping[str, list[str]], list[str]]:
    """Return lines, the columns of the table by what is said of them, and more lines."""
    kind = f"primary key {', '.join(table.primary_keys)}" if table.primary_keys else "append"
    about = [kind]
    if table.partition_keys:
        about.append(f"partitioned by {', '.join(table.partition_keys)}")
    if facts["bucket"] != "-1":
        about.append(f"bucket {facts['bucket']}")
    before = [f"{table.name}: {'; '.join(about)}"]
    if facts["comment"]:
        before.append(facts["comment"])
    before.append("")
    rows = many(facts["rows_before_merging"], "row")
    before_merging = " before merging" if table.primary_keys else ""
    size = [
        f"{rows}{before_merging}",
        many(facts["files"], "file"),
        bytes_text(facts["bytes"]),
    ]
    if facts["partitions"] is not None:
        size.append(many(facts["partitions"], "partition"))
    before.append(", ".join(size))
    names = [_named(what, facts[what]) for what in ("tags", "branches")]
    before.append(", ".join(filter(None, [many(facts["snapshots"], "snapshot"), *names])))
    if facts["last_commit"] is not None:
        before.append(f"last commit {_told(facts['last_commit'])}")
    before.append("")
    columns = [column for column in _COLUMNS if any(one[column] for one in facts["columns"])]
    texts = {name: [one[name] or "" for one in facts["columns"]] for name in columns}
    options = ", ".join(f"{key}={value}" for key, value in facts["options"].items())
    return before, texts, ["", f"options: {options}"] if options else []


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
