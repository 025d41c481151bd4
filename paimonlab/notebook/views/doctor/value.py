"""Whether this machine can run what one wants to run, for display."""

from __future__ import annotations

import msgspec

from paimonlab.spark.sessions.doctor import Check


class Doctor(
    msgspec.Struct, frozen=True, kw_only=True, rename="camel", tag="doctor", tag_field="kind"
):
    """All that was looked at."""

    checks: tuple[Check, ...]


def repeatable_doctor(doctor: Doctor) -> Doctor:
    """Leave out what is different elsewhere: only what is wrong says what was found."""
    checks = [
        msgspec.structs.replace(one, found="" if one.status in {"ok", "info"} else one.found)
        for one in doctor.checks
        if one.name != "memory"
    ]
    return msgspec.structs.replace(doctor, checks=tuple(checks))
