# ruff: noqa: E501 - queries are read in one line
"""``*`` among arguments without Spark: what Spark answers."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from paimonlab.catalog import Catalog
from tests.spark.functions.comparing import over
from tests.spark.functions.rows import NESTED

pytestmark = pytest.mark.usefixtures("interpreted")


def test_stars_among_arguments(spark: SparkSession, catalog: Catalog, tmp_path: Path) -> None:
    with over(spark, catalog, NESTED, tmp_path) as both:
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
