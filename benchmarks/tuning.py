"""What each advice of docs/tuning.md brings: seconds before and after.

``python -m benchmarks.tuning [--rows N] [--only NAME …] [--write]`` makes a table for each advice
below ``build/bench/tuning``, does the same work twice, once against the advice and once following
it, three times each in turns, and prints the medians. ``--write`` puts the table into the page.
"""

from __future__ import annotations

import argparse
import multiprocessing
import shutil
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

import paimonlab as pm
from benchmarks.report import machine, markdown_table, replace_part

ROOT = Path(__file__).parents[1]
BUILD = ROOT / "build" / "bench" / "tuning"
PAGE = ROOT / "docs" / "tuning.md"
TURNS = 3
SCHEMA = pa.schema(
    [
        pa.field("id", pa.int64(), nullable=False),
        pa.field("customer", pa.int64()),
        pa.field("amount", pa.float64()),
        pa.field("note", pa.string()),
    ]
)
"""Of all tables here: rows of about 50 bytes."""

Measure = Callable[[], object]


@dataclass(frozen=True)
class Pair:
    """The same work, done against an advice and as it says."""

    before: Measure
    after: Measure
    unit: str = "s"
    """`s`: each is timed; `MB`: each returns bytes; `files`: each returns a count."""


@dataclass(frozen=True)
class Workshop:
    """Where the tables of one advice are made, and how many rows they have."""

    catalog: pm.Catalog
    rows: int

    def table(
        self,
        name: str,
        *,
        keyed: bool = False,
        partitioned: bool = False,
        options: Mapping[str, str] | None = None,
    ) -> pm.Table:
        """Create an empty table; there is none of the name before."""
        self.catalog.drop_table(f"db.{name}", missing_ok=True)
        schema = SCHEMA
        if partitioned:
            schema = schema.append(pa.field("day", pa.int32()))
        return self.catalog.create_table(
            f"db.{name}",
            schema,
            primary_keys=["id"] if keyed else [],
            partition_keys=["day"] if partitioned else [],
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


def _in_runs(shop: Workshop, name: str, runs: int, options: Mapping[str, str]) -> pm.Table:
    """Return a table with a primary key that was upserted ``runs`` times, nothing compacted."""
    table = shop.table(name, keyed=True, options={"bucket": "2", "write-only": "true", **options})
    count = shop.rows // runs
    for run in range(runs):
        table.write(shop.some_rows(run, count, step=2))
    return table


def compacted(shop: Workshop) -> Pair:
    """Compact what is read often: a scan of 16 overlapping runs, and of the same rows compacted."""
    many = _in_runs(shop, "many", 16, {})
    one = _in_runs(shop, "one", 16, {})
    one.compact(full=True)
    return Pair(lambda: many.scan().to_arrow(), lambda: one.scan().to_arrow())


def columns(shop: Workshop) -> Pair:
    """Name the columns that are needed: all four, and one of them."""
    table = shop.table("columns")
    table.write(shop.some_rows(0, shop.rows))
    return Pair(lambda: table.scan().to_arrow(), lambda: table.scan(["amount"]).to_arrow())


def condition(shop: Workshop) -> Pair:
    """Give the scan the condition: rows filtered afterwards, and `where=`."""
    table = shop.table("condition")
    table.write(shop.some_rows(0, shop.rows))
    return Pair(
        lambda: table.scan().to_arrow().filter(pc.field("id") < 1000),
        lambda: table.scan(where="id < 1000").to_arrow(),
    )


def lookups(shop: Workshop) -> Pair:
    """Ask for rows by key with `lookup`: 100 keys, all rows filtered, and looked up."""
    table = _in_runs(shop, "lookups", 4, {})
    keys = pa.table({"id": np.arange(0, shop.rows // 4, shop.rows // 400)[:100]})
    table.lookup(keys)
    wanted = pa.array(keys["id"])
    return Pair(
        lambda: table.scan().to_arrow().filter(pc.field("id").isin(wanted)),
        lambda: table.lookup(keys),
    )


def sorted_rows(shop: Workshop) -> Pair:
    """Sort an append table by what it is filtered by: one customer's rows."""
    loose = shop.table("loose")
    tidy = shop.table("tidy")
    for table in (loose, tidy):
        for part in range(8):
            table.write(shop.some_rows(part * shop.rows // 8, shop.rows // 8))
    tidy.compact(order_by=["customer"], strategy="order")
    where = "customer = 77"
    return Pair(
        lambda: loose.scan(where=where).to_arrow(), lambda: tidy.scan(where=where).to_arrow()
    )


def bloom(shop: Workshop) -> Pair:
    """Index texts that are asked for one by one: 16 files, a bloom filter of the text."""
    options = {"file-index.bloom-filter.columns": "note"}
    plain, indexed = shop.table("plain"), shop.table("indexed", options=options)
    for table in (plain, indexed):
        for part in range(16):
            table.write(shop.some_rows(part, shop.rows // 16, step=16))
    where = "note = 'note 77'"
    return Pair(
        lambda: plain.scan(where=where).to_arrow(), lambda: indexed.scan(where=where).to_arrow()
    )


def one_commit(shop: Workshop) -> Pair:
    """Commit once: 100 writes of 1,000 rows, and one writer that takes 100 batches."""
    batches = [shop.some_rows(1000 * number, 1000) for number in range(100)]

    def many() -> None:
        table = shop.table("commits", keyed=True, options={"bucket": "1"})
        for batch in batches:
            table.write(batch)

    def one() -> None:
        table = shop.table("commit", keyed=True, options={"bucket": "1"})
        writer = table.new_writer()
        for batch in batches:
            writer.write(batch)
        table.commit(writer.prepare_commit(1), identifier=1)

    return Pair(many, one)


def small_files(shop: Workshop) -> Pair:
    """Put small files together: a scan of 200 files of 1,000 rows, and of one."""
    many, few = (shop.table(name, options={"write-only": "true"}) for name in ("many", "few"))
    for table in (many, few):
        for part in range(200):
            table.write(shop.some_rows(1000 * part, 1000))
    few.compact(full=True)
    return Pair(lambda: many.scan().to_arrow(), lambda: few.scan().to_arrow())


def deletion_vectors(shop: Workshop) -> Pair:
    """Mark replaced rows when they are written: a filtered scan after 8 upserts, with and without."""
    plain = _in_runs(shop, "merged", 8, {})
    marked = shop.table(
        "marked", keyed=True, options={"bucket": "2", "deletion-vectors.enabled": "true"}
    )
    for run in range(8):
        marked.write(shop.some_rows(run, shop.rows // 8, step=2))
    where = "amount < 0.001"
    return Pair(
        lambda: plain.scan(["amount"], where).to_arrow(),
        lambda: marked.scan(["amount"], where).to_arrow(),
    )


def buckets(shop: Workshop) -> Pair:
    """Have a bucket for each core at least: 8 runs compacted in one bucket, and in two."""

    def compact(number: int) -> Measure:
        def work() -> None:
            table = tables.pop()
            table.compact(full=True)

        tables = [
            _in_runs(shop, f"in_{number}_{turn}", 8, {"bucket": str(number)})
            for turn in range(TURNS)
        ]
        return work

    return Pair(compact(1), compact(2))


def partitions(shop: Workshop) -> Pair:
    """Have few partitions: the same rows written into 1,000, and into 10."""
    rows = shop.some_rows(0, shop.rows)

    def write(name: str, days: int) -> Measure:
        day = pa.array(np.arange(len(rows), dtype=np.int32) % days)
        split = rows.append_column("day", day)
        return lambda: shop.table(name, partitioned=True).write(split)

    return Pair(write("narrow", 1000), write("wide", 10))


def write_only(shop: Workshop) -> Pair:
    """Compact once, not in each of many commits: 40 upserts into a large table."""

    def write(name: str, *, later: bool) -> Measure:
        options = {"bucket": "1", "write-only": "true" if later else "false"}

        def work() -> None:
            table = tables.pop()
            for commit in range(40):
                table.write(shop.some_rows(commit, 2000, step=shop.rows // 2000))
            if later:
                changed = shop.catalog.alter_table(table.name, pm.SetOption("write-only", "false"))
                changed.compact()

        tables = []
        for turn in range(TURNS):
            table = shop.table(f"{name}_{turn}", keyed=True, options=options)
            table.write(shop.some_rows(0, shop.rows))
            tables.append(table)
        return work

    return Pair(write("each", later=False), write("later", later=True))


def changelog(shop: Workshop) -> Pair:
    """Make a changelog only where somebody follows: 20 upserts with `lookup`, and with none."""

    def write(producer: str) -> Measure:
        def work() -> None:
            table = shop.table(
                f"log_{producer}",
                keyed=True,
                options={"bucket": "1", "changelog-producer": producer},
            )
            for commit in range(20):
                table.write(shop.some_rows(commit, shop.rows // 20, step=2))

        return work

    return Pair(write("lookup"), write("none"))


def statistics(shop: Workshop) -> Pair:
    """Count with `count()`: rows counted after a scan, and from metadata."""
    table = shop.table("counted")
    table.write(shop.some_rows(0, shop.rows))
    return Pair(lambda: table.scan().to_arrow().num_rows, lambda: table.scan().count())


def batches(shop: Workshop) -> Pair:
    """Take batches of what is larger than memory: all rows at once, and one batch at a time."""
    name = "db.streamed"
    table = shop.table("streamed")
    for part in range(4):
        table.write(shop.some_rows(part * shop.rows, shop.rows))
    folder = str(BUILD)
    return Pair(
        lambda: _apart(_whole, folder, name), lambda: _apart(_in_batches, folder, name), unit="MB"
    )


def _apart(work: Callable[[str, str], int], folder: str, name: str) -> int:
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        return pool.submit(work, folder, name).result()


def _whole(folder: str, name: str) -> int:
    found = pm.connect(folder).table(name).scan().to_arrow()
    assert found.num_rows
    return pa.default_memory_pool().max_memory()


def _in_batches(folder: str, name: str) -> int:
    for batch in pm.connect(folder).table(name).scan().to_batches():
        assert batch.num_rows
    return pa.default_memory_pool().max_memory()


ADVICE: Mapping[str, Callable[[Workshop], Pair]] = {
    work.__name__: work
    for work in (
        columns,
        condition,
        lookups,
        statistics,
        batches,
        compacted,
        deletion_vectors,
        small_files,
        sorted_rows,
        bloom,
        one_commit,
        write_only,
        buckets,
        partitions,
        changelog,
    )
}


def main() -> None:
    """Parse the command line, measure, print a row for each advice."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=2_000_000)
    parser.add_argument("--only", nargs="+", default=list(ADVICE), choices=ADVICE)
    parser.add_argument("--write", action="store_true", help=f"put the table into {PAGE.name}")
    options = parser.parse_args()
    lines = [
        (
            f"Made by `python -m benchmarks.tuning` with {options.rows:,} rows of about 50 bytes: "
            f"{machine()}; medians of {TURNS}."
        ),
        "",
        markdown_table(
            ["advice, and the work that shows it", "before", "after", "times"],
            list(_rows(options.only, options.rows)),
        ),
    ]
    print("\n".join(lines))
    if options.write:
        replace_part(PAGE, "measured", "\n".join(lines))


def _rows(names: list[str], rows: int) -> Iterator[list[str]]:
    for name in names:
        shutil.rmtree(BUILD, ignore_errors=True)
        catalog = pm.connect(BUILD)
        catalog.create_database("db")
        title = (ADVICE[name].__doc__ or name).strip()
        yield [title, *_measured(ADVICE[name](Workshop(catalog, rows)))]
    shutil.rmtree(BUILD, ignore_errors=True)


def _measured(pair: Pair) -> Iterator[str]:
    found: dict[str, list[float]] = {"before": [], "after": []}
    for _turn in range(TURNS):
        for side, work in (("before", pair.before), ("after", pair.after)):
            began = time.perf_counter()
            result = work()
            seconds = time.perf_counter() - began
            found[side].append(seconds if pair.unit == "s" else float(str(result)))
    before, after = median(found["before"]), median(found["after"])
    for value in (before, after):
        yield f"{value / 1e6:,.0f} MB" if pair.unit == "MB" else f"{value:.3g} s"
    yield f"{before / after:,.1f}"


if __name__ == "__main__":
    main()
