"""A Hive metastore of Maven Central on Derby, started for tests on 127.0.0.1."""

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
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NoReturn
from xml.sax.saxutils import escape

import pytest

from paimonlab.catalog.hive.client import Metastore as Asked
from paimonlab.catalog.hive.client import addresses_of
from tests.interop.java_build import JavaMissingError, JavaTools, build_once, fetch_jars
from tests.interop.java_build import cache_folder as built_folder
from tests.ports import free_port
from tools import short_java

_HERE = Path(__file__).parent
HIVE = os.environ.get("PAIMONLAB_HIVE", "2.3.10")
"""The release that tests ask; 3.1.3 is the other."""
_PACKAGE = "org.apache.hadoop.hive.metastore"
OWN_DATABASE = "default"
LOCKS_EXPIRE_SECONDS = 8
"""Of these a machine under load takes some between a lock and what is done with it."""
_SECONDS_TO_START = 180
_OPTIONS = (
    *("-Xmx400m", *short_java.OPTIONS, "-Dorg.slf4j.simpleLogger.defaultLogLevel=error"),
    *("--add-opens=java.base/java.lang=ALL-UNNAMED", "--add-opens=java.base/java.net=ALL-UNNAMED"),
)


class MetastoreMissingError(Exception):
    """No metastore can be had on this machine."""


def without_metastore(missing: MetastoreMissingError) -> NoReturn:
    """Skip, or fail if ``PAIMONLAB_INTEROP`` is ``require``."""
    if os.environ.get("PAIMONLAB_INTEROP") == "require":
        pytest.fail(f"live tests are required: {missing}", pytrace=False)
    pytest.skip(f"no Hive metastore: {missing}")


@dataclass
class Metastore:
    """One that runs, and can be killed and started again on its database."""

    folder: Path
    class_path: str
    java: str
    port: int
    _process: subprocess.Popen[bytes] | None = field(default=None, repr=False)

    @property
    def uri(self) -> str:
        """The address."""
        return f"thrift://127.0.0.1:{self.port}"

    def start(self) -> None:
        """Start it, and wait until it listens."""
        is_new = "used" if (self.folder / "db").exists() else "new"
        command = [
            self.java,
            *_OPTIONS,
            "-cp",
            self.class_path,
            "Metastore",
            str(self.port),
            is_new,
        ]
        log = self.folder / "log"
        with log.open("ab") as output:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                cwd=self.folder,
            )
        end = time.monotonic() + _SECONDS_TO_START
        while not self._listens():
            if self._process.poll() is not None or time.monotonic() > end:
                raise RuntimeError(f"the metastore did not start: {log.read_text()[-2000:]}")
            time.sleep(0.1)

    def clear(self) -> None:
        """Drop all databases but the one that each metastore has; files stay."""
        asked = Asked(addresses_of(self.uri), pool_size=1, timeout_seconds=60)
        for name in asked.ask("get_all_databases"):
            if name != OWN_DATABASE:
                asked.ask("drop_database", name, False, True)
        asked.close()

    def kill(self) -> None:
        """End it at once."""
        assert self._process is not None
        self._process.kill()
        self._process.wait()

    @contextlib.contextmanager
    def standing_still(self) -> Iterator[None]:
        """Stop it: it takes connections, and does not answer."""
        assert self._process is not None
        self._process.send_signal(signal.SIGSTOP)
        try:
            yield
        finally:
            self._process.send_signal(signal.SIGCONT)

    def end(self) -> None:
        """Let it end."""
        assert self._process is not None
        self._process.terminate()
        self._process.wait(_SECONDS_TO_START)

    def _listens(self) -> bool:
        with socket.socket() as asking:
            return asking.connect_ex(("127.0.0.1", self.port)) == 0


@contextlib.contextmanager
def metastore(release: str = HIVE) -> Iterator[Metastore]:
    """Run a metastore with an empty database."""
    sources = _HERE / "hive3" if release.startswith("3.") else _HERE
    try:
        tools = JavaTools.find()
        jars = fetch_jars(tools, sources / "pom.xml")
    except JavaMissingError as missing:
        raise MetastoreMissingError(str(missing)) from None
    classes = _built(tools, jars, sources / "Metastore.java")
    folder = Path(tempfile.mkdtemp(prefix="paimonlab-metastore-"))
    try:
        shutil.copytree(classes / "db", folder / "db")
        made = _in(folder, tools, classes, jars)
        made.start()
        try:
            yield made
        finally:
            made.kill()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def client_jar(tools: JavaTools) -> Path:
    """Return the jar that Java Paimon reaches a metastore with."""
    (jar,) = fetch_jars(tools, _HERE / "pom.xml").glob("hive-exec-*.jar")
    return jar


def _in(folder: Path, tools: JavaTools, classes: Path, jars: Path) -> Metastore:
    """Return a metastore that has its files in a folder."""
    (folder / "conf").mkdir()
    (folder / "conf" / "hive-site.xml").write_text(_site(folder))
    path = os.pathsep.join([str(folder / "conf"), str(classes), f"{jars}/*"])
    return Metastore(folder, path, tools.java, free_port())


def _built(tools: JavaTools, jars: Path, source: Path) -> Path:
    """Return a folder with the class, and with a database that has its tables: they take long."""

    def build(folder: Path) -> None:
        command = [tools.javac, *short_java.OF_A_TOOL, "-nowarn", "-cp", f"{jars}/*"]
        command += ["-d", str(folder), str(source)]
        run = subprocess.run(command, capture_output=True, text=True, check=False)
        if run.returncode:
            raise MetastoreMissingError(f"javac failed: {run.stderr[-2000:]}")
        made = _in(folder, tools, folder, jars)
        made.start()
        made.end()

    contents = source.read_bytes() + Path(__file__).read_bytes() + os.fspath(jars).encode()
    digest = hashlib.sha256(contents).hexdigest()[:16]
    return build_once(built_folder() / f"metastore-{digest}", build)


def _site(folder: Path) -> str:
    settings = {
        "javax.jdo.option.ConnectionURL": f"jdbc:derby:;databaseName={folder}/db;create=true",
        "javax.jdo.option.ConnectionDriverName": "org.apache.derby.jdbc.EmbeddedDriver",
        "datanucleus.schema.autoCreateAll": "true",
        "datanucleus.connectionPoolingType": "DBCP",
        "hive.metastore.schema.verification": "false",
        "hive.metastore.warehouse.dir": f"file://{folder}/warehouse",
        "hive.metastore.uris": "",
        "hive.metastore.authorization.storage.checks": "false",
        "hive.metastore.event.db.notification.api.auth": "false",
        "hive.metastore.disallow.incompatible.col.type.changes": "false",
        "hive.hmshandler.retry.attempts": "1",
        "hive.hmshandler.retry.interval": "100ms",
        "hive.txn.timeout": f"{LOCKS_EXPIRE_SECONDS}s",
        # Those of Hive 3 are in jars of Hive itself.
        "metastore.expression.proxy": f"{_PACKAGE}.DefaultPartitionExpressionProxy",
        "metastore.task.threads.always": f"{_PACKAGE}.events.EventCleanerTask",
        "metastore.task.threads.remote": f"{_PACKAGE}.events.EventCleanerTask",
    }
    properties = "".join(
        f"<property><name>{escape(key)}</name><value>{escape(value)}</value></property>"
        for key, value in settings.items()
    )
    return f"<configuration>{properties}</configuration>"
