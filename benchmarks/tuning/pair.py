"""Work done against an advice and as it says, and the tables it is done on."""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import ParamSpec, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

import paimonlab as pm

TURNS = 3
SCHEMA = pa.schema(
    [
        pa.field("id", pa.int64(), nullable=False),
        pa.field("customer", pa.int64()),
        pa.field("amount", pa.float64()),
        pa.field("note", pa.string()),
    ]
)
"""Of most tables here: rows of about 50 bytes."""

Measure = Callable[[], object]
Given = ParamSpec("Given")
Found = TypeVar("Found")


@dataclass(frozen=True)
class Pair:
    """The same work, done against an advice and as it says."""

    before: Measure
    after: Measure
    unit: str = "s"
    """`s`: each is timed; `own s`: each returns seconds; `MB`: bytes; `outcome`: words, and once."""
    warm_up: int = 0
    """How often each is done first without being counted."""


@dataclass(frozen=True)
class Workshop:
    """Where the tables of one advice are made, and how many rows they have."""

    catalog: pm.Catalog
    folder: Path
    rows: int

    def table(
        self,
        name: str,
        *,
        keyed: bool = False,
        partition: str | None = None,
        options: Mapping[str, str] | None = None,
    ) -> pm.Table:
        """Create an empty table; there is none of the name before."""
        self.catalog.drop_table(f"db.{name}", missing_ok=True)
        schema = SCHEMA if partition is None else SCHEMA.append(pa.field(partition, pa.int32()))
        return self.catalog.create_table(
            f"db.{name}",
            schema,
            primary_keys=["id"] if keyed else [],
            partition_keys=[partition] if partition else [],
            options=dict(options or {}),
        )

    def some_rows(self, first: int, count: int, *, step: int = 1) -> pa.Table:
        """Return rows with the keys ``first``, ``first + step`` and so on."""
        generator = np.random.default_rng(first)
        numbers = np.arange(first, first + count * step, step)
        return pa.table(
            [
                numbers,
                generator.integers(0, self.rows // 20, count),
                generator.random(count),
                pc.binary_join_element_wise("note", pa.array(numbers).cast(pa.string()), " "),
            ],
            schema=SCHEMA,
        )

    def in_runs(
        self,
        name: str,
        runs: int,
        options: Mapping[str, str],
        *,
        rows: int | None = None,
    ) -> pm.Table:
        """Return a table with a primary key that was upserted ``runs`` times, nothing compacted."""
        table = self.table(
            name, keyed=True, options={"bucket": "2", "write-only": "true", **options}
        )
        for run in range(runs):
            table.write(self.some_rows(run, (rows or self.rows) // runs, step=2))
        return table


def apart(work: Callable[Given, Found], *given: Given.args, **named: Given.kwargs) -> Found:
    """Return what the work returns in a process of its own, which has done nothing before."""
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        return pool.submit(work, *given, **named).result()


def measured(pair: Pair) -> Iterator[str]:
    """Yield the median before, that after, and how many times as much the first is."""
    if pair.unit == "outcome":
        yield from (str(pair.before()), str(pair.after()), "")
        return
    found: dict[str, list[object]] = {"before": [], "after": []}
    for turn in range(-pair.warm_up, TURNS):
        for side, work in (("before", pair.before), ("after", pair.after)):
            began = time.perf_counter()
            result = work()
            seconds = time.perf_counter() - began
            if turn >= 0:
                found[side].append(seconds if pair.unit == "s" else result)
    before, after = (median(float(str(value)) for value in found[side]) for side in found)
    for value in (before, after):
        yield f"{value / 1e6:,.3g} MB" if pair.unit == "MB" else _duration(value)
    yield f"{before / after:,.1f}"


def _duration(seconds: float) -> str:
    return f"{seconds:.3g} s" if seconds >= 1 else f"{1000 * seconds:.3g} ms"
