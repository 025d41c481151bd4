"""Kerberos for tests: Apache Kerby on 127.0.0.1, by Hadoop's MiniKdc, and an HDFS that wants it."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from tests.interop.java_build import JavaMissingError, JavaTools, fetch_jars
from tests.ports import free_port
from tests.storage.stores import hdfs
from tests.storage.stores.server import ServerMissingError
from tools import short_java

_HERE = Path(__file__).parent
_START_SECONDS = 120
REALM = "EXAMPLE.COM"
USER = f"me@{REALM}"
_SERVICES = ("hdfs/localhost", "HTTP/localhost")
_SETTINGS = """org.name=EXAMPLE
org.domain=COM
kdc.bind.address=127.0.0.1
kdc.port={port}
instance=DefaultKrbServer
transport=TCP
max.ticket.lifetime=86400000
max.renewable.lifetime=604800000
debug=false
"""


class Realm(NamedTuple):
    """What servers and clients of a realm need."""

    config: Path
    """For ``KRB5_CONFIG``."""
    keytab: Path
    """With the keys of all."""


@contextmanager
def realm(folder: Path) -> Iterator[Realm]:
    """Run a realm with a user and the services of a name node."""
    try:
        tools = JavaTools.find()
        jars = fetch_jars(tools, _HERE / "kdc.pom.xml")
    except JavaMissingError as missing:
        raise ServerMissingError(f"no Kerberos: {missing}") from None
    settings, keytab, log = (folder / name for name in ("settings", "keytab", "kdc-log"))
    settings.write_text(_SETTINGS.format(port=free_port()))
    command = [tools.java, "-Xmx200m", *short_java.OPTIONS, "-cp", f"{jars}/*"]
    command += ["org.apache.hadoop.minikdc.MiniKdc", str(folder), str(settings), str(keytab)]
    with log.open("w") as output:
        process = subprocess.Popen(
            [*command, *_SERVICES, USER.partition("@")[0]],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            cwd=folder,
        )
        try:
            end = time.monotonic() + _START_SECONDS
            while "Do <CTRL-C>" not in log.read_text():
                if process.poll() is not None or time.monotonic() > end:
                    raise ServerMissingError(f"no Kerberos: {log.read_text()[-2000:]}")
                time.sleep(0.1)
            yield Realm(folder / "krb5.conf", keytab)
        finally:
            process.kill()
            process.wait()


@contextmanager
def guarded_hdfs(folder: Path, realm: Realm) -> Iterator[str]:
    """Run an HDFS that wants Kerberos; yield its address, with the host that its key is for."""
    name, web = (f"{service}@{REALM}" for service in _SERVICES)
    told = {
        "hadoop.security.authentication": "kerberos",
        "hadoop.security.authorization": "true",
        "dfs.block.access.token.enable": "true",
        "dfs.data.transfer.protection": PROTECTION,
        "ignore.secure.ports.for.testing": "true",
        "dfs.namenode.kerberos.principal": name,
        "dfs.namenode.keytab.file": str(realm.keytab),
        "dfs.datanode.kerberos.principal": name,
        "dfs.datanode.keytab.file": str(realm.keytab),
        "dfs.web.authentication.kerberos.principal": web,
        "dfs.web.authentication.kerberos.keytab": str(realm.keytab),
    }
    java = (
        f"-Djava.security.krb5.conf={realm.config}",
        "--add-exports=java.security.jgss/sun.security.krb5=ALL-UNNAMED",
    )
    with hdfs.running(folder, told, java) as addresses:
        yield addresses.url.replace("127.0.0.1", "localhost")


PROTECTION = "privacy"
"""Of the data on its way."""
CLIENT: Mapping[str, str] = {
    "hadoop.hadoop.security.authentication": "kerberos",
    "hadoop.dfs.data.transfer.protection": PROTECTION,
}
"""Options of a catalog there, without a login."""
