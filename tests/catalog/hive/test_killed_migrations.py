"""Migrations of Hive's tables that are killed are begun again; part of ``make soak``.

``PAIMONLAB_KILL_POINTS`` says at how many of its changes each kind of migration is killed.
"""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path

import pytest

pytest.importorskip("thriftpy2")

from tests.catalog.hive import killed_migration
from tests.outside.processes import said

KILLS = int(os.environ.get("PAIMONLAB_KILL_POINTS", "0"))


@pytest.mark.skipif(not KILLS, reason="part of make soak")
def test_a_killed_migration_that_is_begun_again_takes_each_row_once(
    hive_uri: str, tmp_path: Path, seed: int
) -> None:
    program = [killed_migration.__file__, hive_uri, str(tmp_path), str(seed), str(KILLS)]
    found = json.loads(said(program, timeout_seconds=600))

    assert len(found) >= min(4 * KILLS, 4)
    for one in found:
        (rows, is_of_hive, _), wanted = one["left"], one["wanted"][0]
        assert one["ended"] == -signal.SIGKILL, one
        assert rows in ([], wanted), one
        assert rows or is_of_hive, one
        assert isinstance(one["again"], list | None), one
        assert one["last"] == one["wanted"], one
