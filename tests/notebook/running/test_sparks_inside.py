"""What Spark reports about a table shows no names that are Spark's and ours alone."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from IPython.core.interactiveshell import InteractiveShell
from pyspark.sql import SparkSession

import paimonlab
from paimonlab.notebook import commands
from paimonlab.spark.jvm.inside_names import as_written, shown_names
from paimonlab.spec.sql_text.habit_hints import habit_hint
from paimonlab.spec.sql_text.tokens import tokenize
from tests.notebook.magics.test_magics import failure, run

INSIDE = re.compile(r"global_temp|paimonlab_\d|_LEGACY_ERROR|spark_catalog\.|py4j|org\.apache")
"""Names of what a table is inside of Spark, and of errors that have none."""
WRONG = (
    "SELECT idd FROM db.t",
    "SELECT a.id FROM db.t a JOIN db.t b ON a.id = b.idd",
    "SELECT id FROM db.t a JOIN db.t b ON a.id = b.id",
    "SELECT v.x FROM db.t",
    "SELECT CAST(v AS INT) FROM db.t",
    "SELECT id, count(*) FROM db.t",
    "SELECT * FROM db.t WHERE v",
    "SELECT id FROM db.t UNION SELECT id, v FROM db.t",
    "SELECT * FROM db.t VERSION AS OF 99",
    "INSERT INTO db.t VALUES (1)",
    "MERGE INTO db.t USING db.t s ON t.id = s.nope WHEN MATCHED THEN DELETE",
    "ALTER TABLE db.t ADD COLUMN id INT",
    "SELECT element_at(array(id), 0) FROM db.t",
    "SELECT from_json(v, 'a BROKEN') FROM db.t",
    "SELECT lag(id) FROM db.t",
    "DESCRIBE db.t nope",
)


@pytest.fixture(scope="module", autouse=True)
def _back_to_sparks_own_catalog(spark: SparkSession) -> Iterator[None]:
    yield
    spark.catalog.setCurrentCatalog("spark_catalog")


def test_errors_name_what_the_user_wrote(
    shell: InteractiveShell, spark: SparkSession, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    commands.connect(tmp_path)
    paimonlab.sql(
        "CREATE DATABASE db; CREATE TABLE db.t (id INT NOT NULL, v STRING)"
        " TBLPROPERTIES ('primary-key' = 'id', 'bucket' = '1'); INSERT INTO db.t VALUES (1, 'a')"
    )
    shell.user_ns["folder"] = tmp_path
    run(shell, '%paimon_connect "{folder}"')

    answers = {sql: "\n".join(failure(shell, capsys, f"%paimon {sql}")) for sql in WRONG}

    shown = {sql: answer for sql, answer in answers.items() if INSIDE.search(answer)}
    assert shown == {}


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("column `global_temp`.`paimonlab_12`.`id` is", "column `id` is"),
        (
            "table or view `spark_catalog`.`global_temp`.`paimonlab_1` has",
            "table or view the table has",
        ),
        ("Did you mean global_temp.paimonlab_3.id?", "Did you mean id?"),
        ("x: [_LEGACY_ERROR_TEMP_2067] no such part", "x: no such part"),
        ("my_global_temp.t and `global_temp`.`mine`", "my_global_temp.t and `global_temp`.`mine`"),
    ],
)
def test_names_inside_of_spark_are_left_out(text: str, shown: str) -> None:
    assert shown_names(text) == shown


def test_plans_of_spark_are_left_out() -> None:
    plan = "AlterColumns [spec(resolvedfieldname(StructField(v,StringType,true)))], false"
    said = "Cannot change nullable column to non-nullable: v.; line 1 pos 0"

    assert as_written(f"{said};\n{plan}\n+- ResolvedTable c, db.t, c.db.t, [id#1L]\n") == said
    assert as_written(f"{said};\n{plan}") == f"{said};\n{plan}"


def test_copy_of_other_systems_is_answered_whatever_runs_it() -> None:
    assert habit_hint(tokenize("COPY db.t FROM 'c.csv'")).startswith("Write COPY INTO db.t FROM")
    assert not habit_hint(tokenize("COPY INTO db.t FROM '/c' FILE_FORMAT = (TYPE = CSV)"))
