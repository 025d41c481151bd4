"""The procedure that clones tables into another catalog: ``clone``.

Java has it in Flink. ``target_catalog_conf`` says where the other catalog is; without it tables are
cloned within their own, under other names.

Source: apache/paimon@04e63ef ``org.apache.paimon.flink.procedure.CloneProcedure``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from paimonlab import catalog as catalogs
from paimonlab.catalog import Catalog, connect
from paimonlab.errors import ReadOnlyError
from paimonlab.procedures.declare import columns, optional
from paimonlab.procedures.invocation import Invocation
from paimonlab.procedures.procedure import Procedure, Row
from paimonlab.procedures.texts import key_values

if TYPE_CHECKING:
    from paimonlab.catalog.cloning import TableClone


def _clone(call: Invocation) -> Sequence[Row]:
    request = catalogs.cloning.CloneRequest(
        database=call.filled("database"),
        table=call.filled("table"),
        target_database=call.filled("target_database"),
        target_table=call.filled("target_table"),
        included_tables=_names(call, "included_tables"),
        excluded_tables=_names(call, "excluded_tables") or (),
        where=call.filled("where"),
        prefer_file_format=call.filled("prefer_file_format"),
        meta_only=call.flag("meta_only"),
        clone_if_exists=call.flag("clone_if_exists", default=True),
        dry_run=call.is_dry_run,
        progress=call.progress,
        workers=call.workers.at_most(call.parallelism()),
    )
    done = catalogs.cloning.clone(call.catalog, _target(call), request)
    for one in done:
        call.note(one)
    return tuple((one.source, one.target, one.rows, _state(one)) for one in done)


def _target(call: Invocation) -> Catalog:
    conf = call.text("target_catalog_conf") or ""
    values = key_values(conf, procedure=call.procedure, argument="target_catalog_conf")
    if not values:
        return call.catalog
    target = connect(values)
    if target.is_read_only:
        raise ReadOnlyError(f"CALL sys.{call.procedure}")
    return target


def _names(call: Invocation, argument: str) -> list[str] | None:
    text = call.filled(argument)
    return None if text is None else [name.strip() for name in text.split(",")]


def _state(one: TableClone) -> str:
    if one.is_left:
        return "left"
    return "there already" if one.is_done else "cloned"


CLONE_PROCEDURES = (
    Procedure(
        name="clone",
        parameters=(
            optional("database", "STRING", "The database; none: all."),
            optional("table", "STRING", "A table of it; none: all."),
            optional("target_database", "STRING", "Its name there, if another."),
            optional("target_table", "STRING", "The name of the one table there, if another."),
            optional(
                "target_catalog_conf",
                "STRING",
                "Options of the other catalog: warehouse=…,metastore=…; none: this one.",
            ),
            optional("parallelism", "INT", "How many read and write at once, at most."),
            optional("where", "STRING", "A condition on partition columns."),
            optional("included_tables", "STRING", "These alone: db.a,db.b."),
            optional("excluded_tables", "STRING", "None of these: db.a,db.b."),
            optional("prefer_file_format", "STRING", "Of tables that are made."),
            optional("meta_only", "BOOLEAN", "Make tables, without rows."),
            optional(
                "clone_if_exists",
                "BOOLEAN",
                "Whether tables that are there get new rows; none: true.",
            ),
        ),
        result=columns(table="STRING", target_table="STRING", rows="BIGINT", state="STRING"),
        description="Let another catalog have the rows of tables, and compare them.",
        rows=_clone,
        has_plan=True,
    ),
)
