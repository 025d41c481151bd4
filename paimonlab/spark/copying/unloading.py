"""``COPY INTO 'folder' FROM …``: rows of a table or a query into files.

Source: apache/paimon@5dacde5 ``CopyIntoLocationExec``; here rows are counted while they are
written, so that a query runs once.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pyspark.sql import Observation, SparkSession, functions
from pyspark.sql.types import IntegerType, LongType, StringType, StructType

from paimonlab.spark.catalogs.clones import catalogs_of
from paimonlab.spark.catalogs.namespaces import catalog_behind
from paimonlab.spark.copying.source_files import SourceFiles
from paimonlab.spark.jvm.bridge import Bridge
from paimonlab.spark.jvm.commands import Row, command
from paimonlab.spark.values.quoting import quoted
from paimonlab.spec.sql_text.copy_syntax import CopyIntoFolder
from paimonlab.table.copying.formats import writer_options
from paimonlab.table.copying.targets import ANSWER, check_target

_ANSWER = StructType()
for _name, _type in zip(ANSWER, (StringType(), IntegerType(), LongType()), strict=True):
    _ANSWER = _ANSWER.add(_name, _type, nullable=False)


def unload_command(bridge: Bridge, statement: CopyIntoFolder) -> Any:
    """Return the command that writes rows to files.

    Raises
    ------
    UnsupportedError
        If an option of the format is unknown.
    """
    options = writer_options(statement.format, statement.options)
    text = f"COPY INTO '{statement.target}'"

    def run(session: Any) -> Sequence[Row]:
        spark = SparkSession(bridge.spark.sparkContext, session)
        files = SourceFiles(bridge, session)
        _check_target(bridge, session, files.absolute(statement.target), text)
        if statement.table is None:
            query = f"SELECT * FROM ({statement.query}\n)"  # noqa: S608 - in parentheses: a query
        else:
            query = f"SELECT * FROM {'.'.join(map(quoted, statement.table))}"  # noqa: S608
        count = Observation()
        rows = spark.sql(query).observe(count, functions.count(functions.lit(1)).alias("rows"))
        mode = "overwrite" if statement.is_overwrite else "errorifexists"
        writer = rows.write.mode(mode).options(**options)
        writer.format(statement.format.value.lower()).save(statement.target)
        written = files.list(statement.target, "^part-")
        return [(statement.target, len(written), int(count.get["rows"]))]

    return command(bridge, run, text, _ANSWER)


def _check_target(bridge: Bridge, session: Any, target: str, text: str) -> None:
    """Refuse folders of warehouses: OVERWRITE would delete tables, and others their files.

    Raises
    ------
    UnsupportedError
        If the target is in a warehouse of the session, or has one inside.
    """
    java_map = bridge.jvm.scala.jdk.javaapi.CollectionConverters.asJava(
        catalogs_of(session.sessionState())
    )
    for name in list(java_map):
        catalog = catalog_behind(java_map[name])
        if catalog is not None:
            check_target(target, catalog._catalog.path, text)
