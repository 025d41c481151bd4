"""What another engine is to be told of a catalog: the question, and what all answers take of it."""

from __future__ import annotations

import re
from collections.abc import Mapping

from msgspec import Struct

from paimonlab.secrets import hides_secrets, is_secret, without_secrets
from paimonlab.spec.schema.table_schema import TableSchema


class EngineTable(Struct, frozen=True, kw_only=True):
    """A table that an engine is to read."""

    name: str
    """``database.table``"""
    path: str
    """Its folder."""
    schema: TableSchema


@hides_secrets
class EngineRequest(Struct, frozen=True, kw_only=True):
    """What is to be told."""

    options: Mapping[str, str]
    """Of the catalog, by Paimon's keys; ``warehouse`` is an absolute path, or a server's name."""
    tables: tuple[EngineTable, ...] = ()
    name: str | None = None
    properties: Mapping[str, str] = {}
    """By the engine's keys."""
    show_secrets: bool = False

    @property
    def warehouse(self) -> str:
        """Where the catalog is."""
        return self.options.get("warehouse", "")

    @property
    def metastore(self) -> str:
        """The kind of catalog."""
        return self.options.get("metastore", "filesystem")

    @property
    def catalog_name(self) -> str:
        """What the catalog is called there."""
        return checked_name(self.name or "paimon")

    def shown(self, pairs: Mapping[str, str]) -> dict[str, str]:
        """Add the properties, and hide secrets unless they are asked for."""
        given = {**pairs, **self.properties}
        if self.show_secrets:
            return given
        return {
            key: f"<{key}>" if is_secret(key) else without_secrets(value)
            for key, value in given.items()
        }


def checked_name(name: str) -> str:
    """Return the name of a catalog or a schema.

    Raises
    ------
    ValueError
        If not every engine takes it.
    """
    if not re.fullmatch(r"[a-z][a-z0-9_]{0,63}", name):
        raise ValueError(
            f"{name!r} cannot be the name there: lower-case letters, digits and underscores, a "
            "letter first, at most 64"
        )
    return name


def oss_host(values: Mapping[str, str], *, is_internal: bool) -> str:
    """Return the server of OSS, as seen from outside or, if ``is_internal``, in Alibaba's network.

    Raises
    ------
    ValueError
        If no option says which.
    """
    region = values.get("region", "").removeprefix("oss-")
    host = values.get("endpoint") or (f"oss-{region}.aliyuncs.com" if region else "")
    if not host:
        raise ValueError("the option 'fs.oss.endpoint' is missing: oss-cn-hangzhou.aliyuncs.com …")
    host = host.rpartition("://")[2].rstrip("/")
    known = re.fullmatch(r"(oss-[a-z0-9-]+?)(?:-internal)?\.aliyuncs\.com", host)
    return f"{known[1]}-internal.aliyuncs.com" if known and is_internal else host
