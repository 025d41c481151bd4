"""Whether a release of Spark that was not tried does what the catalog stands on.

The catalog reaches into Spark: fields of its session, rules of its analyzer and optimizer, classes
of its scans. A patch release may change them without a word. So a session of one that was not tried
first runs statements of each kind on a small table, and is refused where an answer is another one.
"""

from __future__ import annotations

import shutil
import tempfile
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pyspark
from py4j.protocol import Py4JError
from pyspark.errors import PySparkException

from paimonlab.catalog import connect as open_catalog
from paimonlab.errors import PaimonError, UnsupportedError
from paimonlab.spark.catalogs.catalog import register, unregister

if TYPE_CHECKING:
    from paimonlab.catalog import Catalog
    from paimonlab.spark.jvm.bridge import Bridge

TRIED = ("4.2.0", "4.2.1", "4.3.0")
"""Releases that the tests ran with."""
_TABLE = "t"
_STATEMENTS: tuple[tuple[str, list[tuple[object, ...]] | None], ...] = (
    ("CREATE DATABASE {c}.db", None),
    (
        (
            "CREATE TABLE {t} (id INT, p INT, v STRING) PARTITIONED BY (p) "
            "TBLPROPERTIES ('primary-key' = 'id,p', 'bucket' = '2')"
        ),
        None,
    ),
    ("INSERT INTO {t} SELECT CAST(id AS INT), CAST(id % 2 AS INT), 'a' FROM range(8)", None),
    ("UPDATE {t} SET v = 'b' WHERE id < 2", [(2,)]),
    ("DELETE FROM {t} WHERE id = 7", [(1,)]),
    (
        (
            "MERGE INTO {t} t USING (SELECT * FROM VALUES (2, 0), (8, 0) AS v (id, p)) s "
            "ON t.id = s.id AND t.p = s.p WHEN MATCHED THEN UPDATE SET v = 'c' "
            "WHEN NOT MATCHED THEN INSERT (id, p, v) VALUES (id, p, 'd')"
        ),
        [(2, 1, 0, 1)],
    ),
    ("SELECT v, count(*) FROM {t} GROUP BY v ORDER BY v", [("a", 4), ("b", 2), ("c", 1), ("d", 1)]),
    ("SELECT id FROM {t} WHERE p = 1 AND v > 'a' ORDER BY id DESC LIMIT 1", [(1,)]),
    ("SELECT count(*), max(p) FROM {t}", [(8, 1)]),
    ("SELECT count(*) FROM {t} VERSION AS OF 1", [(8,)]),
    ("SELECT count(*) FROM {t} WHERE __paimon_bucket < 2", [(8,)]),
    ("SELECT count(*) FROM {t} a JOIN {t} b USING (id, p)", [(8,)]),
    ("CALL {c}.sys.compact(table => 'db.t', compact_strategy => 'full')", [(True,)]),
    ("INSERT OVERWRITE {t} PARTITION (p = 1) VALUES (1, 'e')", None),
    ("SELECT * FROM {t} WHERE p = 1", [(1, 1, "e")]),
    ("SELECT count(*) FROM {c}.db.`t$snapshots`", [(6,)]),
)
"""Statements and their answers; None: it does not matter. `c` is the catalog, `t` the table."""
_passed: set[str] = set()
"""Releases that this process has checked."""


def check_release(bridge: Bridge, catalog: Catalog) -> None:
    """Run statements of each kind, unless this release was tried.

    Parameters
    ----------
    bridge
        The session, with all that a catalog needs.
    catalog
        Its warehouse has the table for a moment, in a folder that is no database: executors reach
        it. That of a catalog that is only read, or is not on a disk, is on this machine.

    Raises
    ------
    UnsupportedError
        If an answer is wrong; names the statement.
    """
    version = pyspark.__version__
    if version in TRIED or version in _passed:
        return
    name = f"paimonlab_check_{uuid.uuid4().hex[:8]}"
    with _folder(catalog) as folder:
        register(bridge, name, open_catalog(folder))
        try:
            for text, expected in _STATEMENTS:
                _check(bridge, text.format(c=name, t=f"{name}.db.{_TABLE}"), expected)
        finally:
            unregister(bridge, name)
    _passed.add(version)


def _check(bridge: Bridge, statement: str, expected: list[tuple[object, ...]] | None) -> None:
    try:
        found = [tuple(row) for row in bridge.spark.sql(statement).collect()]
    except (PaimonError, PySparkException, Py4JError) as error:
        raise _failed(statement, str(error)[:300]) from error
    if expected is not None and found != expected:
        raise _failed(statement, f"it gives {found} instead of {expected}")


def _failed(statement: str, what: str) -> UnsupportedError:
    return UnsupportedError(
        f"PySpark {pyspark.__version__}",
        f"it was not tried, and a check of it failed; install {' or '.join(TRIED)}. "
        f"{statement}: {what}",
    )


@contextmanager
def _folder(catalog: Catalog) -> Iterator[str]:
    if catalog.is_read_only or "://" in catalog.path:
        path = Path(tempfile.mkdtemp(prefix="paimonlab-check-"))
    else:
        path = Path(catalog.path, f".paimonlab-check-{uuid.uuid4().hex}")
        path.mkdir(parents=True)
    try:
        yield str(path)
    finally:
        shutil.rmtree(path, ignore_errors=True)
