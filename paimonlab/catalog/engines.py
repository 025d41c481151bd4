"""The verb of catalogs that tells other engines; `engine_statements` has it, loaded on use."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias

from paimonlab import catalog as catalogs
from paimonlab.catalog.names import parse
from paimonlab.errors import SchemaError

if TYPE_CHECKING:
    from paimonlab.catalog.engine_requests import EngineTable
    from paimonlab.table.table import Table

Engine: TypeAlias = Literal["flink", "maxcompute", "spark", "starrocks", "trino"]


class _Catalog(Protocol):
    path: str
    options: dict[str, str]

    @property
    def has_folder(self) -> bool: ...

    def table(self, name: str) -> Table: ...


def statements_for(
    catalog: _Catalog,
    engine: Engine,
    tables: Sequence[str] | None = None,
    *,
    name: str | None = None,
    properties: Mapping[str, str] | None = None,
    show_secrets: bool = False,
) -> list[str]:
    """Write what another engine has to be told, so that it finds the tables of this catalog.

    Nothing is sent anywhere: give the texts to the engine. They follow its documents, and
    ``docs/engines.md`` says which of them were run.

    Parameters
    ----------
    engine
        ``flink``, ``starrocks``: a ``CREATE CATALOG`` or ``CREATE EXTERNAL CATALOG``; ``spark``:
        settings ``key=value`` of Java Paimon's connector; ``trino``: the lines of a file of
        properties; ``maxcompute``: a ``CREATE EXTERNAL TABLE`` per table, and for partitioned ones
        a statement that finds the partitions. They are what E-MapReduce takes as well.
    tables
        ``database.table`` each; those that have to be readable there, so that columns which the
        engine has no type for are refused. None: none is looked at; the engine sees all of the
        catalog. MaxCompute takes at least one.
    name
        Of the catalog there, ``paimon`` by default: lower-case letters, digits and underscores. For
        MaxCompute the project of the tables, by default the current one.
    properties
        What the engine takes beside, by its own keys, as
        ``{"aws.s3.use_instance_profile": "true"}``; they go before what follows from the catalog.
    show_secrets
        Whether keys, tokens and passwords are written; else ``<key>`` is in their place.

    Returns
    -------
    list[str]
        Statements without a semicolon, in order; of Spark and Trino lines.

    Raises
    ------
    UnsupportedError
        If the engine cannot read such a catalog, store, option, table or column; names it.
    ValueError
        If there is no such engine, a name is not allowed, or something is missing.
    TableNotFoundError
        If there is no such table.
    SchemaError
        If a name is that of a branch, a system table or a format table.

    Examples
    --------
    >>> import paimonlab as pm
    >>> catalog = pm.connect("/data/warehouse")
    >>> for line in catalog.statements_for("trino"):
    ...     print(line)
    # etc/catalog/paimon.properties
    connector.name=paimon
    warehouse=file:/data/warehouse
    """
    options = dict(catalog.options)
    if catalog.has_folder:
        options["warehouse"] = catalog.path
    asked = catalogs.engine_requests.EngineRequest(
        options=options,
        tables=tuple(_opened(catalog, table) for table in tables or ()),
        name=name,
        properties=dict(properties or {}),
        show_secrets=show_secrets,
    )
    return catalogs.engine_statements.statements(engine, asked)


def _opened(catalog: _Catalog, name: str) -> EngineTable:
    if parse(name).branch is not None:
        raise SchemaError(f"{name} is a branch: engines are told of tables")
    table = catalog.table(name)
    return catalogs.engine_requests.EngineTable(
        name=parse(name).full_name, path=table.path, schema=table.schema
    )
