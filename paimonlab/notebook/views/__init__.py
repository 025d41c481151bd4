"""Metadata as plain values, ready to be shown.

Pure functions from the values of the layers below to Structs, a module for each view. The
Structs are the one contract between Python, static HTML and the modules that draw them in a
browser; `display` turns them into HTML and text.
"""

from __future__ import annotations

from paimonlab.analysis.buckets.heatmap import (
    Heatmap,
    HeatmapColumn,
    HeatmapRow,
    repeatable_heatmap,
)
from paimonlab.analysis.buckets.skew import Skew
from paimonlab.analysis.compactions.compaction import Call, Compaction, Untouched
from paimonlab.analysis.compactions.compaction_picks import Pick
from paimonlab.analysis.compactions.compaction_runs import (
    BucketChange,
    CompactionRun,
    FileSum,
    LevelSum,
)
from paimonlab.analysis.files.data_file import (
    DataFileView,
    FileColumn,
    FilePartNode,
    FileRows,
    data_file,
    repeatable_file,
)
from paimonlab.analysis.files.file_sizes import Advice, SizeBin
from paimonlab.analysis.health.fsck_summary import Fsck
from paimonlab.analysis.health.health_summary import Health, repeatable_health
from paimonlab.analysis.levels.lsm import Lsm, LsmBucket
from paimonlab.analysis.levels.lsm_files import LsmFile
from paimonlab.analysis.levels.lsm_steps import LsmStep
from paimonlab.analysis.manifests.manifest_nodes import (
    EntryNode,
    EntrySums,
    IndexFileNode,
    IndexNode,
    ManifestListNode,
    ManifestNode,
    ManifestTree,
    VectorNode,
    repeatable_manifests,
)
from paimonlab.analysis.planned_call import (
    PlannedCall,
    PlannedChange,
    planned_call,
    repeatable_call,
)
from paimonlab.analysis.schema_history import (
    SchemaColumn,
    SchemaDifference,
    SchemaHistory,
    SchemaUse,
    SchemaVersion,
    repeatable_schemas,
    schema_history,
)
from paimonlab.analysis.simulation.simulator import OPTIONS as SIMULATED_OPTIONS
from paimonlab.analysis.simulation.simulator import (
    Simulation,
    Simulator,
    SimulatorSlider,
    simulation,
)
from paimonlab.analysis.snapshots.commit_log import Log, LogEntry, repeatable_log
from paimonlab.analysis.snapshots.diff import Diff, DiffFile, DiffGroup, DiffSide, repeatable_diff
from paimonlab.analysis.snapshots.file_totals import FileTotals, Sums
from paimonlab.analysis.snapshots.timeline import (
    Timeline,
    TimelineBranch,
    TimelineGroup,
    TimelinePoint,
    repeatable,
)
from paimonlab.analysis.snapshots.timeline_making import with_files
from paimonlab.analysis.snapshots.watched import (
    Watch,
    WatchedCommit,
    WatchedLevel,
    WatchedRows,
)
from paimonlab.notebook.cell.problem import (
    MESSAGE_CHARACTERS,
    Problem,
    ProblemLine,
    bounded_trace,
    problem_lines,
)
from paimonlab.notebook.cell.statement_entries import (
    ParameterEntry,
    Parameters,
    StatementEntry,
    Statements,
)
from paimonlab.notebook.display.view import View, rows
from paimonlab.notebook.results.table.value import ResultCells, ResultColumn, ResultRows
from paimonlab.notebook.views.changes.value import ChangeCount, ChangedRow, ChangeList
from paimonlab.notebook.views.connections.value import ConnectionEntry, ConnectionList
from paimonlab.notebook.views.doctor.value import Doctor, repeatable_doctor
from paimonlab.notebook.views.files.value import FileMap, Tile, file_map, repeatable_files
from paimonlab.notebook.views.help.value import HelpEntry, HelpPage
from paimonlab.notebook.views.ingest.value import (
    IngestCommit,
    IngestEntry,
    IngestEvent,
    IngestJobs,
    IngestTable,
    repeatable_jobs,
)
from paimonlab.notebook.views.planned.value import PlannedQuery, PlannedRead
from paimonlab.notebook.views.profile.value import Profile, ProfileColumn
from paimonlab.notebook.views.row.value import RowFile, RowLife, RowStep
from paimonlab.notebook.views.streams.value import (
    StreamEntry,
    StreamList,
    StreamRows,
    repeatable_streams,
)
from paimonlab.notebook.views.tables.value import TableEntry, TableList
from paimonlab.notebook.views.travel.value import Travel, TravelStep, TravelStop, spread, stops

__all__ = [
    "INTERACTIVE",
    "MESSAGE_CHARACTERS",
    "SIMULATED_OPTIONS",
    "Advice",
    "BucketChange",
    "Call",
    "ChangeCount",
    "ChangeList",
    "ChangedRow",
    "Compaction",
    "CompactionRun",
    "ConnectionEntry",
    "ConnectionList",
    "DataFileView",
    "Diff",
    "DiffFile",
    "DiffGroup",
    "DiffSide",
    "Doctor",
    "EntryNode",
    "EntrySums",
    "FileColumn",
    "FileMap",
    "FilePartNode",
    "FileRows",
    "FileSum",
    "FileTotals",
    "Fsck",
    "Health",
    "Heatmap",
    "HeatmapColumn",
    "HeatmapRow",
    "HelpEntry",
    "HelpPage",
    "IndexFileNode",
    "IndexNode",
    "IngestCommit",
    "IngestEntry",
    "IngestEvent",
    "IngestJobs",
    "IngestTable",
    "LevelSum",
    "Log",
    "LogEntry",
    "Lsm",
    "LsmBucket",
    "LsmFile",
    "LsmStep",
    "ManifestListNode",
    "ManifestNode",
    "ManifestTree",
    "ParameterEntry",
    "Parameters",
    "Pick",
    "PlannedCall",
    "PlannedChange",
    "PlannedQuery",
    "PlannedRead",
    "Problem",
    "ProblemLine",
    "Profile",
    "ProfileColumn",
    "ResultCells",
    "ResultColumn",
    "ResultRows",
    "RowFile",
    "RowLife",
    "RowStep",
    "SchemaColumn",
    "SchemaDifference",
    "SchemaHistory",
    "SchemaUse",
    "SchemaVersion",
    "Simulation",
    "Simulator",
    "SimulatorSlider",
    "SizeBin",
    "Skew",
    "StatementEntry",
    "Statements",
    "StreamEntry",
    "StreamList",
    "StreamRows",
    "Sums",
    "TableEntry",
    "TableList",
    "Tile",
    "Timeline",
    "TimelineBranch",
    "TimelineGroup",
    "TimelinePoint",
    "Travel",
    "TravelStep",
    "TravelStop",
    "Untouched",
    "VectorNode",
    "View",
    "Watch",
    "WatchedCommit",
    "WatchedLevel",
    "WatchedRows",
    "bounded_trace",
    "data_file",
    "file_map",
    "planned_call",
    "problem_lines",
    "repeatable",
    "repeatable_call",
    "repeatable_diff",
    "repeatable_doctor",
    "repeatable_file",
    "repeatable_files",
    "repeatable_health",
    "repeatable_heatmap",
    "repeatable_jobs",
    "repeatable_log",
    "repeatable_manifests",
    "repeatable_schemas",
    "repeatable_streams",
    "rows",
    "schema_history",
    "simulation",
    "spread",
    "stops",
    "with_files",
]

INTERACTIVE = (
    Simulator,
    Diff,
    Timeline,
    ManifestTree,
    Heatmap,
    Lsm,
    Health,
    ChangeList,
    FileMap,
    Log,
    SchemaHistory,
    ResultRows,
    Compaction,
    Travel,
    DataFileView,
    Profile,
    Doctor,
    Fsck,
    Statements,
    TableList,
    StreamList,
    RowLife,
    Watch,
    IngestJobs,
)
"""The values that have an interactive form; `tools.view_types` writes their types for it."""
