"""Topics of Kafka that executors of Spark read, exactly once, also when the driver is killed.

Each run starts a JVM, so these wait for ``PAIMONLAB_SPARK_KAFKA_KILLS=10``, which kills as often.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import paimonlab as pm
from tests.ingest.kafka.broker import Broker

KILLS = int(os.environ.get("PAIMONLAB_SPARK_KAFKA_KILLS", "0"))
PARTITIONS = 3
_LIMIT = 300


class Shop:
    """Two tables with keys and one without, which share the partitions of a topic."""

    def __init__(self, broker: Broker, topic: str, rng: np.random.Generator) -> None:
        self.rows: dict[str, dict[int, dict[str, int | str]]] = {"keyed": {}, "other": {}}
        self.lines = 0
        self._broker = broker
        self._topic = topic
        self._rng = rng

    def change(self, count: int) -> None:
        """Write changes, and wait until the topic has them."""
        values: list[list[bytes]] = [[] for _ in range(PARTITIONS)]
        for number in range(count):
            name = ("keyed", "other", "log")[int(self._rng.integers(3))]
            if name == "log":
                part = number % PARTITIONS
                values[part].append(_message(name, "c", None, {"id": self.lines, "n": number}))
                self.lines += 1
                continue
            rows, key = self.rows[name], int(self._rng.integers(300))
            old = rows.pop(key, None)
            if old is not None and self._rng.random() < 0.3:
                values[key % PARTITIONS].append(_message(name, "d", old, None))
                continue
            new: dict[str, int | str] = {"id": key, "n": number}
            rows[key] = new
            op = "c" if old is None else "u"
            values[key % PARTITIONS].append(_message(name, op, old, new))
        for part, found in enumerate(values):
            self._broker.produce(self._topic, found, partition=part)


def _message(table: str, op: str, old: object, new: object) -> bytes:
    event = {"before": old, "after": new, "op": op, "source": {"db": "shop", "table": table}}
    return json.dumps(event).encode()


@pytest.mark.skipif(not KILLS, reason="long: set PAIMONLAB_SPARK_KAFKA_KILLS")
def test_a_killed_driver_loses_and_doubles_nothing(
    tmp_path: Path, kafka_broker: Broker, topic: str, rng: np.random.Generator
) -> None:
    kafka_broker.create(topic, PARTITIONS)
    shop = Shop(kafka_broker, topic, rng)
    warehouse = tmp_path / "w"
    kills = 0
    while kills < KILLS:
        shop.change(1500)
        if rng.random() < 0.2:
            _native(warehouse, kafka_broker, topic)
        kills += not _run(warehouse, kafka_broker, topic, float(rng.uniform(0, 15)))
        print(f"{kills} kills", flush=True)  # noqa: T201 - it takes minutes
    assert _run(warehouse, kafka_broker, topic, None)

    catalog = pm.connect(warehouse)
    for name, wanted in shop.rows.items():
        found = catalog.table(f"ods.{name}").scan().to_arrow().to_pylist()
        assert {int(row["id"]): int(row["n"]) for row in found} == {
            key: row["n"] for key, row in wanted.items()
        }
        assert len(found) == len(wanted)
    ids = catalog.table("ods.log").scan().to_arrow()["id"].to_pylist()
    assert sorted(map(int, ids)) == [*range(shop.lines)]


def _native(warehouse: Path, broker: Broker, topic: str) -> None:
    """Let the job go on without Spark."""
    source = pm.kafka(broker.address).topic(topic, format="debezium-json")
    pm.connect(warehouse).ingest(
        source,
        into="ods",
        name="shop",
        primary_keys={"keyed": ["id"], "other": ["id"]},
        options={"bucket": "-1"},
    ).run()


def _run(warehouse: Path, broker: Broker, topic: str, seconds: float | None) -> bool:
    """Run the job on a Spark of its own, kill it after some time; say whether it had ended."""
    module = "tests.ingest.kafka.killed_spark_job"
    command = [sys.executable, "-m", module, str(warehouse), broker.address, topic]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "begun\n"
        if seconds is not None:
            time.sleep(seconds)
            os.killpg(process.pid, signal.SIGKILL)
        told = process.stdout.read()
        code = process.wait(_LIMIT)
    assert seconds is not None or code == 0
    return told == "ended\n"
