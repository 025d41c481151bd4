from __future__ import annotations

from tools import view_types


def test_the_types_of_the_views_are_those_that_are_kept() -> None:
    assert view_types.TARGET.read_text(encoding="utf-8") == view_types.declarations(), (
        "run python -m tools.view_types"
    )
