"""Show the snapshots of a table."""

from __future__ import annotations

from paimonlab.analysis.row_words import rows_are
from paimonlab.analysis.snapshots import timeline_making
from paimonlab.analysis.snapshots.reading_totals import read_totals
from paimonlab.analysis.snapshots.timeline_making import MOST_BRANCHES
from paimonlab.notebook import views
from paimonlab.notebook.kernel.determinism import is_deterministic
from paimonlab.notebook.views.opening import opened
from paimonlab.notebook.views.timeline.drawing import draw
from paimonlab.spec.identifier import MAIN_BRANCH
from paimonlab.spec.snapshot import Snapshot
from paimonlab.storage.together import both
from paimonlab.table.inside import definition_of, store_of
from paimonlab.table.table import Table


def timeline(table: str | Table, *, last: int = 20) -> views.View:
    """Draw the snapshots of a table as a timeline.

    Parameters
    ----------
    table
        ``database.table`` in the connected catalog, or a table.
    last
        How many of the newest snapshots the table and the picture show, at least 1. The
        interactive form has all: the newest 500 one by one, the older ones in groups.

    Raises
    ------
    ValueError
        If ``last`` is less than 1.
    """
    opened_table = opened(table)
    path = opened_table.path
    (snapshots, tags), (consumers, branches) = both(
        path,
        lambda: both(path, opened_table.snapshots.list, opened_table.tags.list),
        lambda: both(path, opened_table.consumers.list, lambda: _other_branches(opened_table)),
    )
    line = timeline_making.timeline(
        opened_table.name,
        snapshots,
        {name: tag.id for name, tag in tags.items()},
        consumers=consumers,
        branch=opened_table.identifier.branch,
        branches=branches,
        has_days=not is_deterministic(),
        rows_are=rows_are(opened_table.primary_keys, definition_of(opened_table).options),
    )
    by_id = {snapshot.id: snapshot for snapshot in snapshots}
    shown = [*(group.last_id for group in line.groups), *(point.id for point in line.points)]
    totals = read_totals([by_id[id] for id in reversed(shown)], store_of(opened_table).manifests)
    line = views.with_files(line, totals)
    return draw(views.repeatable(line) if is_deterministic() else line, last=last)


def _other_branches(table: Table) -> dict[str, list[Snapshot]]:
    """Read the snapshots of the other branches that are shown; the rest have none."""
    names = (MAIN_BRANCH, *table.branches.list())
    others = sorted(name for name in names if name != (table.identifier.branch or MAIN_BRANCH))
    return {
        name: table.on_branch(name).snapshots.list() if number < MOST_BRANCHES else []
        for number, name in enumerate(others)
    }
