"""Show the history of a table's schema."""

from __future__ import annotations

from paimonlab.notebook import views
from paimonlab.notebook.kernel.determinism import is_deterministic
from paimonlab.notebook.views.opening import opened
from paimonlab.notebook.views.schemas.drawing import draw
from paimonlab.table.table import Table


def schemas(table: str | Table) -> views.View:
    """Show what each schema of a table changed, and which snapshots have it.

    Parameters
    ----------
    table
        ``database.table`` in the connected catalog, or a table.
    """
    opened_table = opened(table)
    history = views.schema_history(
        opened_table.name, opened_table.schemas.list(), opened_table.snapshots.list()
    )
    return draw(views.repeatable_schemas(history) if is_deterministic() else history)
