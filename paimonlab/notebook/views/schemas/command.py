"""Show the history of a table's schema."""

from __future__ import annotations

from paimonlab.notebook import views
from paimonlab.notebook.kernel.determinism import is_deterministic
from paimonlab.notebook.views.opening import opened
from paimonlab.notebook.views.schemas.drawing import draw
from paimonlab.storage.together import both
from paimonlab.table.table import Table


def schemas(table: str | Table) -> views.View:
    """Show what each schema of a table changed, and which snapshots have it.

    Parameters
    ----------
    table
        ``database.table`` in the connected catalog, or a table.
    """
    opened_table = opened(table)
    listed, snapshots = both(
        opened_table.path, opened_table.schemas.list, opened_table.snapshots.list
    )
    history = views.schema_history(opened_table.name, listed, snapshots)
    return draw(views.repeatable_schemas(history) if is_deterministic() else history)
