# ruff: noqa: E501 - queries are read in one line
"""Regular expressions without Spark: what Spark answers."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from paimonlab.catalog import Catalog
from tests.spark.functions.comparing import over

pytestmark = pytest.mark.usefixtures("interpreted")

ROWS = pa.table(
    {
        "g": [
            *("John  Smith", "a1b22c", "", None, "\ta\x0bb\x0c c ", "Äb ÄB ab", "x-y_z,w; v", "42"),
            *("ß\u00a0x", "\U0001f600 s\u0131\u0130S", "  ", "a,,b,", ",", "AbC aBc", "\u2003k K"),
        ]
    }
)
PATTERNS = (
    *(r"\\s", r"\\s+", r"\\S+", r"[\\s,;]+", r"[^\\s]", r"(\\w+)\\s+(\\w+)", r"^\\s", r"\\s$"),
    *("(?i)abc", "(?i)^a", "(?i)[a-c]+", "(?i)s|k", r"(?i)(ab)\\s", "[0-9]+", "b|,"),
)


def test_patterns(spark: SparkSession, catalog: Catalog, tmp_path: Path) -> None:
    with over(spark, catalog, ROWS, tmp_path) as both:
        both.same(
            *(
                f"SELECT g RLIKE '{one}', regexp_replace(g, '{one}', '<$0>'), regexp_count(g, '{one}'), "
                f"regexp_substr(g, '{one}'), split(g, '{one}'), regexp_extract(g, '{one}', 0), "
                f"regexp_extract_all(g, '{one}', 0) FROM t"
                for one in PATTERNS
            ),
            r"SELECT regexp_replace(g, '(\\w+)\\s+(\\w+)', '$2, $1'), regexp_replace(g, '(a)|(b)', '[$1$2]') FROM t",
            r"SELECT split(g, ',\\s*'), split(g, '[,;] ?'), regexp_instr(g, '(?i)c') FROM t WHERE octet_length(g) = length(g)",
        )
        both.refused(
            "SELECT split(g, 'b*') FROM t",
            "SELECT g RLIKE '(?i)[^a]' FROM t",
            "SELECT regexp_replace(g, '(a)', '$2') FROM t",
            "SELECT regexp_replace(g, '(a)', '$12') FROM t",
            r"SELECT g RLIKE '\\bx' FROM t",
            "SELECT g RLIKE '(?is)a' FROM t",
            "SELECT '\u017f' RLIKE '(?i)s'",
        )
