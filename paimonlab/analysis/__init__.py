"""Facts of a table: its levels, compactions, files, snapshots, manifests, health.

Answers what a table looks like, in frozen values: for scripts, for the notebook to draw, for the
command line to print. Knows `Table` and everything below it; must not know how a value is shown,
Spark, IPython or pandas. Modules named ``reading_…`` read metadata, most others are pure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimonlab.on_use import attributes_on_use

if TYPE_CHECKING:
    from paimonlab.analysis.buckets.reading_heatmap import heatmap_of
    from paimonlab.analysis.compactions.reading_compactions import compactions_of
    from paimonlab.analysis.files.reading_data_file import data_file_of
    from paimonlab.analysis.health.catalog_health import catalog_health
    from paimonlab.analysis.levels.reading_levels import levels_of
    from paimonlab.analysis.manifests.reading_manifests import manifest_tree_of
    from paimonlab.analysis.rows.row_changes import compared, reported
    from paimonlab.analysis.rows.sampled_scan import sampled_scan
    from paimonlab.analysis.rows.settled_columns import settled_columns
    from paimonlab.analysis.simulation.reading_flushes import flushes_of
    from paimonlab.analysis.snapshots.snapshot_plan import snapshot_plan

__all__ = [
    "catalog_health",
    "compactions_of",
    "compared",
    "data_file_of",
    "flushes_of",
    "heatmap_of",
    "levels_of",
    "manifest_tree_of",
    "reported",
    "sampled_scan",
    "settled_columns",
    "snapshot_plan",
]

__getattr__, __dir__ = attributes_on_use(
    __name__,
    catalog_health="health.catalog_health",
    compactions_of="compactions.reading_compactions",
    compared="rows.row_changes",
    data_file_of="files.reading_data_file",
    flushes_of="simulation.reading_flushes",
    heatmap_of="buckets.reading_heatmap",
    levels_of="levels.reading_levels",
    manifest_tree_of="manifests.reading_manifests",
    reported="rows.row_changes",
    sampled_scan="rows.sampled_scan",
    settled_columns="rows.settled_columns",
    snapshot_plan="snapshots.snapshot_plan",
)
