"""A job in the words of an action, in a process of its own that is killed: ``python -m …``."""

from __future__ import annotations

import json
import sys

from paimonlab.ingest.actions import action_job


def main(action: str, arguments: str) -> None:
    """Run the job of an action until it has caught up."""
    made = action_job(action, json.loads(arguments)).job()
    print("begun", flush=True)  # noqa: T201 - the test waits for it
    made.job.run()
    print("ended", flush=True)  # noqa: T201 - and for this


if __name__ == "__main__":
    main(*sys.argv[1:])
