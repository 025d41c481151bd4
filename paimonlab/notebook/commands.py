"""What the magics do, as functions: each magic calls one of these and returns what it returns.

Each is in the folder of its view, or where SQL is run, and reads only what it needs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimonlab.notebook.cell.limits import DEFAULT_LIMIT, MANY_ROWS
from paimonlab.notebook.cell.plan_modes import Explained
from paimonlab.on_use import attributes_on_use

if TYPE_CHECKING:
    from paimonlab.notebook.connections.connection import connect
    from paimonlab.notebook.connections.demo import demo
    from paimonlab.notebook.running.execution import (
        Manner,
        check_views,
        lazy,
        parse,
        run,
        sql,
        write,
    )
    from paimonlab.notebook.running.stream_start import newest_rows, streamed
    from paimonlab.notebook.views.changes.command import changes
    from paimonlab.notebook.views.compaction.command import compaction
    from paimonlab.notebook.views.connections.command import list_connections
    from paimonlab.notebook.views.diff.command import diff
    from paimonlab.notebook.views.doctor.command import doctor
    from paimonlab.notebook.views.file.command import file
    from paimonlab.notebook.views.files.command import files
    from paimonlab.notebook.views.fsck.command import fsck
    from paimonlab.notebook.views.health.command import health
    from paimonlab.notebook.views.heatmap.command import heatmap
    from paimonlab.notebook.views.help.command import show_help
    from paimonlab.notebook.views.ingest.command import (
        drop_ingest,
        ingest_cell,
        ingest_jobs,
        name_source,
        steer_ingest,
    )
    from paimonlab.notebook.views.log.command import log
    from paimonlab.notebook.views.lsm.command import lsm
    from paimonlab.notebook.views.manifests.command import manifests
    from paimonlab.notebook.views.planned.command import planned
    from paimonlab.notebook.views.problem.command import problem
    from paimonlab.notebook.views.profile.command import check_profiles, profile, profile_query
    from paimonlab.notebook.views.row.command import row
    from paimonlab.notebook.views.schemas.command import schemas
    from paimonlab.notebook.views.simulator.command import simulate
    from paimonlab.notebook.views.statements.command import explain_parameters, statement_history
    from paimonlab.notebook.views.streams.command import one_stream, stop_stream, streams
    from paimonlab.notebook.views.tables.command import tables
    from paimonlab.notebook.views.timeline.command import timeline
    from paimonlab.notebook.views.travel.command import travel
    from paimonlab.notebook.views.upkeep.command import compact, expire
    from paimonlab.notebook.views.watch.command import stop_watches, watch

__all__ = [
    "DEFAULT_LIMIT",
    "MANY_ROWS",
    "Explained",
    "Manner",
    "changes",
    "check_profiles",
    "check_views",
    "compact",
    "compaction",
    "connect",
    "demo",
    "diff",
    "doctor",
    "drop_ingest",
    "expire",
    "explain_parameters",
    "file",
    "files",
    "fsck",
    "health",
    "heatmap",
    "ingest_cell",
    "ingest_jobs",
    "lazy",
    "list_connections",
    "log",
    "lsm",
    "manifests",
    "name_source",
    "newest_rows",
    "one_stream",
    "parse",
    "planned",
    "problem",
    "profile",
    "profile_query",
    "row",
    "run",
    "schemas",
    "show_help",
    "simulate",
    "sql",
    "statement_history",
    "steer_ingest",
    "stop_stream",
    "stop_watches",
    "streamed",
    "streams",
    "tables",
    "timeline",
    "travel",
    "watch",
    "write",
]

__getattr__, __dir__ = attributes_on_use(
    "paimonlab.notebook",
    Manner="running.execution",
    changes="views.changes.command",
    check_profiles="views.profile.command",
    check_views="running.execution",
    compact="views.upkeep.command",
    compaction="views.compaction.command",
    connect="connections.connection",
    demo="connections.demo",
    diff="views.diff.command",
    doctor="views.doctor.command",
    drop_ingest="views.ingest.command",
    expire="views.upkeep.command",
    explain_parameters="views.statements.command",
    file="views.file.command",
    files="views.files.command",
    fsck="views.fsck.command",
    health="views.health.command",
    heatmap="views.heatmap.command",
    ingest_cell="views.ingest.command",
    ingest_jobs="views.ingest.command",
    lazy="running.execution",
    list_connections="views.connections.command",
    log="views.log.command",
    lsm="views.lsm.command",
    manifests="views.manifests.command",
    name_source="views.ingest.command",
    newest_rows="running.stream_start",
    one_stream="views.streams.command",
    parse="running.execution",
    planned="views.planned.command",
    problem="views.problem.command",
    profile="views.profile.command",
    profile_query="views.profile.command",
    row="views.row.command",
    run="running.execution",
    schemas="views.schemas.command",
    show_help="views.help.command",
    simulate="views.simulator.command",
    sql="running.execution",
    statement_history="views.statements.command",
    steer_ingest="views.ingest.command",
    stop_stream="views.streams.command",
    stop_watches="views.watch.command",
    streamed="running.stream_start",
    streams="views.streams.command",
    tables="views.tables.command",
    timeline="views.timeline.command",
    travel="views.travel.command",
    watch="views.watch.command",
    write="running.execution",
)
