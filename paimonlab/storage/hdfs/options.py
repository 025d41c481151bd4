"""Options of HDFS, as Paimon and Hadoop call them.

Sources: apache/paimon@1.3.1 ``org.apache.paimon.utils.HadoopUtils`` (``hadoop-conf-dir``,
``hadoop.`` before Hadoop's own keys) and ``SecurityConfiguration``
(``security.kerberos.login.principal`` …).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from paimonlab.errors import UnsupportedError
from paimonlab.secrets import hides_secrets
from paimonlab.storage.schemes import HADOOP_PREFIX, KERBEROS_PREFIX

_TICKETS = "use-ticket-cache"


@hides_secrets
@dataclass(frozen=True, slots=True)
class HdfsOptions:
    """How HDFS is reached. Picklable."""

    config: tuple[tuple[str, str], ...] = ()
    """Hadoop's own keys."""
    config_folder: str | None = None
    """Where ``core-site.xml`` and ``hdfs-site.xml`` are; None: as ``HADOOP_CONF_DIR`` says."""
    principal: str | None = None
    keytab: str | None = None


def hdfs_options(options: Mapping[str, str]) -> HdfsOptions:
    """Read the options of HDFS among those of a catalog.

    Raises
    ------
    UnsupportedError
        If an option is not implemented.
    ValueError
        If of principal and keytab one is missing.
    """
    kerberos = {
        key[len(KERBEROS_PREFIX) :]: value
        for key, value in options.items()
        if key.startswith(KERBEROS_PREFIX)
    }
    for name, value in kerberos.items():
        if name not in ("principal", "keytab", _TICKETS):
            raise UnsupportedError(f"{KERBEROS_PREFIX}{name} = '{value}'")
    principal, keytab = kerberos.get("principal") or None, kerberos.get("keytab") or None
    if (principal is None) != (keytab is None):
        raise ValueError(
            f"of {KERBEROS_PREFIX}principal and {KERBEROS_PREFIX}keytab one is missing"
        )
    if kerberos.get(_TICKETS, "true") != "true" and principal is None:
        raise UnsupportedError(f"{KERBEROS_PREFIX}{_TICKETS} = '{kerberos[_TICKETS]}'")
    return HdfsOptions(
        config=tuple(
            (key[len(HADOOP_PREFIX) :], value)
            for key, value in options.items()
            if key.startswith(HADOOP_PREFIX)
        ),
        config_folder=options.get("hadoop-conf-dir") or None,
        principal=principal,
        keytab=keytab,
    )
