"""Random tables in a bucket, in the hands of both: Java opens it with its own S3 client.

``make test`` takes a few steps, ``make interop`` all of them with each release.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np
import pytest

import paimonlab as pl
from tests.interop.conftest import java_tools as java_tools  # noqa: PLC0414 - a fixture
from tests.interop.conftest import without_java
from tests.interop.java_build import (
    COMPILED_WITH,
    JavaMissingError,
    JavaTools,
    chosen_releases,
    fetch_jars,
)
from tests.interop.oracle import JavaPaimon, Oracle
from tests.interop.pair import Pair
from tests.interop.test_differential import SEEDS, STEPS, Walk

pytestmark = pytest.mark.interop

IS_WHOLE = os.environ.get("PAIMONLAB_INTEROP") == "require"
WALKS = SEEDS if IS_WHOLE else 1
_JARS = Path(__file__).with_name("s3.pom.xml")


@pytest.fixture(scope="module", params=chosen_releases() or (COMPILED_WITH,))
def oracle(
    request: pytest.FixtureRequest,
    java_tools: JavaTools,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Oracle]:
    """A release of Java Paimon, with the client of the same release."""
    release = request.param
    settings = () if release == COMPILED_WITH else (f"-Dpaimon.version={release}",)
    try:
        jars = sorted(fetch_jars(java_tools, _JARS, *settings).glob("*.jar"))
        started = Oracle(java_tools, tmp_path_factory.mktemp("java"), release, more_jars=jars)
    except JavaMissingError as missing:
        without_java(missing)
    yield started
    started.close()


@pytest.fixture
def pair(oracle: Oracle, warehouse: Mapping[str, str]) -> Pair:
    """Both on a new bucket."""
    catalog = pl.connect(warehouse)
    catalog.create_database("db")
    return Pair(catalog, JavaPaimon(oracle, {**warehouse, "s3.path.style.access": "true"}))


@pytest.mark.parametrize("number", range(WALKS))
def test_both_and_a_plain_twin_agree_in_a_bucket(pair: Pair, seed: int, number: int) -> None:
    Walk(pair, np.random.default_rng([seed, number])).go(STEPS if IS_WHOLE else 2)
    assert pair.open("db.t").path.startswith("s3://")
