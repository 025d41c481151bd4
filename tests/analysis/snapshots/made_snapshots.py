"""Snapshots that no commit made."""

from __future__ import annotations

from typing import Any

from paimonlab.spec.snapshot import CommitKind, Snapshot


def snapshot(snapshot_id: int, **values: Any) -> Snapshot:
    defaults: dict[str, Any] = {
        "schema_id": 0,
        "base_manifest_list": "base",
        "delta_manifest_list": "delta",
        "commit_user": "9d3f0f2e-7a0e-4c3c-9a60-0d8a3c1de2b1",
        "commit_identifier": 2**63 - 1,
        "commit_kind": CommitKind.APPEND,
        "time_millis": 1_357_016_400_000 + 1000 * snapshot_id,
        "total_record_count": 100 * snapshot_id,
        "delta_record_count": 100,
    }
    return Snapshot(version=3, id=snapshot_id, **(defaults | values))
