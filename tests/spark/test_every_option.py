"""Every option of Paimon, given to a read, a write, a stream or a session: obeyed or refused.

No Spark runs: what decides is called as the catalog calls it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

import paimonlab
from paimonlab.errors import PaimonError, UnsupportedError
from paimonlab.spark.reading.time_travel import READ_OPTIONS
from paimonlab.spark.session_options import (
    FULL_SCAN,
    MERGE_SCHEMA,
    OF_WRITES,
    SessionOption,
    options_of,
)
from paimonlab.spark.streaming.options import STREAM_OPTIONS, split_options
from paimonlab.spark.writing.access import check_options, check_options_of_write
from paimonlab.spec.options.registry import FALLBACK_KEYS
from paimonlab.spec.options.table_options import (
    KNOWN_OPTIONS,
    Options,
    OptionSpec,
    check_supported,
)
from tests.spark.test_session_options import WITHOUT_EFFECT

OF_SESSIONS = (MERGE_SCHEMA, FULL_SCAN)
"""What sessions obey, and tables refuse."""
FAMILIES = {key: key.replace("*", "v") for key in KNOWN_OPTIONS if "*" in key}
KEYS = sorted({*(FAMILIES.get(key, key) for key in KNOWN_OPTIONS), *FALLBACK_KEYS})


def other_value(spec: OptionSpec) -> str:
    """Return a value that is not the default."""
    if spec.values:
        default = (spec.default or "").lower()
        return next(one for one in spec.values if one != default)
    by_kind = {"boolean": "false" if spec.default == "true" else "true", "duration": "77 s"}
    return by_kind.get(spec.kind, "7")


def refused(check: Callable[[str, str], object], key: str, value: str) -> bool:
    """Say whether an option is refused; its name must be in the message."""
    said = ""
    try:
        check(key, value)
    except PaimonError as error:
        said = str(error)
    assert not said or key in said, said
    return bool(said)


def test_a_read_takes_what_chooses_rows_and_refuses_all_else() -> None:
    taken = {
        key
        for key in KEYS
        if not refused(lambda key, value: check_options("db.t", {key: value}), key, "7")
    }

    assert taken == {*READ_OPTIONS, *OF_WRITES}  # the latter are those of a write


def test_a_write_takes_the_merging_of_schemas_and_refuses_all_else(tmp_path: Path) -> None:
    catalog = paimonlab.connect(tmp_path)
    catalog.create_database("db")
    table = catalog.create_table("db.t", {"n": "INT"})
    taken = {
        key
        for key in KEYS
        if not refused(lambda key, value: check_options_of_write(table, {key: value}), key, "7")
    }

    assert taken == {MERGE_SCHEMA}


def test_a_stream_takes_what_streams_obey_and_refuses_all_else() -> None:
    taken = {
        key
        for key in KEYS
        if not refused(lambda key, value: split_options({key: value}), key, "true")
    }

    former = {key for key, now in FALLBACK_KEYS.items() if now in STREAM_OPTIONS}
    assert taken == {key for key in STREAM_OPTIONS if key in KNOWN_OPTIONS} | former


def test_a_session_obeys_or_refuses(tmp_path: Path) -> None:
    """What it hands on to a read or write is either refused there, or in a test of its own."""
    catalog = paimonlab.connect(tmp_path)
    catalog.create_database("db")
    table = catalog.create_table("db.t", {"id": "BIGINT", "v": "STRING"})
    silent = []

    def taken(key: str, value: str) -> None:
        given = {key: SessionOption(f"spark.paimon.{key}", value)}
        options = Options({**table.options, **options_of(given, table, writes=True)})
        for operation in ("read", "write"):
            check_supported(options, table.schema, operation)

    for key, spec in KNOWN_OPTIONS.items():
        one = FAMILIES.get(key, key)
        if spec.status == "accepted" and not refused(taken, one, other_value(spec)):
            silent.append(one)
        if spec.status == "unsupported" and not key.startswith(("orc.", "parquet.")):
            assert refused(taken, one, other_value(spec)) or key.startswith(OF_SESSIONS), key

    assert sorted(silent) == sorted(WITHOUT_EFFECT)


def test_what_has_no_effect_may_be_set_to_its_default(tmp_path: Path) -> None:
    catalog = paimonlab.connect(tmp_path)
    catalog.create_database("db")
    table = catalog.create_table("db.t", {"id": "BIGINT"})

    options_of({"read.batch-size": SessionOption("spark.paimon.read.batch-size", "1024")}, table)
    with pytest.raises(UnsupportedError, match=r"spark\.paimon\.read\.batch-size = '7'.* RESET"):
        options_of({"read.batch-size": SessionOption("spark.paimon.read.batch-size", "7")}, table)


NOTHING_TO_SEE = {"commit.force-compact": "a commit waits for compaction whatever it says"}


def test_every_option_that_is_obeyed_is_set_by_a_test() -> None:
    """By its key, a former one, as a keyword, or as the field of the options that are read."""
    tests = Path(__file__).parents[1]
    places = [*tests.rglob("*.py"), *(tests / "cases").glob("*.*")]
    lists = ("test_compatibility.py", "test_releases.py", "test_every_option.py")
    texts = [place.read_text() for place in places if place.name not in lists]
    former = dict[str, list[str]]()
    for before, now in FALLBACK_KEYS.items():
        former.setdefault(now, []).append(before)

    missed = []
    for key, spec in KNOWN_OPTIONS.items():
        keys = [key, *former.get(key, ())]
        keys += [re.sub(r"-", "_", one.replace(".", "__")) for one in keys]
        patterns = [re.compile(re.escape(one).replace(r"\*", r"[^\"'\s]+?")) for one in keys]
        if spec.status == "implemented" and not any(
            pattern.search(text) for pattern in patterns for text in texts
        ):
            missed.append(key)

    assert missed == list(NOTHING_TO_SEE)
