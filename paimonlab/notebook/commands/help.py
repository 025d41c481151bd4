"""Show what can be typed."""

from __future__ import annotations

from paimonlab.notebook import help_pages, views
from paimonlab.notebook.display.help_page import draw_help


def show_help(topic: str | None = None) -> views.View:
    """Show what can be typed; a topic is one of `paimonlab.notebook.help_pages.TOPICS`.

    Raises
    ------
    NotFoundError
        If there is no such topic.
    """
    return draw_help(help_pages.page(topic or help_pages.FIRST_TOPIC))
