"""Random changes of two collections."""

from __future__ import annotations

import random

from paimonlab.ingest.sources.mongodb.values import row_of
from tests.ingest.mongodb.server import MongoServer

TABLES = ("shop.a", "shop.b")


class Writer:
    """Inserts, updates, replaces and deletes documents."""

    def __init__(self, mongo: MongoServer, rng: random.Random) -> None:
        self._mongo = mongo
        self._rng = rng
        self._made = 0

    def change(self, count: int) -> None:
        """Make some changes, while nobody else makes any."""
        with self._mongo.held():
            self._change(count)

    def _change(self, count: int) -> None:
        rng, mongo = self._rng, self._mongo
        for _ in range(count):
            table = rng.choice(TABLES)
            keys = [one["_id"] for one in mongo.collections.get(table, {}).values()]
            what = rng.random()
            self._made += 1
            if what < 0.4 or not keys:
                mongo.insert(table, {"_id": self._made, "v": rng.random(), "n": None})
            elif what < 0.7:
                members = {rng.choice("vwxyz"): rng.choice((1, "é", [1, {"a": 2}], True))}
                mongo.update(table, rng.choice(keys), **members)
            elif what < 0.8:
                mongo.replace(table, {"_id": rng.choice(keys), "r": self._made})
            else:
                mongo.delete(table, rng.choice(keys))


def said_by_server(mongo: MongoServer, table: str) -> dict[str, dict[str, str | None]]:
    """Return the documents of a collection as rows, by their key, without members that are null."""
    return {
        str(one["_id"]): {name: value for name, value in row_of(one).items() if value is not None}
        for one in mongo.collections[table].values()
    }
