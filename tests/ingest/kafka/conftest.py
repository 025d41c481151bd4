"""A broker that all tests of this folder share."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import pytest

from tests.ingest.kafka.broker import Broker, BrokerMissingError, broker

_numbers = itertools.count()


@pytest.fixture(scope="session")
def kafka_broker() -> Iterator[Broker]:
    """Run a broker."""
    try:
        with broker() as made:
            yield made
    except BrokerMissingError as missing:
        pytest.skip(f"no broker of Kafka: {missing}")


@pytest.fixture
def topic() -> str:
    """Return a name that no other test has."""
    return f"topic{next(_numbers)}"
