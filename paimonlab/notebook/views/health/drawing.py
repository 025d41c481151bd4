"""How well tables are maintained: findings, what to do about each, and the tables' own numbers."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import pyarrow as pa

from paimonlab.analysis.health.health_summary import Health
from paimonlab.analysis.health.report import HealthFinding, TableHealth
from paimonlab.notebook.display.drawn import Drawn
from paimonlab.notebook.display.grid import Align, Column, Grid, texts
from paimonlab.notebook.display.numbers import bytes_text, count, many

MARKS = {"error": "✖ error", "warning": "▲ warning", "info": "● info", "ok": "✔ ok"}

_FINDINGS = pa.schema(
    [
        ("table", pa.string()),
        ("code", pa.string()),
        ("severity", pa.string()),
        ("message", pa.string()),
        ("measured", pa.float64()),
        ("threshold", pa.float64()),
        ("unit", pa.string()),
        ("where", pa.string()),
        ("sql", pa.string()),
        ("python", pa.string()),
        ("shell", pa.string()),
    ]
)


def draw(health: Health) -> Drawn[Health]:
    """Draw the findings, the worst first, then the tables."""
    link = health.tables[0].table if len(health.tables) == 1 else ""
    return Drawn(
        health,
        _findings(health),
        partial(_arrow, health),
        others=(_tables(health),),
        link=link,
    )


def _arrow(health: Health) -> pa.Table:
    return pa.Table.from_pylist(list(_records(health)), schema=_FINDINGS)


def _findings(health: Health) -> Grid:
    columns = (
        Column("table", rank=2 if len(health.tables) == 1 else 0),
        Column("severity"),
        Column("code", rank=1),
        Column("where", is_optional=True),
        Column("what", is_prose=True),
        Column("measured", align=Align.RIGHT, rank=2),
        Column("limit", align=Align.RIGHT, rank=2),
        Column("SQL", is_optional=True, is_prose=True),
        *(Column(name, is_optional=True, is_prose=True, rank=2) for name in ("Python", "Shell")),
    )
    body = []
    for table in health.tables:
        if table.problem:
            problem = ["unreadable", "", table.problem, *[""] * 5]
            body.append(texts([table.table, MARKS["error"], *problem]))
        body += [
            texts([table.table, MARKS[finding.severity], *_finding(finding)])
            for finding in table.findings
        ]
    grid = Grid(columns, body, health.title, _footer(health), _headline(health))
    return grid.without_empty()


def _headline(health: Health) -> str:
    found: list[str] = [finding.severity for table in health.tables for finding in table.findings]
    found += ["error" for table in health.tables if table.problem]
    counts = ((severity, found.count(severity)) for severity in MARKS)
    said = [
        many(number, "note" if severity == "info" else severity)
        for severity, number in counts
        if number
    ]
    return f"{MARKS[health.worst][0]} {', '.join(said) or 'In order: nothing to do'}"


def _finding(finding: HealthFinding) -> list[object]:
    measured = "" if finding.measured is None else f"{finding.measured:,g} {finding.unit}"
    limit = f"{finding.threshold:,g}"
    return [
        finding.code,
        finding.where,
        finding.message,
        measured,
        limit,
        finding.sql,
        finding.python,
        finding.shell,
    ]


def _footer(health: Health) -> str:
    orphans = "" if health.looked_for_orphans else "; orphan files were not looked for"
    return f"{many(len(health.tables), 'table')}; no data file was read{orphans}"


def _tables(health: Health) -> Grid:
    words = {table.rows_are for table in health.tables}
    rows_are = words.pop() if len(words) == 1 else "rows of files"
    columns = [
        Column("table"),
        Column("verdict"),
        Column("snapshot", align=Align.RIGHT, rank=1),
        Column("files", align=Align.RIGHT),
        Column(rows_are, align=Align.RIGHT),
        Column("files on level 0", align=Align.RIGHT),
        Column("snapshots", align=Align.RIGHT, rank=1),
        Column("manifests", align=Align.RIGHT, rank=1),
    ]
    has_sizes = any(table.total_bytes is not None for table in health.tables)
    if has_sizes:
        columns.append(Column("size", align=Align.RIGHT))
    body = [texts(_numbers(table, has_sizes=has_sizes)) for table in health.tables]
    if len(body) == 1:  # its name and its verdict are above
        return Grid(tuple(columns[2:]), [body[0][2:]], "the table")
    return Grid(tuple(columns), body, "tables")


def _numbers(table: TableHealth, *, has_sizes: bool) -> list[object]:
    numbers = [
        table.snapshot_id,
        table.file_count,
        table.record_count,
        table.level_0_files,
        table.snapshot_count,
        table.manifest_count,
    ]
    sizes = [bytes_text(table.total_bytes)] if has_sizes else []
    return [table.table, MARKS[table.worst], *map(count, numbers), *sizes]


def _records(health: Health) -> Iterator[dict[str, object]]:
    for table in health.tables:
        for finding in table.findings:
            names = [name for name in _FINDINGS.names if name != "table"]
            yield {"table": table.table, **{name: getattr(finding, name) for name in names}}
