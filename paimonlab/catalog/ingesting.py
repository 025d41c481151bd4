"""The verb that reads changes of other systems into tables; the layer above has what it does."""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any, Literal

from paimonlab.spec.options.given import OptionValue


def ingest(  # noqa: PLR0913 - all that a job can be told
    catalog: Any,
    source: Any,
    *,
    into: str,
    name: str,
    table_names: Mapping[str, str] | str | None = None,
    prefix: Mapping[str, str] | str = "",
    suffix: Mapping[str, str] | str = "",
    including: str = ".*",
    excluding: str | None = None,
    merge_shards: bool = True,
    shard_columns: Sequence[str] = (),
    primary_keys: Sequence[str] | Mapping[str, Sequence[str]] | None = None,
    partition_keys: Sequence[str] | Mapping[str, Sequence[str]] | None = None,
    options: Mapping[str, OptionValue] | None = None,
    table_options: Mapping[str, Mapping[str, OptionValue]] | None = None,
    computed: Mapping[str, str | Mapping[str, str]] | None = None,
    metadata: Sequence[str] | Mapping[str, Sequence[str]] | None = None,
    evolve: Literal["lenient", "exact", "strict"] = "lenient",
    on_truncate: Literal["ignore", "apply"] = "ignore",
    on_delete: str = "apply",
    on_error: Literal["stop-table", "stop"] = "stop-table",
    interval: float | str | timedelta = 10.0,
    max_bytes: int | str = "256 mb",
    max_rows: int | None = None,
    max_dead: int = 0,
    max_stall: float | str | timedelta | None = "30 min",
    tags: int = 0,
    state: str | None = None,
    engine: Literal["native", "spark"] = "native",
    **others: Any,
) -> Any:
    """Make a job that reads the tables of a source into a database, each row exactly once.

    Nothing happens before `Job.run` or `Job.start`; `Job.plan` says what would.

    Parameters
    ----------
    source
        Where changes come from: `paimonlab.ingest.files`, ``batches``, ``table_changes``, or an
        object of your own (`paimonlab.ingest.Source`).
    into
        The database; it is created if it does not exist.
    name
        Of the job: of its notes, its commit user, and its consumers. Only one process runs a job.
    table_names
        Names here, by ``database.table`` or ``table`` of the source; a text: the one table that
        all tables of the source become.
    prefix, suffix
        Of the names of the other tables: one for all, or by database of the source, where ``""``
        stands for all other databases.
    including, excluding
        Regular expressions for the whole of ``database.table`` of the source.
    merge_shards
        Whether tables of one name in several databases become one; else ``database_table`` each.
    shard_columns
        Names of columns with the database, and the table, that a row comes from: ``["_db",
        "_table"]``, or the first alone. They are part of the key, unless it is given, so that rows
        of shards with equal keys stay apart.
    primary_keys, partition_keys
        For all tables, or by name here; None: as in the source. A table without a key takes rows
        that are only added.
    options
        Of the tables, by Paimon's keys. Tables that exist are altered.
    table_options
        More options of some tables, by a regular expression for the whole name here: ``{"o.*":
        {"bucket": 4}}``. They win over ``options``, later ones over earlier ones.
    computed
        Columns that are computed from those of the source, for all tables, or by name here:
        ``{"dt": "date_format(created, 'yyyy-MM-dd')"}``. Keys may name them. Functions are those
        of Paimon's actions: ``year``, ``month``, ``day``, ``hour``, ``minute``, ``second``,
        ``date_format``, ``substring``, ``truncate``, ``upper``, ``lower``, ``trim``, ``cast`` of a
        constant, ``now``.
    metadata
        Names of what the source knows of rows beside their values, for all tables, or by name
        here: they become columns after the computed ones. Every source has ``database_name`` and
        ``table_name``; Kafka also ``op_ts``, ``topic``, ``partition``, ``offset``, ``timestamp``.
    evolve
        ``lenient``: columns and wider types are added, what is dropped or renamed in the source is
        kept and null in new rows; ``exact``: also dropped and renamed; ``strict``: any change but
        an added nullable column or a comment stops the table.
    on_truncate
        What happens when the source empties a table: ``ignore`` keeps the rows, ``apply`` deletes
        them.
    on_delete
        What happens when the source deletes a row: ``apply`` deletes it; ``mark:<column>`` keeps
        it as it was, and the column, a BOOLEAN that is added, is true. A row that is inserted
        again is not marked any more. A table without a key stops at a delete.
    on_error
        ``stop-table``: a table that cannot go on stops, the others do not; ``stop``: the job ends.
    interval
        How long rows wait before they are committed: seconds, or ``10 s``.
    max_bytes
        How many bytes of rows wait in memory; on Spark, about how many a batch has.
    max_rows
        Of an epoch; None: no limit.
    max_dead
        How many rows that cannot be stored are set aside, in ``<into>.<name>__dead``. The next one
        ends the job.
    max_stall
        With ``engine="spark"``: how long a batch may go without a task that ends, or a part that
        begins, before the run ends with `IngestStalledError`: seconds, or ``30 min``; None: for
        ever.
    tags
        How many of the newest epochs are kept as tags ``ingest-<name>-<epoch>`` of all tables: at
        tags of one name the tables go together.
    state
        A folder for the job's notes; None: ``.paimonlab/ingest`` in the warehouse.
    engine
        ``native``: one process, this one; ``spark``: executors of the active session of Spark, or
        of a local one, read the partitions of Kafka and write the files.
    **others
        Refused: what other tools can be told, and what is not implemented here.

    Returns
    -------
    paimonlab.ingest.Job
        See there how it is run, watched and stopped.

    Raises
    ------
    UnsupportedError
        If something is not implemented; names it.
    ReadOnlyError
        If the catalog was opened to read only.
    SchemaError
        If the name cannot be that of a job.
    """
    # The layer is above this one: it is looked up when it is used.
    make = importlib.import_module("paimonlab.ingest").ingest
    return make(
        catalog,
        source,
        into=into,
        name=name,
        table_names=table_names,
        prefix=prefix,
        suffix=suffix,
        including=including,
        excluding=excluding,
        merge_shards=merge_shards,
        shard_columns=shard_columns,
        primary_keys=primary_keys,
        partition_keys=partition_keys,
        options=options,
        table_options=table_options,
        computed=computed,
        metadata=metadata,
        evolve=evolve,
        on_truncate=on_truncate,
        on_delete=on_delete,
        on_error=on_error,
        interval=interval,
        max_bytes=max_bytes,
        max_rows=max_rows,
        max_dead=max_dead,
        max_stall=max_stall,
        tags=tags,
        state=state,
        engine=engine,
        **others,
    )
