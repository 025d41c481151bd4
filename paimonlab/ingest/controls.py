"""When the epochs and runs of a job end, and what other threads ask of a run."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from enum import Enum
from queue import Queue

from paimonlab.ingest.steering import Waiting


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """When epochs end, and when a run does."""

    interval_seconds: float = 10.0
    """How long rows wait at most before they are committed, while changes are read."""
    max_bytes: int = 256 << 20
    """How many bytes of rows wait in memory."""
    max_rows: int | None = None
    """Rows of an epoch; None: as many as come."""
    max_dead: int = 0
    """How many rows the job may set aside since it was created."""
    max_stall_seconds: float | None = 1800.0
    """How long a batch on Spark may make no progress before the run ends; None: for ever."""
    tags: int = 0
    """How many of the newest epochs are tags of all tables."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Until:
    """When a run ends by itself."""

    caught_up: bool = False
    seconds: float | None = None
    rows: int | None = None
    """Rows that were read in this run; it ends at the boundary after them."""
    is_answered: bool = False
    """When all that was asked is done; nothing is read."""


class Ending(Enum):
    """Why reading ended."""

    DONE = "done"
    STOP = "stop"
    PAUSE = "pause"
    ASKED = "asked"


@dataclass(slots=True)
class Controls:
    """What other threads ask of a run."""

    stop: threading.Event = field(default_factory=threading.Event)
    pause: threading.Event = field(default_factory=threading.Event)
    resumed: threading.Event = field(default_factory=threading.Event)
    asked: Queue[Waiting] = field(default_factory=Queue)
    """What is to be done at the next boundary."""
    interrupt: threading.Event = field(default_factory=threading.Event)
    """Ctrl-C came, which what commits may have taken for its own."""
