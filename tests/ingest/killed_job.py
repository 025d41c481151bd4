"""A job of `test_kills`, in a process of its own that is killed: ``python -m …``.

Its source makes the same changes in every process: number n says all that happens in transaction n.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import paimonlab as pm
from paimonlab.ingest import files, table_changes
from paimonlab.ingest.changes import Boundary, Event, JsonValue, Phase, RowChanges, SourceSchema
from tests.ingest.drawing import source
from tests.ingest.scripted import rows

KEYED = "id BIGINT NOT NULL, v STRING KEY(id)"
WIDE = "id BIGINT NOT NULL, v STRING, n INT KEY(id)"
LOG = "no BIGINT, what STRING"
TRANSACTIONS = 60
KEYS = 40
WIDENED_AT = 30


def transaction(number: int, state: dict[int, tuple[Any, ...]]) -> list[RowChanges]:
    """Return what happens in a transaction, and let it happen to a dict."""
    draw = random.Random(number)
    is_wide = number >= WIDENED_AT
    drawn, logged = [], []
    for step in range(draw.randrange(1, 12)):
        key = draw.randrange(KEYS)
        old, value = state.get(key), f"{number}.{step}"
        new = (key, value, number) if is_wide else (key, value)
        if old is not None and draw.random() < 0.3:
            drawn.append(("-D", old))
            del state[key]
        else:
            if old is not None:
                drawn.append(("-U", old))
            drawn.append(("+I" if old is None else "+U", new))
            state[key] = new
        logged.append(f"+I {number * 100 + step} {value}")
    lines = [
        " ".join([kind, *(str(part) for part in (*row, "-")[: 3 if is_wide else 2])])
        for kind, row in drawn
    ]
    schema = WIDE if is_wide else KEYED
    return [rows("a.keyed", schema, *lines), rows("a.log", LOG, *logged)]


class Source:
    name = "transactions"

    def tables(self) -> Mapping[str, SourceSchema]:
        return {"a.keyed": source(KEYED), "a.log": source(LOG)}

    def read(self, position: JsonValue, wanted: Callable[[str], bool]) -> Iterator[Event]:
        done = position if isinstance(position, int) else 0
        state: dict[int, tuple[Any, ...]] = {}
        for number in range(TRANSACTIONS):
            events = transaction(number, state)
            if number >= done:
                yield from (event for event in events if wanted(event.table))
                yield Boundary(position=number + 1, phase=Phase.STREAM)
        yield Boundary(position=TRANSACTIONS, phase=Phase.ENDED)

    def acknowledge(self, position: JsonValue) -> None:
        pass

    def close(self) -> None:
        pass


def main(warehouse: str, name: str, folder: str = "") -> None:
    """Run the job to its end: of transactions, of a table that changes, or of files that come."""
    catalog = pm.connect(warehouse)
    made: Any = Source()
    if name == "table":
        made = table_changes(catalog.table("src.keyed"), consumer="here")
    elif name == "files":
        made = files(folder, table="a.log", settle=0, after="delete")
    job = catalog.ingest(
        made, into="ods", name=name, max_rows=20, options={"file.format": "parquet"}
    )
    sys.stdout.write("begun\n")
    sys.stdout.flush()
    job.run()
    sys.stdout.write("ended\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
