"""The clock: what time it is, in the forms that tables need."""

from __future__ import annotations

import time
from datetime import datetime


def now_millis() -> int:
    """Return the time as epoch milliseconds, as metadata has times."""
    return time.time_ns() // 1_000_000


def now() -> datetime:
    """Return the time with the process's local zone."""
    return datetime.now().astimezone()


def local_now() -> datetime:
    """Return local time without a zone, as partition values and names of tags have it."""
    return datetime.now()  # noqa: DTZ005


def is_zone_utc() -> bool:
    """Whether the local clock of this process is UTC."""
    return time.timezone == 0 and not time.daylight
