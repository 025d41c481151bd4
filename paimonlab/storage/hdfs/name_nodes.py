"""Name services: several name nodes of which one is active, as Hadoop's own keys name them.

Sources: hadoop.apache.org, "HDFS High Availability Using the Quorum Journal Manager" of 3.3.6
(``dfs.ha.namenodes.NS``, ``dfs.namenode.http-address.NS.NN``), and apache/hadoop@3.3.6
``DFSUtilClient.getHaNnWebHdfsAddresses``, ``WebHdfsFileSystem``.
"""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Mapping, Sequence
from typing import TypeAlias

from paimonlab.errors import UnsupportedError
from paimonlab.storage.hdfs.hadoop_files import FILES, hadoop_settings
from paimonlab.storage.schemes import HADOOP_PREFIX

CONF_DIR = "hadoop-conf-dir"
_NODES = "dfs.ha.namenodes."
_ADDRESSES = {"webhdfs": "dfs.namenode.http-address.", "swebhdfs": "dfs.namenode.https-address."}
_TAKEN = ("dfs.nameservices", _NODES, *_ADDRESSES.values())
_WITHOUT_EFFECT = (
    "dfs.client.failover.proxy.provider.",  # of the protocol that is not HTTP
    "dfs.namenode.rpc-address.",
)
_ADDRESS = re.compile(r"[A-Za-z0-9][\w.-]*:\d{1,5}", re.ASCII)

Settings: TypeAlias = tuple[tuple[str, str], ...]


def service_settings(options: Mapping[str, str], *, reads_files: bool) -> Settings:
    """Return the settings that say of which name nodes services are.

    Parameters
    ----------
    options
        Those of a catalog: ``hadoop.dfs.ha.namenodes.NS`` and so on, which win over files.
    reads_files
        Whether ``core-site.xml`` and ``hdfs-site.xml`` are looked at, in ``hadoop-conf-dir`` or
        else the folder that ``HADOOP_CONF_DIR`` names.

    Raises
    ------
    UnsupportedError
        If an option of Hadoop's has an effect that is not implemented.
    ValueError
        If a file cannot be read.
    """
    found = _of_files(options) if reads_files or options.get(CONF_DIR) else {}
    for key, value in options.items():
        if key.startswith(HADOOP_PREFIX):
            name = key.removeprefix(HADOOP_PREFIX)
            if not name.startswith((*_TAKEN, *_WITHOUT_EFFECT)):
                raise UnsupportedError(
                    f"{key} = '{value}' with webhdfs:",
                    "of Hadoop's keys it takes those that name the nodes of a service",
                )
            found[name] = value
    return tuple(sorted(pair for pair in found.items() if pair[0].startswith(_TAKEN)))


def addresses_of(settings: Settings, scheme: str, service: str) -> Sequence[str]:
    """Return host and port of each name node of a service; empty: it is no service.

    Raises
    ------
    ValueError
        If one of them has no address.

    Examples
    --------
    >>> nodes = (
    ...     ("dfs.ha.namenodes.lake", "n1, n2"),
    ...     ("dfs.namenode.http-address.lake.n1", "a:9870"),
    ...     ("dfs.namenode.http-address.lake.n2", "b:9870"),
    ... )
    >>> addresses_of(nodes, "webhdfs", "lake"), addresses_of(nodes, "webhdfs", "a")
    (['a:9870', 'b:9870'], [])
    """
    told = dict(settings)
    found = list[str]()
    for node in filter(None, (one.strip() for one in told.get(_NODES + service, "").split(","))):
        key = f"{_ADDRESSES[scheme]}{service}.{node}"
        address = told.get(key, "").strip()
        if not _ADDRESS.fullmatch(address):
            problem = f"is {address!r} and not host:port" if address else "is missing"
            raise ValueError(
                f"{key}, the address of a name node of {scheme}://{service}, {problem}"
            )
        found.append(address)
    return found


class NameNodes:
    """Which name node is asked. Threads share it.

    Parameters
    ----------
    bases
        What addresses begin with: one, or one per name node of a service.
    """

    def __init__(self, bases: Sequence[str]) -> None:
        self._bases = tuple(bases)
        self._turn = threading.Lock()
        self._at = 0
        self._is_active = len(bases) == 1

    @property
    def count(self) -> int:
        """How many there are."""
        return len(self._bases)

    def asked(self) -> tuple[str, bool]:
        """Return which one is asked, and whether it showed that it is active.

        A standby that serves reads (an observer) answers from the past: it would say that a file
        which has just been moved was never there. One name node alone is believed.
        """
        with self._turn:
            return self._bases[self._at], self._is_active

    def believe(self, base: str) -> None:
        """Note that a name node is active."""
        with self._turn:
            if self._bases[self._at] == base:
                self._is_active = True

    def leave(self, base: str) -> None:
        """Ask the next one from now on, unless another thread has seen to that."""
        with self._turn:
            if self.count > 1 and self._bases[self._at] == base:
                self._at = (self._at + 1) % self.count
                self._is_active = False


def _of_files(options: Mapping[str, str]) -> dict[str, str]:
    given = options.get(CONF_DIR)
    folder = given or os.environ.get("HADOOP_CONF_DIR")
    if not folder:
        return {}
    found = hadoop_settings(folder)
    if found is None and given:
        raise ValueError(f"{CONF_DIR} = {given!r} has neither {FILES[0]} nor {FILES[1]}")
    return {key: value for key, value in (found or {}).items() if key.startswith(_TAKEN)}
