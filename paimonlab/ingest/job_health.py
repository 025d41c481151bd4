"""Whether jobs bring in what they should: findings about the tables that they write to.

Only the notes of jobs in the warehouse are read. The rules are functions of what those say.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import msgspec

from paimonlab.analysis.health.actions import Action, select, shell
from paimonlab.analysis.health.measures import Thresholds
from paimonlab.analysis.health.report import (
    SEVERITIES,
    HealthFinding,
    Severity,
    TableHealth,
    nothing_of,
)
from paimonlab.catalog import Catalog
from paimonlab.clock import now_millis
from paimonlab.errors import PaimonError
from paimonlab.ingest import dead_letters, leases
from paimonlab.ingest.changes import Phase
from paimonlab.ingest.epochs import Known, Stopped
from paimonlab.ingest.job import files_of, noted_jobs

_DAY_MILLIS = 86_400_000
_TEXT_CHARACTERS = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class JobMeasures:
    """What the rules look at: one job, as its notes say. Times are epoch milliseconds."""

    name: str
    tables: tuple[str, ...]
    """``database.table`` here, sorted."""
    is_running: bool
    """Whether some process runs it, as its lease says."""
    phase: str
    """What its source was doing at the end of its newest epoch."""
    made_millis: int
    """When that epoch was made."""
    seen_millis: int | None
    """When the source made the newest change of it; None: unknown."""
    dead: int
    """Rows set aside."""
    failed: str | None
    """Why its last run ended; None: it did not fail."""
    stalled: str | None = None
    """Since when it has made no progress; None: it does, or that is not known."""
    stopped: Mapping[str, Stopped] = field(default_factory=dict)
    """By table here."""
    skipped: Mapping[str, int] = field(default_factory=dict)
    refused: Collection[str] = ()
    """Those of ``stopped`` that its source could never read, which may not exist."""


def with_jobs(
    catalog: Catalog,
    reports: Sequence[TableHealth],
    limits: Thresholds | None = None,
    *,
    is_whole: bool = False,
) -> list[TableHealth]:
    """Add what is to be said of the jobs of a warehouse to the health of its tables.

    Parameters
    ----------
    catalog
        Whose warehouse has the notes; notes in other folders (``state=``) are not known.
    reports
        Of tables of it.
    limits
        From which something is reported; None: the defaults.
    is_whole
        Whether the reports are of all tables: then there are some, too, of tables that a job does
        not make, since its source cannot read them.
    """
    found: dict[str, list[HealthFinding]] = {}
    every = list(reports)
    for name in (job.name for job in noted_jobs(catalog)):
        measures = measured(catalog, name)
        if measures is None:
            continue
        for table, finding in findings(measures, limits or Thresholds(), now_millis()):
            found.setdefault(table, []).append(finding)
        if is_whole:
            there = {report.table for report in every}
            every += [nothing_of(table) for table in measures.refused if table not in there]
    return [_with(report, found.get(report.table, [])) for report in every]


def _with(report: TableHealth, more: Sequence[HealthFinding]) -> TableHealth:
    if not more:
        return report
    every = sorted((*report.findings, *more), key=lambda one: SEVERITIES.index(one.severity))
    return msgspec.structs.replace(report, findings=tuple(every))


def measured(catalog: Catalog, name: str) -> JobMeasures | None:
    """Read the notes of a job; None: it has none, or they are damaged, which its next run says."""
    files = files_of(catalog, name)
    try:
        newest = files.newest()
        if newest is None:
            return None
        epoch, _ = newest
        owner = leases.owner_of(files.file_io, files.folder)
        is_running = owner is not None and bool(
            leases.runs(files.file_io, files.folder, owner, leases.LIVES_MILLIS, now_millis())
        )
        known = files.known(epoch.known) if epoch.known else None
        events = files.events()
    except (PaimonError, OSError):
        return None
    last = events[-1] if events else None
    has_failed = last is not None and last.kind == "failed"
    has_stalled = last is not None and last.kind == "stalled" and last.at_millis > epoch.made_millis
    if last is not None and owner is not None and owner.at_millis > last.at_millis:
        has_failed = has_stalled = False  # another run came after it
    tables = {commit.table for commit in epoch.commits}
    if known is not None:
        tables |= {*known.targets.values(), *known.stopped}
    tables = {one for one in tables if not one.endswith(dead_letters.table_of("", name))}
    return JobMeasures(
        name=name,
        tables=tuple(sorted(tables)),
        is_running=is_running,
        phase=epoch.phase,
        made_millis=epoch.made_millis,
        seen_millis=epoch.seen_millis,
        dead=epoch.dead,
        failed=last.text if last is not None and has_failed else None,
        stalled=last.text if last is not None and has_stalled else None,
        stopped={} if known is None else known.stopped,
        skipped={} if known is None else known.skipped,
        refused=() if known is None else _refused(catalog, known),
    )


def _refused(catalog: Catalog, known: Known) -> tuple[str, ...]:
    """Return the tables that stopped before they were created."""
    places = {*known.targets.values()}
    return tuple(
        sorted(name for name in known.stopped if name not in places or not catalog.has_table(name))
    )


def findings(job: JobMeasures, limits: Thresholds, now: int) -> Iterator[tuple[str, HealthFinding]]:
    """Say of each table of a job what could be better.

    Parameters
    ----------
    job
        What its notes say.
    limits
        From which something is reported.
    now
        Epoch milliseconds.
    """
    where = f"ingest job {job.name}"
    status = Action(shell=shell("ingest", "status", job.name))  # what the notes know, in full
    for table, stopped in job.stopped.items():
        skipped = job.skipped.get(table, 0)
        if table in job.refused:
            message = f"its source cannot be read: {stopped.reason[:_TEXT_CHARACTERS]}"
            yield table, _finding("ingest-stopped", "error", message, (0, 0, "rows"), where, status)
            continue
        yield (
            table,
            _finding(
                "ingest-stopped",
                "error",
                (
                    f"it cannot follow its source any more, and {skipped:,} rows were skipped: "
                    f"{stopped.reason[:_TEXT_CHARACTERS]}. To read it anew drop the table and "
                    "run a job of another name"
                ),
                (skipped, 0, "rows"),
                where,
                status,
            ),
        )
    going = [table for table in job.tables if table not in job.stopped]
    late = _late(job, limits, now)
    if late is not None:
        code, severity, message, figures = late
        for table in going:
            yield table, _finding(code, severity, message, figures, where, status)
    if job.dead > limits.ingest_dead_rows:
        databases = sorted({table.partition(".")[0] for table in job.tables})
        for database in databases:
            letters = dead_letters.table_of(database, job.name)
            yield (
                letters,
                _finding(
                    "ingest-dead-letters",
                    "warning",
                    f"{job.dead:,} rows of its source could not be stored and were set aside here: "
                    "the tables of the job lack them",
                    (job.dead, limits.ingest_dead_rows, "rows"),
                    where,
                    select(letters),
                ),
            )


_Figures = tuple[float, float, str]


def _late(
    job: JobMeasures, limits: Thresholds, now: int
) -> tuple[str, Severity, str, _Figures] | None:
    """Say why tables are older than their source may be."""
    days = max(now - job.made_millis, 0) / _DAY_MILLIS
    if job.is_running and job.stalled is not None:
        return (
            "ingest-stalled",
            "error",
            f"its process runs, and nothing was committed since: {job.stalled[:_TEXT_CHARACTERS]}",
            (days, 0.0, "days"),
        )
    return _slow(job, limits) if job.is_running else _ended(job, limits, days)


def _slow(job: JobMeasures, limits: Thresholds) -> tuple[str, Severity, str, _Figures] | None:
    if job.seen_millis is not None:
        lag = (job.made_millis - job.seen_millis) / 1000
        if lag <= limits.ingest_lag_seconds:
            return None
        return (
            "ingest-lag",
            "warning",
            (
                f"the newest change of its last commit was {lag:,.0f} s old: the job cannot keep "
                "up, or catches up after a pause"
            ),
            (lag, limits.ingest_lag_seconds, "seconds"),
        )
    return None


def _ended(
    job: JobMeasures, limits: Thresholds, days: float
) -> tuple[str, Severity, str, _Figures] | None:
    if job.failed is not None:
        return (
            "ingest-failed",
            "error",
            (
                f"its job failed, and no process runs it: {job.failed[:_TEXT_CHARACTERS]}. "
                "The next run of it goes on where it ended"
            ),
            (days, 0.0, "days"),
        )
    if job.phase != Phase.ENDED.value and days > limits.ingest_idle_days:
        return (
            "ingest-idle",
            "warning",
            (
                f"no process runs its job, which committed last {days:,.1f} days ago: "
                "the next run of it goes on from there"
            ),
            (days, limits.ingest_idle_days, "days"),
        )
    return None


def _finding(
    code: str,
    severity: Severity,
    message: str,
    figures: _Figures,
    where: str,
    action: Action,
) -> HealthFinding:
    value, threshold, unit = figures
    return HealthFinding(
        code=code,
        severity=severity,
        message=message,
        measured=value,
        threshold=threshold,
        unit=unit,
        where=where,
        sql=action.sql,
        python=action.python,
        shell=action.shell,
    )
