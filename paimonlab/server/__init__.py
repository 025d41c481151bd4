"""What JupyterLab's catalog panel asks, while cells run: a Jupyter Server extension.

Answers: what a warehouse contains, what its tables look like, and what is done to them from the
panel. Jupyter Server itself only passes requests on (`handlers`) to processes that read tables
(`processes` starts them, `worker` is what they run), so that nothing waits for a large table.
Must not know: notebooks, kernels, Spark.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paimonlab.on_use import attributes_on_use

if TYPE_CHECKING:
    from paimonlab.server import handlers

__all__ = ["handlers"]

__getattr__, __dir__ = attributes_on_use(__name__, "handlers")


def _jupyter_server_extension_points() -> list[dict[str, str]]:
    """Tell Jupyter Server what to load."""
    return [{"module": __name__}]


def _load_jupyter_server_extension(app: Any) -> None:
    """Add the handlers of the panel to a server; Jupyter Server calls this when it starts."""
    __getattr__("handlers").add_to(app)
