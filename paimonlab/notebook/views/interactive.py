"""Which values have an interactive form."""

from __future__ import annotations

from paimonlab.analysis.buckets.heatmap import Heatmap
from paimonlab.analysis.compactions.compaction import Compaction
from paimonlab.analysis.files.data_file import DataFileView
from paimonlab.analysis.health.fsck_summary import Fsck
from paimonlab.analysis.health.health_summary import Health
from paimonlab.analysis.levels.lsm import Lsm
from paimonlab.analysis.manifests.manifest_nodes import ManifestTree
from paimonlab.analysis.schema_history import SchemaHistory
from paimonlab.analysis.simulation.simulator import Simulator
from paimonlab.analysis.snapshots.commit_log import Log
from paimonlab.analysis.snapshots.diff import Diff
from paimonlab.analysis.snapshots.timeline import Timeline
from paimonlab.analysis.snapshots.watched import Watch
from paimonlab.notebook.cell.statement_entries import Statements
from paimonlab.notebook.results.table.value import ResultRows
from paimonlab.notebook.views.changes.value import ChangeList
from paimonlab.notebook.views.doctor.value import Doctor
from paimonlab.notebook.views.files.value import FileMap
from paimonlab.notebook.views.ingest.value import IngestJobs
from paimonlab.notebook.views.profile.value import Profile
from paimonlab.notebook.views.row.value import RowLife
from paimonlab.notebook.views.streams.value import StreamList
from paimonlab.notebook.views.tables.value import TableList
from paimonlab.notebook.views.travel.value import Travel

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
"""`tools.view_types` writes their types for it."""
