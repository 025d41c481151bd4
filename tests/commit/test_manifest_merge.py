from __future__ import annotations

import pytest

from paimonlab.commit.manifest_merge import Full, MergeOptions, plan_merge
from paimonlab.spec.manifests.manifest import ManifestFileMeta
from tests.support import cases

OPTIONS = MergeOptions(merge_min_count=3)


def _manifest(drawing: str) -> ManifestFileMeta:
    return ManifestFileMeta(
        file_name=drawing,
        file_size_bytes=int(drawing.rstrip("d")) << 20,
        num_added_files=1,
        num_deleted_files=int(drawing.endswith("d")),
    )


@pytest.mark.parametrize(("title", "given", "expected"), cases("manifest_merge"))
def test_case_file(title: str, given: str, expected: str) -> None:
    plan = plan_merge([_manifest(word) for word in given.split()], OPTIONS)

    if isinstance(plan, Full):
        drawn = "full"
    else:
        groups = [" ".join(meta.file_name for meta in group) for group in plan.groups]
        drawn = " ".join(f"[{group}]" if " " in group else group for group in groups)
    assert drawn == expected, title
