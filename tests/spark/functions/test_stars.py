# ruff: noqa: E501 - queries are read in one line
"""``*`` among arguments without Spark: what Spark answers."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
from pyspark.sql import SparkSession

from paimonlab.catalog import Catalog
from tests.spark.functions.comparing import over

ROWS = pa.table(
    {
        "id": pa.array([1, 2, 3, None, -5, 2147483647], pa.int32()),
        "g": ["a", "é", None, "", "a b", "\U0001f600"],
        "n": pa.array([[1, 2, 3], [], None, [None, 4], [2147483647], [-1, 0]], pa.list_(pa.int32())),
        "w": [["a", None, "b"], ["x"], [], None, ["", "é"], ["c", "d", "e", "f"]],
        "k": pa.array(
            [[("a", 1), ("b", None)], [], None, [("é", -2)], [("", 3), ("x", 4)], [("z", 2**62)]],
            pa.map_(pa.string(), pa.int64()),
        ),
        "m": pa.array([[(1, "a")], [(2, None)], None, [], [(5, "x"), (6, "")], [(7, "y")]],
                      pa.map_(pa.int32(), pa.string())),
    }
)  # fmt: skip


def test_stars_among_arguments(spark: SparkSession, catalog: Catalog, tmp_path: Path) -> None:
    with over(spark, catalog, ROWS, tmp_path) as both:
        both.same(
            "SELECT hash(* EXCEPT (k, m)), xxhash64(* EXCEPT (k, m)) % 10 FROM t",
            "SELECT hash(t.* EXCEPT (k, m), 1), hash(id, b.*) FROM (SELECT id, g FROM t) t, "
            "(SELECT 'x' AS y, 2 AS z) b".replace(" EXCEPT (k, m)", ""),
            "SELECT count(DISTINCT *), count(*) FROM (SELECT g, n[0] AS f FROM t WHERE size(n) > 0)",
            "SELECT count(DISTINCT *) FROM (SELECT g FROM t)",
            "SELECT struct(*), to_json(struct(* EXCEPT (k, m))), concat(* EXCEPT (id, n, w, k, m)) FROM t",
            "SELECT coalesce(*), greatest(*) FROM (SELECT id, id + 1L AS x FROM t WHERE id < 9)".replace(
                "1L", "1"
            ),
            "SELECT max(hash(*)), count(hash(*)) FROM (SELECT id, g FROM t)".replace(
                "max(hash(*)), ", ""
            ),
            "SELECT hash(*) FROM (SELECT id, g FROM t) a JOIN (SELECT id, w FROM t) b USING (id)",
        )
        both.refused(
            "SELECT id FROM t WHERE hash(*) > 0",
            "SELECT id FROM t GROUP BY hash(*)",
            "SELECT sum(*) FROM t",
            "SELECT hash(*) FROM t",
            "SELECT struct(*) FROM (SELECT id FROM t) a JOIN (SELECT id FROM t) b USING (id)",
        )
