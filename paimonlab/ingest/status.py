"""What a job is doing, as values: others show them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from paimonlab.ingest.changes import JsonValue
from paimonlab.ingest.epochs import shown


@dataclass(frozen=True, slots=True, kw_only=True)
class TableStatus:
    """What became of one table in this run of a job."""

    name: str
    """``database.table`` here."""
    sources: tuple[str, ...]
    rows: int
    """Committed in this run."""
    rows_per_second: float
    """Committed over the time of this run."""
    snapshot_id: int | None
    """Of its last commit in this run; None: there was none."""
    stopped: str | None
    """Why it cannot go on; None: it can."""
    skipped: int
    """Rows that came after it stopped."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JobStatus:
    """What a job is doing. Times are epoch milliseconds."""

    name: str
    source: str
    phase: str
    """``idle``, ``starting``, ``snapshot``, ``stream``, ``caught up``, ``paused``, ``stopped``,
    ``interrupted``, ``failed``"""
    epoch: int
    """The newest one that is committed; 0: none is."""
    position: JsonValue
    """Of the source after it."""
    rows: int
    """Rows committed by the job since it was created."""
    dead: int
    """Rows set aside since it was created."""
    pending_rows: int
    """Read but not committed yet."""
    pending_bytes: int
    lag_millis: int | None
    """How old the newest change was when it was committed; None: unknown."""
    behind: int | None
    """What is still to be read, in ``behind_unit``; None: unknown."""
    behind_unit: str
    began_millis: int | None
    """When this run began; None: it has not."""
    committed_millis: int | None
    """When the last epoch was committed."""
    tables: tuple[TableStatus, ...]
    warnings: tuple[str, ...]
    error: str | None
    """Why it failed."""
    snapshot_rows: int | None = None
    """Rows read of those that tables had when the job began; None: they have all been read."""
    snapshot_total: int | None = None
    """About how many those are, as the source estimates; None: unknown, or all have been read."""

    def to_dict(self) -> dict[str, Any]:
        """Return it as what JSON can say."""
        made = {name: getattr(self, name) for name in JobStatus.__slots__}
        made["tables"] = [
            {name: getattr(table, name) for name in TableStatus.__slots__} for table in self.tables
        ]
        return made

    def __str__(self) -> str:
        """Say it in lines of text."""
        behind = "" if self.behind is None else f", {self.behind:,} {self.behind_unit} behind"
        so_far = f"epoch {self.epoch}, {self.rows:,} rows{behind}"
        if self.snapshot_rows is not None:
            about = "" if self.snapshot_total is None else f" of about {self.snapshot_total:,}"
            so_far += f", {self.snapshot_rows:,}{about} rows of the snapshot read"
        lines = [f"{self.name} from {self.source}: {self.phase}, {so_far}"]
        if self.committed_millis is not None:
            at = datetime.fromtimestamp(self.committed_millis / 1000, UTC)
            lag = "" if self.lag_millis is None else f", lag {self.lag_millis / 1000:.1f} s"
            lines.append(f"  last commit {at:%Y-%m-%d %H:%M:%S} UTC{lag}")
        if self.dead:
            lines.append(f"  {self.dead:,} rows set aside")
        wide = max((len(table.name) for table in self.tables), default=0)
        for table in self.tables:
            state = f"stopped: {table.stopped}" if table.stopped else f"{table.rows:,} rows"
            skipped = f" ({table.skipped:,} rows skipped)" if table.skipped else ""
            lines.append(f"  {table.name:{wide}}  {state}{skipped}")
        lines += [f"  warning: {warning}" for warning in self.warnings]
        if self.error is not None:
            lines.append(f"  error: {self.error}")
        return "\n".join(lines)


def prometheus_text(status: JobStatus) -> str:
    """Write a status in the text form that Prometheus reads.

    Source: https://prometheus.io/docs/instrumenting/exposition_formats/
    """
    job = _label("job_name", status.name)
    values: Mapping[str, float | None] = {
        "epoch": status.epoch,
        "rows_total": status.rows,
        "dead_rows_total": status.dead,
        "pending_rows": status.pending_rows,
        "pending_bytes": status.pending_bytes,
        "lag_seconds": None if status.lag_millis is None else status.lag_millis / 1000,
        "behind": status.behind,
        "snapshot_rows": status.snapshot_rows,
        "snapshot_total_rows": status.snapshot_total,
        "last_commit_timestamp_seconds": (
            None if status.committed_millis is None else status.committed_millis / 1000
        ),
        "failed": int(status.phase == "failed"),
    }
    lines = [
        f"paimonlab_ingest_{name}{{{job}}} {value}"
        for name, value in values.items()
        if value is not None
    ]
    for table in status.tables:
        labels = f"{job},{_label('table', table.name)}"
        lines.append(f"paimonlab_ingest_table_rows{{{labels}}} {table.rows}")
        lines.append(f"paimonlab_ingest_table_stopped{{{labels}}} {int(table.stopped is not None)}")
    return "\n".join(lines) + "\n"


def _label(name: str, value: str) -> str:
    escaped = value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'{name}="{escaped}"'


def position_text(position: JsonValue, limit: int = 200) -> str:
    """Write a position for messages, not longer than a limit."""
    text = shown(position)
    return text if len(text) <= limit else f"{text[: limit - 1]}…"
