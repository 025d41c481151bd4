"""A job of `benchmarks.ingest.speed`: ``python -m benchmarks.ingest.speed_job WAREHOUSE KIND ADDRESS``."""

from __future__ import annotations

import sys

import paimonlab as pm
from benchmarks.ingest.sources import source_at


def main(warehouse: str, kind: str, address: str) -> None:
    """Read until this process is ended."""
    job = pm.connect(warehouse).ingest(
        source_at(kind, address),
        into="ods",
        name="speed",
        primary_keys=["id"],
        interval=2.0,
        options={"bucket": 2},
    )
    job.run(None)


if __name__ == "__main__":
    main(*sys.argv[1:])
