"""Show what can be typed."""

from __future__ import annotations

from paimonlab.notebook import views
from paimonlab.notebook.views.help import pages as help_pages
from paimonlab.notebook.views.help.drawing import draw_help


def show_help(topic: str | None = None) -> views.View:
    """Show what can be typed; a topic is one of `paimonlab.notebook.views.help.pages.TOPICS`.

    Raises
    ------
    NotFoundError
        If there is no such topic.
    """
    return draw_help(help_pages.page(topic or help_pages.FIRST_TOPIC))
