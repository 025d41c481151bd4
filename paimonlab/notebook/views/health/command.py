"""Say what could be better about how tables are maintained."""

from __future__ import annotations

from paimonlab.analysis.health import health_summary
from paimonlab.analysis.health.catalog_health import catalog_health
from paimonlab.analysis.health.measures import Thresholds
from paimonlab.analysis.health.table_health import table_health
from paimonlab.catalog import Catalog
from paimonlab.ingest.job_health import with_jobs
from paimonlab.notebook import views
from paimonlab.notebook.connections import connection as connections
from paimonlab.notebook.display.drawn import Drawn
from paimonlab.notebook.kernel.determinism import is_deterministic
from paimonlab.notebook.views.health.drawing import draw
from paimonlab.table.inside import definition_of, store_of
from paimonlab.table.table import Table


def health(
    what: str | Table | Catalog | None = None, *, orphans: bool = False, **thresholds: float
) -> Drawn[views.Health]:
    """Look at how tables are maintained, and say what to do; only metadata is read.

    Parameters
    ----------
    what
        A table, a catalog, or a name in the connected catalog: ``database.table`` or
        ``database``; None: every table of the connected catalog.
    orphans
        Whether to look for orphan files as well, which lists every folder.
    **thresholds
        Values from which something is reported, as
        `paimonlab.analysis.health.measures.Thresholds` names them: ``snapshots=1000``.

    Raises
    ------
    NotFoundError
        If there is no such database or table.
    ValueError
        If there is no such threshold.
    """
    limits = Thresholds.of(thresholds)
    if isinstance(what, Table):
        tables = [
            table_health(definition_of(what), store_of(what), thresholds=limits, orphans=orphans)
        ]
        title = what.name
    else:
        catalog = what if isinstance(what, Catalog) else connections.current().catalog
        names = [what] if isinstance(what, str) else []
        tables = catalog_health(catalog, names, thresholds=limits, orphans=orphans)
        tables = with_jobs(catalog, tables, limits, is_whole=not names)
        title = what if isinstance(what, str) else "all tables"
    value = health_summary.health(f"health of {title}", tables, orphans=orphans)
    return draw(views.repeatable_health(value) if is_deterministic() else value)
