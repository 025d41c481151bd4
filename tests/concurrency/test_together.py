"""Writers, readers, a compactor, an expirer and a tagger at once, in processes of their own.

Amounts move between accounts, so that every state has the same total. PAIMONLAB_TOGETHER_SECONDS
says how long they work on each kind of table.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import paimonlab
from paimonlab.table.table import Table
from tests.concurrency.actor import BALANCE, KEYS, TOTAL, WRITERS

SECONDS = os.environ.get("PAIMONLAB_TOGETHER_SECONDS", "3")
READERS = 2
"""Processes of two threads each."""
ROOT = Path(__file__).parents[2]


def _start(warehouse: Path, role: str, number: int, seed: int) -> subprocess.Popen[str]:
    program = [sys.executable, "-m", "tests.concurrency.actor"]
    return subprocess.Popen(
        [*program, str(warehouse), role, str(number), str(seed), SECONDS],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.parametrize(
    ("keys", "options"),
    [
        (["id"], {"bucket": "2", "num-sorted-run.compaction-trigger": "3"}),
        ([], {"deletion-vectors.enabled": "true", "compaction.min.file-num": "2"}),
    ],
    ids=["keys", "vectors"],
)
def test_every_reader_sees_a_state_that_existed(
    tmp_path: Path, keys: Sequence[str], options: Mapping[str, str], seed: int
) -> None:
    catalog = paimonlab.connect(tmp_path)
    catalog.create_database("db")
    columns = {"id": "BIGINT NOT NULL", "amount": "BIGINT"}
    table = catalog.create_table("db.accounts", columns, primary_keys=keys, options=options)
    table.write(pa.table({"id": range(KEYS), "amount": [BALANCE] * KEYS}))
    roles = [("writer", n) for n in range(WRITERS)] + [("reader", n) for n in range(READERS)]
    actors = [_start(tmp_path, role, number, seed) for role, number in [*roles, ("keeper", 0)]]

    (tmp_path / "go").touch()
    said = [actor.communicate(timeout=float(SECONDS) * 10 + 120) for actor in actors]

    ends = zip(actors, said, strict=True)
    failed = [err[-3000:] for actor, (_, err) in ends if actor.returncode]
    assert not failed, "\n".join(failed)
    answers = [json.loads(out) for out, _ in said]
    counts = sum((Counter(answer["counts"]) for answer in answers), Counter[str]())
    print(f"seed {seed}: {dict(counts)}")  # noqa: T201 - shown if something fails
    _check_end(catalog, answers)
    for what in ("update", "compact", "expire", "tag", "read latest"):
        assert counts[what], f"nobody got to {what}: {counts}"


def _check_end(catalog: paimonlab.Catalog, answers: Sequence[Mapping[str, Any]]) -> None:
    table = catalog.table("db.accounts")
    assert isinstance(table, Table)
    found = dict(zip(*table.scan(["id", "amount"]).to_arrow().to_pydict().values(), strict=True))
    assert sorted(found) == list(range(KEYS))
    assert sum(found.values()) == TOTAL
    for answer in answers:
        own = {int(key): value for key, value in answer["balances"].items()}
        assert {key: found[key] for key in own} == own, "an acknowledged write is lost"
    for name in table.tags.list():
        assert sum(table.scan(tag=name).to_arrow()["amount"].to_pylist()) == TOTAL, name
    report = table.fsck(deep=True)
    assert not [one for one in report.findings if one.severity != "warning"], str(report)
