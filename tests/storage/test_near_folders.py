from __future__ import annotations

from pathlib import Path

from paimonlab.storage.near_folders import near_folders


def test_a_misspelt_folder_and_one_too_high_or_too_deep_are_found(tmp_path: Path) -> None:
    warehouse = tmp_path / "lake" / "warehouse"
    (warehouse / "shop.db").mkdir(parents=True)
    (tmp_path / "lake" / "notes").mkdir()
    (tmp_path / "lake" / "warehouse.txt").write_text("")

    for path in ("lake/warehuose", "lak/warehouse", "lake", "lake/warehouse/shop.db"):
        assert near_folders(str(tmp_path / path)) == [str(warehouse)], path
    for path in ("lake/xyz", "lake/notes", "lak/nothing/here", "lake/warehouse.txt/x"):
        assert near_folders(str(tmp_path / path)) == [], path
    assert near_folders("s3://bucket/warehouse") == []
