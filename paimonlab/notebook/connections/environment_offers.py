"""Connections that the environment offers: found, but not made.

Names of variables are shown, their values never.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from paimonlab.spark.sessions.remote import VARIABLE, is_remote


class Offer(Struct, frozen=True):
    """A connection that one line makes."""

    name: str
    """What ``%paimon_connect --use`` takes."""
    engine: str
    """``spark`` or ``connect``."""
    place: str
    """Where it comes from: a variable, as ``${SPARK_REMOTE}``, or a session of the notebook."""
    line: str
    """What makes the connection."""


def offers(variables: Mapping[str, Any]) -> list[Offer]:
    """List what the environment and the variables of a notebook offer."""
    offered = []
    if os.environ.get(VARIABLE):
        line = f"%paimon_connect --use {VARIABLE}"
        offered.append(Offer(VARIABLE, "connect", f"${{{VARIABLE}}}", line))
    for name, session in sessions(variables).items():
        if is_remote(session):
            line = f"%paimon_connect --use {name}"
            offered.append(Offer(name, "connect", "session of the notebook", line))
        else:
            line = f"%paimon_connect PATH --use {name}"
            offered.append(Offer(name, "spark", "session of the notebook", line))
    return offered


def sessions(variables: Mapping[str, Any]) -> dict[str, Any]:
    """Return the Spark sessions among variables, by the first name of each."""
    by_name: dict[str, Any] = {}
    for name, value in list(variables.items()):
        known = any(value is other for other in by_name.values())
        if not name.startswith("_") and _is_session(value) and not known:
            by_name[name] = value
    return by_name


def _is_session(value: object) -> bool:
    kind = type(value)
    return kind.__name__ == "SparkSession" and kind.__module__.startswith("pyspark.sql.")
