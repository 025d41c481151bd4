"""Show which warehouses the notebook is connected to, and which it could be."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from paimonlab.catalog import settings
from paimonlab.notebook import views
from paimonlab.notebook.connections import connection as connections
from paimonlab.notebook.connections.environment_offers import Offer, offers, sessions
from paimonlab.notebook.kernel.determinism import is_deterministic
from paimonlab.notebook.views.connections.drawing import draw_connections


def list_connections(variables: Mapping[str, Any] | None = None) -> views.View:
    """List the connections that are open, those that are configured, and those on offer.

    Parameters
    ----------
    variables
        Those of a notebook: a Spark session among them is on offer, as is a server that the
        environment names. Names are shown, never values.

    Raises
    ------
    SettingsError
        If the settings cannot be read.
    """
    opened = connections.connections()
    entries = [
        views.ConnectionEntry(
            alias=connection.alias,
            engine=connection.engine,
            catalog=connection.catalog_name,
            warehouse=_shown(connection.warehouse or f"sc://{connection.address}"),
            state="current" if connection is opened[-1] else "open",
            line=f"%paimon_connect --use {connection.alias}",
        )
        for connection in opened
    ]
    names = {connection.alias for connection in opened}
    entries += [
        _configured(name, setting) for name, setting in settings.read().items() if name not in names
    ]
    names |= {entry.alias for entry in entries}
    used = {
        name
        for name, session in sessions(variables or {}).items()
        if any(connection.spark is session for connection in opened)
    }
    entries += [
        _on_offer(offer) for offer in offers(variables or {}) if offer.name not in names | used
    ]
    return draw_connections(views.ConnectionList(connections=tuple(entries)))


def _shown(place: str) -> str:
    return "" if is_deterministic() else place


def _configured(name: str, setting: settings.Setting) -> views.ConnectionEntry:
    return views.ConnectionEntry(
        alias=name,
        engine=setting.engine if setting.remote is None else "connect",
        catalog=connections.catalog_of(setting, name),
        warehouse=_shown(setting.place),
        state="offered" if setting.is_from_environment else "configured",
        line=f"%paimon_connect --use {name}",
    )


def _on_offer(offer: Offer) -> views.ConnectionEntry:
    return views.ConnectionEntry(
        alias=offer.name,
        engine=offer.engine,
        catalog="",
        warehouse=offer.place,
        state="offered",
        line=offer.line,
    )
