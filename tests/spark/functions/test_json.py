# ruff: noqa: E501 - queries are read in one line
"""Functions of JSON without Spark: what Spark answers, or refused."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from paimonlab.catalog import Catalog
from tests.spark.functions.comparing import over

pytestmark = pytest.mark.usefixtures("interpreted")

TEXTS = [
    '{"a":1,"b":"x","c":[1,2,null],"d":{"e":1.5,"f":"2026-01-31"},"m":{"k":1,"z":null},"t":true}',
    ' {"b" : "\\u00e9\\n\\"\\\\", "a": -7 ,"c": [], "d": {}, "m": {}, "t": false}',
    '{"a":null,"b":null,"c":null,"d":null,"m":null,"t":null}',
    "{}",
    None,
    '{"A":5,"B":"y","x":[{"a":1}],"b":"a, nan }","p":1.25}',
    '{"b":12,"p":7,"q":"2026-01-31 12:30:00","d":{"f":null}}',
    '{"b":true,"c":[null],"m":{"a b":9223372036854775807},"p":-0.5}',
    '{"b":"\U0001f600\u2028","a":2147483647,"d":{"e":1e10},"q":"2026-01-31T23:59:59.123456"}',
]
ROWS = pa.table(
    {
        "id": pa.array(range(len(TEXTS)), pa.int32()),
        "j": TEXTS,
        "l": [None, [], [1, None], [3], [4, 5], [], [7], None, [9]],
        "w": [["a", None], [], ['"\\'], None, ["é\n"], ["\U0001f600"], [""], ["/"], ["\x7f"]],
        "k": pa.array(
            [[("a", 1), ("b", None)], [], None, *[[(f"k{n} é", n)] for n in range(6)]],
            pa.map_(pa.string(), pa.int64()),
        ),
        "o": [{"p": n, "q": None if n % 2 else f"t{n}"} for n in range(9)],
        "s": ["[1, 2]", "[]", "{}", "1", None, "null", ' [{"a": [1]}]', "", "x"],
    }
)
PIECE = "a INT, b STRING, c ARRAY<BIGINT>, d STRUCT<e: DOUBLE, f: DATE>, m MAP<STRING, BIGINT>"


def test_json_is_read_as_by_spark(spark: SparkSession, catalog: Catalog, tmp_path: Path) -> None:
    with over(spark, catalog, ROWS, tmp_path) as both:
        both.same(
            f"SELECT id, from_json(j, '{PIECE}, t BOOLEAN') FROM t",
            "SELECT from_json(j, 'a INT').a, from_json(j, 'p DECIMAL(10, 2), q TIMESTAMP') FROM t WHERE id < 7",
            "SELECT from_json(j, 'q TIMESTAMP') FROM t",
            "SELECT from_json(j, 'p DECIMAL(3, 1)').p, from_json(j, 'p DOUBLE').p FROM t WHERE id < 7",
            "SELECT from_json(s, 'ARRAY<INT>') FROM t WHERE id < 2",
            'SELECT from_json(\'{"k":[{"v":"w"},null]}\', \'k ARRAY<STRUCT<v STRING>>\')',
            "SELECT from_json('{\"a\":{\"x\":1}}', 'MAP<STRING, STRUCT<x INT>>') AS m",
            "SELECT a, sum(n) FROM (SELECT from_json(j, 'a INT').a AS a, id AS n FROM t) GROUP BY a",
            "SELECT json_tuple(j, 'a', 'b', 't') FROM t",
            "SELECT id, json_tuple(j, 'b', 'c') AS (x, y) FROM t",
            "SELECT id, q.* FROM t LATERAL VIEW json_tuple(j, 'a', 'm') q AS v, w WHERE id < 7",
            "SELECT json_array_length(s), json_object_keys(j) FROM t WHERE id < 8",
            'SELECT schema_of_json(\'{"b":[1,2],"a":{"c":1.5,"d":null}}\'), schema_of_json(\'[true]\')',
            "SELECT get_json_object(j, '$.b'), get_json_object(j, '$.d.f') FROM t",
        )
        both.refused(
            *(
                f"SELECT from_json('{text}', 'a INT, b STRING')"
                for text in (
                    '{"a":"1"}',
                    '{"a":1.0}',
                    '{"a":99999999999}',
                    '{"a":1,"a":2}',
                    '{"a":1,}',
                    '{"a":NaN}',
                    '{"b":{"c": 1}}',
                    '{"b":1.50}',
                    '{"a":1',
                    '[{"a":1}]',
                    "null",
                    "",
                    '{"a":-0}',
                )
            ),
            "SELECT from_json(j, 'a CHAR(3)') FROM t",
            "SELECT from_json(j, g) FROM (SELECT j, j AS g FROM t)",
            "SELECT from_json(j, 'a INT', map('mode', 'FAILFAST')) FROM t",
            "SELECT from_json('{\"p\":0.12499999999999999999}', 'p DECIMAL(4, 2)')",
            "SELECT get_json_object('{\"a\":1,}', '$.a')",
            "SELECT get_json_object('{\"a\":NaN}', '$.a')",
            "SELECT json_tuple('{\"a\":1,\"a\":2}', 'a')",
        )


def test_json_is_written_as_by_spark(spark: SparkSession, catalog: Catalog, tmp_path: Path) -> None:
    with over(spark, catalog, ROWS, tmp_path) as both:
        both.same(
            "SELECT to_json(l), to_json(w), to_json(k), to_json(o) FROM t",
            "SELECT to_json(struct(*)) FROM t",
            (
                "SELECT to_json(named_struct('d', DATE '2026-01-31' + id, 'm', CAST(id AS DECIMAL(9, "
                "2)) / 4, 'n', struct(id, w), 'a', array(id, NULL), 'e', CAST(NULL AS DATE))) FROM t"
            ),
            "SELECT to_json(map_entries(k)), to_json(array(DATE '2026-01-31', NULL)) FROM t",
        )
        both.refused(
            "SELECT to_json(map(id, 'a')) FROM t",
            "SELECT to_json(struct(DATE '0900-01-31' AS d)) FROM t",
        )
