"""Show why a statement failed."""

from __future__ import annotations

from paimonlab.notebook import views
from paimonlab.notebook.determinism import is_deterministic
from paimonlab.notebook.display.problem import draw
from paimonlab.notebook.query_error import QueryError


def problem(error: QueryError) -> views.View:
    """Show an error of SQL as one block; when outputs must be repeatable, without its trace."""
    return draw(error.problem(has_trace=not is_deterministic()))
