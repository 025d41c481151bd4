"""Show which warehouses the notebook talks to."""

from __future__ import annotations

from paimonlab.notebook import connection as connections
from paimonlab.notebook import settings, views
from paimonlab.notebook.determinism import is_deterministic
from paimonlab.notebook.display.connections import draw_connections
from paimonlab.spec.secrets import without_credentials


def list_connections() -> views.View:
    """List the connections that are open, and those that are configured and not open.

    Raises
    ------
    SettingsError
        If the settings cannot be read.
    """
    opened = connections.connections()
    entries = [
        views.ConnectionEntry(
            alias=one.alias,
            engine=one.engine,
            catalog=one.catalog_name,
            warehouse="" if is_deterministic() else one.warehouse,
            state="current" if one is opened[-1] else "open",
        )
        for one in opened
    ]
    known = {one.alias for one in opened}
    entries += [
        _configured(name, setting) for name, setting in settings.read().items() if name not in known
    ]
    return draw_connections(views.ConnectionList(connections=tuple(entries)))


def _configured(name: str, setting: settings.Setting) -> views.ConnectionEntry:
    return views.ConnectionEntry(
        alias=name,
        engine=setting.engine,
        catalog=connections.catalog_of(setting, name),
        warehouse="" if is_deterministic() else without_credentials(setting.options["warehouse"]),
        state="configured",
    )
