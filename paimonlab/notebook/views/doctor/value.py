"""Whether Spark, JupyterLab and the warehouse work on this machine, for display."""

from __future__ import annotations

import msgspec

from paimonlab.spark.sessions.doctor import Check


class Doctor(
    msgspec.Struct, frozen=True, kw_only=True, rename="camel", tag="doctor", tag_field="kind"
):
    """All checks."""

    checks: tuple[Check, ...]


def repeatable_doctor(doctor: Doctor) -> Doctor:
    """Leave out what differs between machines: only failed checks say what was found."""
    checks = [
        msgspec.structs.replace(check, found="" if check.status in {"ok", "info"} else check.found)
        for check in doctor.checks
        if check.name != "memory"
    ]
    return msgspec.structs.replace(doctor, checks=tuple(checks))
