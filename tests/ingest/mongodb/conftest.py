"""What speaks MongoDB's protocol for tests of this folder."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.ingest.mongodb.server import MongoServer, mongo_server

pytest.importorskip("pymongo")


@pytest.fixture
def mongo() -> Iterator[MongoServer]:
    """Run one."""
    with mongo_server() as made:
        yield made
