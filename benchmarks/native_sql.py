"""Twenty queries without Spark, beside DuckDB on a plain Parquet file of the same rows.

``python -m benchmarks.native_sql`` writes 2,000,000 rows to an append table, to a table with keys that
was compacted and to one with 8 runs that overlap, and asks each query of each in turns. Processor
seconds, the least of some repeats: from the third on columns of the runs are in memory, so that the runs are
asked with nothing kept as well. DuckDB answers from a database that is opened for the query, as ours does.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import duckdb
import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

import paimonlab as pm
from paimonlab.sql_engine import engine
from paimonlab.sql_engine.tables import Sources

ROWS = 2_000_000
RUNS = 8
QUERIES = (
    "SELECT count(*), sum(amount), min(day), max(day) FROM {t}",
    "SELECT city, count(*) AS n, sum(amount) AS total FROM {t} GROUP BY city ORDER BY city",
    "SELECT name, sum(qty) AS q FROM {t} GROUP BY name ORDER BY q DESC, name LIMIT 20",
    "SELECT city, day, avg(amount) AS a FROM {t} GROUP BY city, day ORDER BY a DESC LIMIT 20",
    "SELECT count(DISTINCT customer) FROM {t}",
    "SELECT city, count(DISTINCT name) AS n FROM {t} GROUP BY city ORDER BY n, city",
    "SELECT id, note, amount FROM {t} ORDER BY amount DESC, id LIMIT 50",
    "SELECT count(*) FROM {t} WHERE amount > 900",
    """SELECT city, sum(amount) AS s
        FROM {t} WHERE day >= DATE '2026-10-01' GROUP BY city ORDER BY s""",
    "SELECT sum(amount) FROM {t} WHERE id BETWEEN 500000 AND 600000",
    "SELECT sum(amount), count(note) FROM {t} WHERE id IN (17, 250000, 1900000)",
    "SELECT count(*) FROM {t} WHERE note LIKE 'n12%'",
    "SELECT upper(city) AS c, max(length(note)) AS m FROM {t} GROUP BY upper(city) ORDER BY c",
    """SELECT a.city, count(*) AS n
        FROM {t} a JOIN {t} b ON a.id = b.customer GROUP BY a.city ORDER BY n, a.city""",
    """SELECT * FROM (SELECT city, name, sum(amount) AS s, row_number() OVER (PARTITION BY city ORDER BY sum(amount) DESC) AS r
        FROM {t} GROUP BY city, name) x WHERE r <= 3 ORDER BY city, r""",
    """SELECT customer, sum(amount) AS s
        FROM {t} GROUP BY customer HAVING sum(qty) > 21000 ORDER BY s DESC LIMIT 10""",
    """SELECT CASE WHEN qty < 10 THEN 'few' WHEN qty < 50 THEN 'some' ELSE 'many' END AS k, count(*) AS n, sum(amount) AS s
        FROM {t} GROUP BY 1 ORDER BY 1""",
    """WITH best AS (SELECT customer, max(amount) AS m
        FROM {t} GROUP BY customer) SELECT count(*) FROM {t} t JOIN best b ON t.customer = b.customer AND t.amount = b.m""",
    """SELECT day, count(*) AS n
        FROM {t} WHERE city = 'city7' AND qty > 90 GROUP BY day ORDER BY day LIMIT 30""",
    """SELECT min(amount) AS low, max(amount) AS high, avg(amount) AS mean, stddev_samp(amount) AS s
        FROM {t}""",
)
"""``{t}`` is the table."""


def main() -> None:
    """Build, ask, print a line for each table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--folder", help="keep the tables here; else they are temporary")
    parser.add_argument("--each", action="store_true", help="print each query")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(options.folder or temporary)
        if not (folder / "plain.parquet").exists():
            build(folder)
        measure(folder, options.repeat, is_each=options.each)


def build(folder: Path) -> None:
    """Write the same rows to three tables and a file."""
    catalog = pm.connect(str(folder))
    catalog.create_database("db")
    drawn = np.random.default_rng(7)
    options = {"bucket": "1", "write-only": "true"}
    first = _rows(np.arange(ROWS), drawn)
    for name in ("runs", "compacted"):
        catalog.create_table(f"db.{name}", first.schema, primary_keys=["id"], options=options)
    runs, compacted = catalog.table("db.runs"), catalog.table("db.compacted")
    assert isinstance(runs, pm.Table)
    assert isinstance(compacted, pm.Table)
    runs.write(first)
    for _ in range(RUNS - 1):
        runs.write(_rows(np.sort(drawn.choice(ROWS, ROWS // 8, replace=False)), drawn))
    rows = runs.scan().to_arrow().sort_by("id")
    rows = rows.cast(first.schema)
    compacted.write(rows)
    compacted.compact(full=True)
    catalog.create_table("db.append", first.schema).write(rows)
    pq.write_table(rows, folder / "plain.parquet", compression="zstd")


def _rows(ids: npt.NDArray[np.int64], drawn: np.random.Generator) -> pa.Table:
    count = len(ids)
    cities = np.array([f"city{number}" for number in range(50)])
    names = np.array([f"name-{number}" for number in range(5000)])
    days = np.datetime64("2026-01-01") + drawn.integers(0, 365, count)
    return pa.table(
        {
            "id": pa.array(ids, pa.int64()),
            "customer": drawn.integers(0, 5000, count),
            "city": cities[drawn.integers(0, 50, count)],
            "name": names[drawn.integers(0, 5000, count)],
            "amount": drawn.random(count) * 1000,
            "qty": drawn.integers(1, 100, count).astype(np.int32),
            "day": days.astype("datetime64[D]"),
            "note": [f"n{number}" for number in drawn.integers(0, 10**9, count)],
        }
    )


def measure(folder: Path, repeat: int, *, is_each: bool) -> None:
    """Ask each query of each table and of the file, in turns."""
    catalog = pm.connect(str(folder))
    forgetful = pm.connect({"warehouse": str(folder), "sql.columns-memory": "0 b"})
    plain = f"read_parquet('{folder / 'plain.parquet'}')"

    def ours(opened: pm.Catalog, name: str, query: str) -> object:
        return engine.run(engine.plan(query.format(t=f"db.{name}"), Sources(opened)))

    def theirs(query: str) -> object:
        with duckdb.connect() as database:
            return database.sql(query.format(t=plain)).to_arrow_table()

    tables = ("append", "compacted", "runs")
    ratios: dict[str, list[float]] = {name: [] for name in (*tables, "runs, nothing kept")}
    for query in QUERIES:
        works: dict[str, Callable[[], object]] = {"duckdb": partial(theirs, query)}
        works |= {name: partial(ours, catalog, name, query) for name in tables}
        works["runs, nothing kept"] = partial(ours, forgetful, "runs", query)
        costs = {name: [_cost(work)] for name, work in works.items()}
        for _ in range(repeat - 1):
            for name, work in works.items():
                costs[name].append(_cost(work))
        least = {name: min(taken) for name, taken in costs.items()}
        for name, found in ratios.items():
            found.append(least[name] / least["duckdb"])
        if is_each:
            shown = ", ".join(f"{name} {cost:.3f}" for name, cost in least.items())
            print(f"{shown}: {query}", flush=True)
    for name, found in ratios.items():
        print(f"{name}: median {statistics.median(found):.2f}, most {max(found):.2f} of DuckDB")


def _cost(work: Callable[[], object]) -> float:
    begin = time.process_time()
    work()
    return time.process_time() - begin


if __name__ == "__main__":
    main()
