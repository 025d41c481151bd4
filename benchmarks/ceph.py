"""Tables on Ceph's gateway of S3, read and written beside pypaimon and deltalake.

``python -m benchmarks.ceph [--rows N] [--rounds N] [--works …] [--engines …]``. Server and clients share
the machine. Each round is a process of each engine in turn, which does its work three times; the first
of them counts from the import of its library on.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

import pyarrow.parquet as pq

import paimonlab as pm
from benchmarks import rows as rows_module
from benchmarks.engines.store_engine import BUCKET, KEYED, PREPARE, options_of
from benchmarks.peers import REQUIREMENTS, environment
from benchmarks.run import BUILD, ENVIRONMENT
from tests.storage.stores import radosgw

WORKS = ("append_scan", "key_write", "merge_scan", "append_write")
ENGINES = ("paimonlab", "pypaimon native", "deltalake", "deltalake zstd")
_SCRIPT = Path(__file__).parent / "engines" / "store_engine.py"
_REPEAT = 3
_GIBIBYTES = 6


def main() -> None:
    """Start the server, write the tables, measure: seconds on the clock, and of processors."""
    options = _options()
    rows = BUILD / f"rows-{options.rows}"
    rows_module.make(rows, options.rows)
    with (
        tempfile.TemporaryDirectory(prefix="paimonlab-ceph-") as folder,
        radosgw.running(Path(folder), gibibytes=_GIBIBYTES) as url,
    ):
        radosgw.make_bucket(url, BUCKET)
        _write_tables(options_of(url, radosgw.KEY, radosgw.SECRET), rows)
        _measure(url, rows, options)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=2_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--works", nargs="+", default=list(WORKS), choices=WORKS)
    parser.add_argument("--engines", nargs="+", default=list(ENGINES), choices=ENGINES)
    return parser.parse_args()


def _write_tables(options: Mapping[str, str], rows: Path) -> None:
    catalog = pm.connect(options)
    catalog.create_database("db")
    data = pq.read_table(rows / "all.parquet")
    catalog.create_table("db.append", data.schema).write(data)
    keyed = catalog.create_table("db.merge", data.schema, primary_keys=["k"], options=KEYED)
    for run in range(rows_module.RUNS):
        keyed.write(pq.read_table(rows / f"run-{run}.parquet"))


def _measure(url: str, rows: Path, options: argparse.Namespace) -> None:
    print(
        "| work | engine | first, s | of processors | then, s | of processors | best other / this |"
    )
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for work in options.works:
        found: dict[str, list[dict[str, list[float]]]] = {}
        if work == "append_scan":
            for engine in options.engines:
                if engine.startswith("deltalake"):
                    _run(engine, PREPARE, url, rows, repeat=1)
        for _ in range(options.rounds):
            for engine in options.engines:
                outcome = _run(engine, work, url, rows)
                if outcome is not None:
                    found.setdefault(engine, []).append(outcome)
        then = {
            engine: statistics.median(each for one in all_ for each in one["seconds"][1:])
            for engine, all_ in found.items()
        }
        for engine, all_ in found.items():
            first = statistics.median(one["seconds"][0] for one in all_)
            used = statistics.median(one["cpu"][0] for one in all_)
            processor = statistics.median(each for one in all_ for each in one["cpu"][1:])
            others = [seconds for name, seconds in then.items() if name != engine]
            ratio = f"{min(others) / then[engine]:.2f}" if others else ""
            print(
                f"| {work} | {engine} | {first:.2f} | {used:.2f} | {then[engine]:.2f} "
                f"| {processor:.2f} | {ratio} |",
                flush=True,
            )


def _run(
    engine: str, work: str, url: str, rows: Path, repeat: int = _REPEAT
) -> dict[str, list[float]] | None:
    python = sys.executable
    if engine in REQUIREMENTS:
        folder = BUILD / "engines" / engine.replace(" ", "-")
        python = environment(folder, REQUIREMENTS[engine])
    options = json.dumps(options_of(url, radosgw.KEY, radosgw.SECRET))
    command = [python, str(_SCRIPT), engine, work, options, str(rows), str(repeat)]
    done = subprocess.run(command, capture_output=True, text=True, env=ENVIRONMENT, check=False)
    if done.returncode:
        problem = (done.stderr.strip().splitlines() or ["no message"])[-1]
        print(f"{engine} failed: {problem}", flush=True)
        return None
    reply: dict[str, list[float]] = json.loads(done.stdout.strip().splitlines()[-1])
    return None if reply.get("missing") else reply


if __name__ == "__main__":
    main()
