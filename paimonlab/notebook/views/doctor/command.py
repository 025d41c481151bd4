"""Check this machine."""

from __future__ import annotations

from paimonlab.catalog import Catalog
from paimonlab.notebook import views
from paimonlab.notebook.connections import connection as connections
from paimonlab.notebook.display.drawn import Drawn
from paimonlab.notebook.kernel.determinism import is_deterministic
from paimonlab.notebook.views.doctor.drawing import draw
from paimonlab.spark.sessions.doctor import checks
from paimonlab.spark.sessions.environment import measured


def doctor(catalog: Catalog | None = None) -> Drawn[views.Doctor]:
    """Check whether Spark, JupyterLab and the warehouse work here, and say what to do if not.

    Parameters
    ----------
    catalog
        Its warehouse is tried with a small file that is deleted again; None: that of the
        connection, if there is one.
    """
    if catalog is None and connections.is_connected():
        catalog = connections.current().opened
    value = views.Doctor(checks=checks(measured(catalog)))
    return draw(views.repeatable_doctor(value) if is_deterministic() else value)
