"""Histories of writes that are invented."""

from __future__ import annotations

from typing import Any

from paimonlab.analysis.simulation.histories import invented
from paimonlab.compact.simulator import Flush

HISTORY: dict[str, Any] = {"flushes": 30, "flush_bytes": 1_000_000, "rows": 1_000, "keys": 10_000}


def test_an_invented_history_is_the_same_every_time() -> None:
    flushes = invented(**HISTORY, pattern="hot", every_seconds=1)

    assert flushes == invented(**HISTORY, pattern="hot", every_seconds=1)
    assert {flush.max_key for flush in flushes} == {999, 9_999}
    assert flushes[0] == Flush(0, 1_000_000, 1_000, 0, 999)
