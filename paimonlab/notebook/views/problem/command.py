"""Show why a statement failed."""

from __future__ import annotations

from paimonlab.notebook import views
from paimonlab.notebook.cell.query_error import QueryError
from paimonlab.notebook.kernel.determinism import is_deterministic
from paimonlab.notebook.views.problem.drawing import draw


def problem(error: QueryError) -> views.View:
    """Show an error of SQL as one block; when outputs must be repeatable, without its trace."""
    return draw(error.problem(has_trace=not is_deterministic()))
