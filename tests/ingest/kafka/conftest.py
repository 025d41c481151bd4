"""A broker that all tests of this folder share."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import pytest

from paimonlab.ingest.sources import kafka_reader
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
def topic(monkeypatch: pytest.MonkeyPatch) -> str:
    """Return a name that no other test has; readers wait for less than usual."""
    monkeypatch.setattr(kafka_reader, "_WAIT_SECONDS", 0.05)
    return f"topic{next(_numbers)}"
