"""A broker of Apache Kafka from Maven Central, started for tests on 127.0.0.1 (KRaft, one node)."""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from tests.certificates import made_certificates
from tests.interop.java_build import (
    JavaMissingError,
    JavaTools,
    build_once,
    cache_folder,
    fetch_jars,
)
from tests.ports import free_ports
from tools import short_java

_HERE = Path(__file__).parent
_SECONDS_TO_START = 120
_ATTEMPTS = 30
_OPTIONS = (
    *("-Xmx256m", "-Xms64m", *short_java.OPTIONS),
    "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn",
)
_PROPERTIES = """\
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:{controller}
listeners=PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller}{tls}
advertised.listeners=PLAINTEXT://127.0.0.1:{port}{tls}
controller.listener.names=CONTROLLER
listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,SSL:SSL
log.dirs={folder}/logs
broker.session.timeout.ms=1000
broker.heartbeat.interval.ms=200
num.partitions=1
num.network.threads=1
num.io.threads=2
log.cleaner.backoff.ms=200
log.cleaner.dedupe.buffer.size=2097152
log.cleaner.io.buffer.size=65536
offsets.topic.num.partitions=1
offsets.topic.replication.factor=1
transaction.state.log.num.partitions=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
share.coordinator.state.topic.replication.factor=1
share.coordinator.state.topic.min.isr=1
group.initial.rebalance.delay.ms=0
auto.create.topics.enable=false
"""
_TLS = """\
ssl.keystore.type=PEM
ssl.keystore.location={folder}/server.pem
ssl.truststore.type=PEM
ssl.truststore.location={authority}
ssl.client.auth=required
"""


class BrokerMissingError(Exception):
    """No broker can be had on this machine."""


@dataclass
class Broker:
    """One that runs, and can be killed and started again on its data."""

    folder: Path
    command: Sequence[str]
    port: int
    tls_port: int | None = None
    """Of clients with a certificate; None: certificates cannot be had."""
    _process: subprocess.Popen[bytes] | None = field(default=None, repr=False)

    @property
    def address(self) -> str:
        """``host:port``."""
        return f"127.0.0.1:{self.port}"

    def start(self) -> None:
        """Start it, and wait until it listens."""
        log = self.folder / "log"
        with log.open("ab") as output:
            self._process = subprocess.Popen(
                [*self.command, "kafka.Kafka", str(self.folder / "server.properties")],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
            )
        end = time.monotonic() + _SECONDS_TO_START
        while not self._listens():
            if self._process.poll() is not None or time.monotonic() > end:
                raise RuntimeError(f"the broker did not start: {log.read_text()[-2000:]}")
            time.sleep(0.05)

    def kill(self) -> None:
        """End it at once."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()

    @contextlib.contextmanager
    def stopped(self) -> Iterator[None]:
        """Let it stand still meanwhile: its connections stay open, and nothing is answered."""
        assert self._process is not None
        self._process.send_signal(signal.SIGSTOP)
        try:
            yield
        finally:
            self._process.send_signal(signal.SIGCONT)

    def create(self, topic: str, partitions: int = 1, **options: str) -> None:
        """Create a topic.

        One that a busy machine let wait takes no topics for a moment.
        """
        from confluent_kafka import KafkaError, KafkaException  # noqa: PLC0415 - an extra
        from confluent_kafka.admin import NewTopic  # noqa: PLC0415 - an extra

        config = {name.replace("_", "."): value for name, value in options.items()}
        for attempt in range(_ATTEMPTS):
            made = self.admin.create_topics([NewTopic(topic, partitions, 1, config=config)])
            try:
                made[topic].result(30)
            except KafkaException as error:
                is_fenced = error.args[0].code() == KafkaError.INVALID_REPLICATION_FACTOR
                if not is_fenced or attempt == _ATTEMPTS - 1:
                    raise
                time.sleep(1)
            else:
                return

    @cached_property
    def admin(self) -> Any:
        """A client that changes topics."""
        from confluent_kafka.admin import AdminClient  # noqa: PLC0415 - an extra

        return AdminClient({"bootstrap.servers": self.address})

    def produce(
        self,
        topic: str,
        values: Sequence[bytes | None],
        *,
        keys: Sequence[bytes | None] | None = None,
        partition: int = 0,
        **options: Any,
    ) -> None:
        """Write messages, and wait until they are there."""
        from confluent_kafka import Producer  # noqa: PLC0415 - an extra

        producer = Producer(
            {
                "bootstrap.servers": self.address,
                "linger.ms": 20,
                "queue.buffering.max.messages": 10**6,
            }
        )
        given = [None] * len(values) if keys is None else keys
        for key, value in zip(given, values, strict=True):
            producer.produce(topic, value, key, partition=partition, **options)
            producer.poll(0)
        assert producer.flush(60) == 0

    def _listens(self) -> bool:
        with socket.socket() as asking:
            return asking.connect_ex(("127.0.0.1", self.port)) == 0


@contextlib.contextmanager
def broker() -> Iterator[Broker]:
    """Run a broker without topics."""
    try:
        import confluent_kafka  # noqa: F401, PLC0415 - an extra
    except ImportError:
        raise BrokerMissingError("confluent-kafka is not installed") from None
    try:
        tools = JavaTools.find()
        jars = fetch_jars(tools, _HERE / "pom.xml")
    except JavaMissingError as missing:
        raise BrokerMissingError(str(missing)) from None
    folder = Path(tempfile.mkdtemp(prefix="paimonlab-kafka-"))
    try:
        command = (tools.java, *_OPTIONS, "-cp", f"{jars}/*")
        port, controller, tls_port = free_ports(3)
        certificates = made_certificates()
        tls = "" if certificates is None else f",SSL://127.0.0.1:{tls_port}"
        text = _PROPERTIES.format(port=port, controller=controller, folder=folder, tls=tls)
        if certificates is not None:
            text += _TLS.format(folder=folder, authority=certificates.authority)
            parts = (certificates.key, certificates.server)
            (folder / "server.pem").write_text("".join(part.read_text("ascii") for part in parts))
        (folder / "server.properties").write_text(text)
        shutil.copytree(_formatted(command, jars), folder / "logs")
        made = Broker(folder, command, port, tls_port if tls else None)
        made.start()
        try:
            yield made
        finally:
            made.kill()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _formatted(command: Sequence[str], jars: Path) -> Path:
    """Return the folder of a broker that never ran, made once: it takes a JVM."""

    def build(folder: Path) -> None:
        text = _PROPERTIES.format(port=2, controller=3, folder=folder, tls="")
        properties = folder / "server.properties"
        properties.write_text(text)
        _format(command, properties)

    digest = hashlib.sha256(Path(__file__).read_bytes() + os.fspath(jars).encode()).hexdigest()
    return build_once(cache_folder() / f"kafka-{digest[:16]}", build) / "logs"


def _format(command: Sequence[str], properties: Path) -> None:
    cluster = "4L6g3nShT-eMCtK--X86sw"  # any number of sixteen bytes in base64 does
    run = subprocess.run(
        [*command, "kafka.tools.StorageTool", "format", "-t", cluster, "-c", str(properties)],
        capture_output=True,
        text=True,
        check=False,
    )
    if run.returncode:
        raise RuntimeError(f"the broker's folder was not made: {run.stdout}{run.stderr}")
