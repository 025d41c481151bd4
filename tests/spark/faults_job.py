"""Statements on a cluster whose processes are killed and stopped; run as a program.

Arguments: the URL of the master, a folder, how many faults. What a statement may leave is in the
folder before it runs, so that a driver that is started again can tell whether it did its work.
Prints a line before each statement, and at the end what happened as JSON.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException

from paimonlab.catalog import Catalog
from paimonlab.catalog import connect as open_catalog
from paimonlab.errors import PostCommitError
from paimonlab.spark import connect
from paimonlab.table.table import Table
from tests.spark.cluster_job import CONF
from tools import short_java

Rows = dict[str, str]
TABLES = {
    "keyed": ("'primary-key' = 'id', 'bucket' = '3', 'num-sorted-run.compaction-trigger' = '3'"),
    "append": "'deletion-vectors.enabled' = 'true'",
    "rewritten": "'bucket' = '-1'",
    "parted": "'deletion-vectors.enabled' = 'true'",
}
PARTITION = 100
"""Rows of a partition of the table that has them, by their ids."""
STREAM = "STREAM"
"""Begins what is no SQL: a number, what to add to the ids of `SOURCE`, and the table."""
STREAMED = 40
"""Rows of the table that streams read, in as many files as half of a batch."""
STREAM_ATTEMPTS = 10
SOURCE = "paimon.db.source"
KINDS = ("executor", "worker", "pause")
PAUSE_SECONDS = 3
FAULTY = {
    "spark.sql.sources.partitionOverwriteMode": "dynamic",
    "spark.driver.extraJavaOptions": short_java.spark_options(),
    "spark.speculation": "true",
    "spark.speculation.interval": "100ms",
    "spark.speculation.minTaskRuntime": "200ms",
    "spark.speculation.multiplier": "1.2",
    "spark.speculation.quantile": "0.3",
    "spark.task.maxFailures": "8",
}


MANY = 60
"""As many faults are to make Spark do each of `SEEN`."""
SEEN = ("failed tasks", "speculative tasks", "stages run again")


@dataclass
class Journal:
    """What has happened; written before each statement."""

    next: int = 0
    rows: dict[str, Rows] = field(default_factory=lambda: {name: {} for name in TABLES})
    after: Rows = field(default_factory=dict)
    """Rows of the table of the statement that runs, once it is done."""
    table: str = ""
    faults: dict[str, int] = field(default_factory=lambda: dict.fromkeys((*KINDS, "driver"), 0))
    failed: int = 0
    """Statements that ended with an error and left nothing."""
    kinds: dict[str, int] = field(default_factory=dict)
    """How many statements of each kind were harmed."""
    landed: int = 0
    """Statements that a killed driver had committed."""
    expected: float = 2.0
    """Seconds that the statement that runs will take."""
    took: dict[str, float] = field(default_factory=dict)
    """Seconds that statements of each kind took last."""
    seen: dict[str, int] = field(default_factory=lambda: dict.fromkeys(SEEN, 0))
    """What Spark made of the faults, up to the last statement of each driver."""

    def store(self, path: Path) -> None:
        """Write it, whole or not at all."""
        path.with_suffix(".new").write_text(json.dumps(asdict(self)))
        path.with_suffix(".new").replace(path)


def statement(number: int, rows: dict[str, Rows]) -> tuple[str, str, Rows]:
    """Make up a statement; return it, its table, and the rows that it leaves."""
    chance = random.Random(number)
    name = chance.choice(list(TABLES))
    before = rows[name]
    adding, changing = (IN_PARTITIONS, KEEPING) if name == "parted" else (ADDING, CHANGING)
    makes = chance.choice(adding + changing) if before else chance.choice(adding)
    sql, after = makes(number, f"paimon.db.{name}", before, chance)
    return sql, name, after


def inserts(number: int, table: str, before: Rows, chance: random.Random) -> tuple[str, Rows]:
    """Insert rows, or overwrite all by them."""
    low = 1000 * number if not table.endswith("keyed") else chance.randrange(500)
    source = f"SELECT CAST(id AS INT) id, 'n{number}' v FROM range({low}, {low + 400}, 1, 4)"
    new = {str(one): f"n{number}" for one in range(low, low + 400)}
    if chance.randrange(3):
        return f"INSERT INTO {table} {source}", before | new
    return f"INSERT OVERWRITE {table} {source}", new


def overwrites(number: int, table: str, before: Rows, chance: random.Random) -> tuple[str, Rows]:
    """Overwrite those partitions that new rows are in."""
    first = PARTITION * chance.randrange(8)
    ids = range(first, first + 4 * PARTITION, 3)
    new = {str(one): f"o{number}" for one in ids}
    others = {one: v for one, v in before.items() if not first <= int(one) < ids.stop}
    source = (
        f"SELECT CAST(id AS INT) id, 'o{number}' v, CAST(id DIV {PARTITION} AS INT) p "
        f"FROM range({ids.start}, {ids.stop}, {ids.step}, 4)"
    )
    return f"INSERT OVERWRITE {table} {source}", others | new


def streams(number: int, table: str, before: Rows, _: random.Random) -> tuple[str, Rows]:
    """Add the rows of a stream, by other ids."""
    low = 1000 * number
    new = {str(low + one): f"n{number}" for one in range(STREAMED)}
    return f"{STREAM} {number} {low} {table}", before | new


def deletes(_: int, table: str, before: Rows, chance: random.Random) -> tuple[str, Rows]:
    """Delete one row of five."""
    part = chance.randrange(5)
    left = {one: v for one, v in before.items() if int(one) % 5 != part}
    return f"DELETE FROM {table} WHERE id % 5 = {part}", left


def updates(number: int, table: str, before: Rows, chance: random.Random) -> tuple[str, Rows]:
    """Update one row of five."""
    part = chance.randrange(5)
    changed = {one: f"u{number}" for one in before if int(one) % 5 == part}
    return f"UPDATE {table} SET v = 'u{number}' WHERE id % 5 = {part}", before | changed


def merges(number: int, table: str, before: Rows, _: random.Random) -> tuple[str, Rows]:
    """Update the first rows, or insert them."""
    first = min(map(int, before), default=0)
    source = f"SELECT CAST(id AS INT) id FROM range({first}, {first + 300}, 1, 4)"
    merged = before | {str(one): f"m{number}" for one in range(first, first + 300)}
    sql = (
        f"MERGE INTO {table} t USING ({source}) s ON t.id = s.id "
        f"WHEN MATCHED THEN UPDATE SET v = 'm{number}' "
        f"WHEN NOT MATCHED THEN INSERT (id, v) VALUES (s.id, 'm{number}')"
    )
    return sql, merged


def compacts(_: int, table: str, before: Rows, __: random.Random) -> tuple[str, Rows]:
    """Compact a table in full."""
    name = table.removeprefix("paimon.")
    call = f"CALL paimon.sys.compact(table => '{name}', compact_strategy => 'full')"
    return call, before


ADDING = (inserts, streams)
IN_PARTITIONS = (overwrites,)
KEEPING = (overwrites, deletes, updates, compacts)
"""What changes a table with partitions."""
CHANGING = (deletes, updates, merges, compacts)


def contents(catalog: Catalog, name: str) -> list[tuple[str, str]]:
    """Read a table by our own reader, each row as often as it is there."""
    table = catalog.table(f"db.{name}")
    assert isinstance(table, Table)
    found = table.scan().to_arrow()
    pairs = zip(found["id"].to_pylist(), found["v"].to_pylist(), strict=True)
    return sorted((str(one), v) for one, v in pairs)


def processes() -> dict[int, tuple[int, str]]:
    """Return parent and command line of each process."""
    found = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with suppress(OSError, IndexError):
                parent = int((entry / "stat").read_text().rsplit(")", 1)[1].split()[1])
                command = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode()
                found[int(entry.name)] = (parent, command)
    return found


@dataclass
class Watch:
    """Counts what one driver's Spark had to do again."""

    spark: Any
    _first: int = 0
    """The first stage that was not counted."""

    def seen(self) -> dict[str, int]:
        """Count what came since this was asked last."""
        context = self.spark.sparkContext
        store, gateway = context._jsc.sc().statusStore(), context._gateway
        quantiles = gateway.new_array(gateway.jvm.double, 0)
        statuses = gateway.jvm.java.util.ArrayList()
        stages = store.stageList(None, False, False, quantiles, statuses)
        counts, first = dict.fromkeys(SEEN, 0), self._first
        for number in range(stages.size()):  # the newest come first
            stage = stages.apply(number)
            if stage.stageId() < first:
                break
            self._first = max(self._first, stage.stageId() + 1)
            counts["failed tasks"] += stage.numFailedTasks()
            counts["stages run again"] += stage.attemptId() > 0
            summary = store.speculationSummary(stage.stageId(), stage.attemptId())
            if summary.isDefined():
                counts["speculative tasks"] += summary.get().numTasks()
        return counts

    def reads_shuffle(self) -> bool:
        """Whether a stage runs whose rows another stage of its job has made."""
        tracker = self.spark.sparkContext.statusTracker()
        for number in tracker.getActiveJobsIds():
            job = tracker.getJobInfo(number)
            found = [tracker.getStageInfo(one) for one in (job.stageIds if job else ())]
            stages = [stage for stage in found if stage is not None]
            are_done = [stage.numCompletedTasks == stage.numTasks for stage in stages]
            if any(are_done) and any(stage.numActiveTasks for stage in stages):
                return True
        return False


@dataclass
class Harm:
    """What is done to a process while a statement runs."""

    kind: str
    watch: Watch
    delay: float
    """Seconds to wait before."""
    patience: float
    """Seconds to wait at most for a stage that reads what another has made."""
    made_at: float | None = None
    """When it was done; None: it was not."""

    def run(self, over: threading.Event) -> None:
        """Do it, unless the statement is over before."""
        over.wait(self.delay)
        end = time.monotonic() + self.patience
        while time.monotonic() < end and not over.is_set() and not self.watch.reads_shuffle():
            over.wait(0.02)
        now = time.monotonic()
        if not over.is_set() and strike(self.kind, self.watch.spark.sparkContext.applicationId):
            self.made_at = now


def strike(kind: str, application: str) -> bool:
    """Harm a process of this application; False if there is none of the kind.

    A pause stops an executor with its workers, as one whose machine does not answer.
    """
    running = processes()
    executors = [
        pid
        for pid, (_, command) in running.items()
        if "CoarseGrainedExecutorBackend" in command and f"--app-id {application}" in command
    ]
    daemons = [pid for pid, (parent, _) in running.items() if parent in executors]
    workers = [pid for pid, (parent, _) in running.items() if parent in daemons]
    victims = workers if kind == "worker" else executors
    if not victims:
        return False
    victim = random.choice(victims)
    if kind != "pause":
        with suppress(ProcessLookupError):
            os.kill(victim, signal.SIGKILL)
            return True
        return False
    daemon_of = [pid for pid in daemons if running[pid][0] == victim]
    stopped = [victim, *daemon_of, *(pid for pid in workers if running[pid][0] in daemon_of)]
    pids = " ".join(map(str, stopped))
    script = f"kill -STOP {pids}; sleep {PAUSE_SECONDS}; kill -CONT {pids}"
    subprocess.run(  # it goes on where this driver is killed meanwhile
        ["/bin/sh", "-c", script], start_new_session=True, capture_output=True, check=False
    )
    return True


def main(master: str, folder: str, faults: str) -> None:
    """Run statements until so many faults were made."""
    path = Path(folder, "journal.json")
    journal = Journal(**json.loads(path.read_text())) if path.exists() else Journal()
    spark = connect(f"{folder}/warehouse", master=master, memory="512m", conf=CONF | FAULTY)
    catalog = open_catalog(f"{folder}/warehouse")
    if not journal.next:
        spark.sql("CREATE DATABASE IF NOT EXISTS paimon.db")
        for name, options in TABLES.items():
            parted = name == "parted"
            columns = "id INT NOT NULL, v STRING" + (", p INT" if parted else "")
            spark.sql(
                f"CREATE TABLE IF NOT EXISTS paimon.db.{name} ({columns}) "
                + ("PARTITIONED BY (p) " if parted else "")
                + f"TBLPROPERTIES ({options})"
            )
        if "source" not in catalog.tables("db"):
            spark.sql(
                f"CREATE TABLE {SOURCE} AS "
                f"SELECT CAST(id AS INT) id FROM range(0, {STREAMED}, 1, 4)"
            )
    elif journal.table:
        settle(journal, catalog)
    watch = Watch(spark)
    while goes_on(journal, int(faults)):
        run(watch, catalog, journal, path)
    for name, rows in journal.rows.items():
        assert contents(catalog, name) == sorted(rows.items()), name
        table = catalog.table(f"db.{name}")
        assert isinstance(table, Table)
        report = table.fsck(deep=True)
        assert not report.findings, str(report)
    spark.stop()
    print(json.dumps(asdict(journal) | {"rows": {}, "after": {}}))  # noqa: T201


def goes_on(journal: Journal, wanted: int) -> bool:
    """Say whether faults are missing; of many, also until Spark did all there is about them."""
    made = sum(journal.faults.values())
    limit = wanted if wanted < MANY or all(journal.seen.values()) else 2 * wanted
    return made < limit


def settle(journal: Journal, catalog: Catalog) -> None:
    """Learn what a driver did before it was killed: all of a statement, or nothing."""
    found = contents(catalog, journal.table)
    if found == sorted(journal.after.items()) and journal.after != journal.rows[journal.table]:
        journal.rows[journal.table] = journal.after
        journal.landed += 1
    assert found == sorted(journal.rows[journal.table].items()), journal.table
    journal.table = ""


def execute(spark: Any, text: str, folder: Path) -> None:
    """Run a statement, or a stream until all of its rows are there."""
    if not text.startswith(STREAM):
        spark.sql(text).collect()
        return
    _, number, low, table = text.split()
    for attempt in range(STREAM_ATTEMPTS):
        rows = spark.readStream.option("read.stream.maxFilesPerTrigger", "8").table(SOURCE)
        made = rows.selectExpr(f"CAST(id + {low} AS INT) AS id", f"'n{number}' AS v")
        writer = made.writeStream.trigger(availableNow=True)
        query = writer.option("checkpointLocation", f"{folder}/checkpoints/{number}").toTable(table)
        try:
            query.awaitTermination()
        except PySparkException:
            if attempt == STREAM_ATTEMPTS - 1:
                raise
        else:
            return


def run(watch: Watch, catalog: Catalog, journal: Journal, path: Path) -> None:
    """Run a statement while something is harmed; compare what it leaves."""
    number = journal.next
    sql, name, after = statement(number, journal.rows)
    verb = sql.partition(" ")[0]
    journal.next, journal.table, journal.after = number + 1, name, after
    journal.expected = journal.took.get(verb, journal.expected)
    journal.store(path)
    kind = KINDS[number % len(KINDS)]
    is_aimed = kind == "executor" and name == "keyed"  # rows are shuffled into its buckets
    delay = 0 if is_aimed else random.uniform(0, 0.9) * journal.expected
    patience = journal.expected if is_aimed else 0
    harm, over = Harm(kind, watch, delay, patience), threading.Event()
    harming = threading.Thread(target=harm.run, args=(over,))
    print(f"statement {number}", flush=True)  # noqa: T201
    begun = time.monotonic()
    harming.start()
    try:
        execute(watch.spark, sql, path.parent)
    except PostCommitError:
        pass
    except (Py4JJavaError, PySparkException) as error:
        print(f"{sql}: {str(error)[:300]}", file=sys.stderr)  # noqa: T201
        journal.failed += 1
        after = journal.rows[name]
    ended = time.monotonic()
    over.set()
    harming.join()
    if harm.made_at is not None and harm.made_at < ended:
        journal.faults[harm.kind] += 1
        journal.kinds[verb] = journal.kinds.get(verb, 0) + 1
    journal.took[verb] = 0.5 * journal.expected + 0.5 * min(ended - begun, 20)
    for what, count in watch.seen().items():
        journal.seen[what] += count
    assert contents(catalog, name) == sorted(after.items()), sql
    journal.rows[name], journal.table = after, ""
    journal.store(path)


if __name__ == "__main__":
    main(*sys.argv[1:])
