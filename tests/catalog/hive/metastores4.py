"""Hive 4's own metastore of Maven Central, on Derby and 127.0.0.1, with TLS and a login.

Its own main method starts it. Tables of transactions and locks are not in what it makes by itself,
so catalogs on it take no lock.
"""

from __future__ import annotations

import contextlib
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from xml.sax.saxutils import escape

from tests.catalog.hive.metastores import MetastoreMissingError
from tests.certificates import made_certificates
from tests.interop.java_build import JavaMissingError, JavaTools, fetch_jars
from tests.ports import HOST, free_port
from tools import short_java

USER, PASSWORD = "lake", "zqhushsea"
_POM = Path(__file__).parent / "hive4" / "pom.xml"
_MAIN = "org.apache.hadoop.hive.metastore.HiveMetaStore"
_STORE_PASSWORD = "zqstore"
_SECONDS_TO_START = 180
_OPTIONS = (
    *("-Xmx400m", *short_java.OPTIONS, "-Dorg.slf4j.simpleLogger.defaultLogLevel=error"),
    *("--add-opens=java.base/java.lang=ALL-UNNAMED", "--add-opens=java.base/java.net=ALL-UNNAMED"),
    "--add-opens=java.base/java.util=ALL-UNNAMED",
)


@contextlib.contextmanager
def secured_metastore() -> Iterator[Mapping[str, str]]:
    """Run it; yield the options by which a catalog reaches it."""
    made = made_certificates()
    if made is None:
        raise MetastoreMissingError("openssl is not installed")
    try:
        tools = JavaTools.find()
        jars = fetch_jars(tools, _POM)
    except JavaMissingError as missing:
        raise MetastoreMissingError(str(missing)) from None
    folder, port = Path(tempfile.mkdtemp(prefix="paimonlab-metastore4-")), free_port()
    try:
        keys = folder / "keys.p12"
        subprocess.run(
            [
                *("openssl", "pkcs12", "-export", "-in", str(made.server), "-inkey", str(made.key)),
                *("-out", str(keys), "-passout", f"pass:{_STORE_PASSWORD}"),
            ],
            check=True,
            capture_output=True,
        )
        (folder / "metastore-site.xml").write_text(_site(folder, keys))
        log = folder / "log"
        with log.open("wb") as output:
            process = subprocess.Popen(
                [tools.java, *_OPTIONS, "-cp", f"{folder}:{jars}/*", _MAIN, "-p", str(port)],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                cwd=folder,
            )
        try:
            _wait(port, process, log)
            yield {
                "metastore": "hive",
                "uri": f"thrift://{HOST}:{port}",
                "hive.metastore.use.SSL": "true",
                "hive.metastore.truststore.path": str(made.authority),
                "hive.metastore.client.auth.mode": "PLAIN",
                "hive.metastore.client.plain.username": USER,
                "hive.metastore.client.plain.password": PASSWORD,
            }
        finally:
            process.kill()
            process.wait()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _wait(port: int, process: subprocess.Popen[bytes], log: Path) -> None:
    end = time.monotonic() + _SECONDS_TO_START
    while True:
        with socket.socket() as asking:
            if asking.connect_ex((HOST, port)) == 0:
                return
        if process.poll() is not None or time.monotonic() > end:
            raise RuntimeError(f"the metastore did not start: {log.read_text()[-2000:]}")
        time.sleep(0.1)


def _site(folder: Path, keys: Path) -> str:
    package = "org.apache.hadoop.hive.metastore"
    settings = {
        "javax.jdo.option.ConnectionURL": f"jdbc:derby:;databaseName={folder}/db;create=true",
        "javax.jdo.option.ConnectionDriverName": "org.apache.derby.jdbc.EmbeddedDriver",
        "datanucleus.schema.autoCreateAll": "true",
        "metastore.schema.verification": "false",
        "metastore.warehouse.dir": f"file://{folder}/warehouse",
        "metastore.thrift.bind.host": HOST,
        "metastore.thrift.uris": "",
        "metastore.use.SSL": "true",
        "metastore.keystore.path": str(keys),
        "metastore.keystore.type": "pkcs12",
        "metastore.keystore.password": _STORE_PASSWORD,
        "metastore.authentication": "CONFIG",
        "metastore.authentication.config.username": USER,
        "metastore.authentication.config.password": PASSWORD,
        "metastore.execute.setugi": "false",  # it does not start with both
        "metastore.disallow.incompatible.col.type.changes": "false",
        "metastore.expression.proxy": f"{package}.DefaultPartitionExpressionProxy",
        "metastore.task.threads.always": f"{package}.events.EventCleanerTask",
        "metastore.task.threads.remote": "",
        "metastore.compactor.initiator.on": "false",
    }
    properties = "".join(
        f"<property><name>{escape(key)}</name><value>{escape(value)}</value></property>"
        for key, value in settings.items()
    )
    return f"<configuration>{properties}</configuration>"
