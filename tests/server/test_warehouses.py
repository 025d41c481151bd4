"""Which warehouses the panel may open, and that links lead nowhere else."""

from __future__ import annotations

from pathlib import Path

import pytest

from paimonlab.catalog import connect
from paimonlab.errors import NotFoundError
from paimonlab.server.details import details
from paimonlab.server.tree import children
from paimonlab.server.warehouses import OutsideError, folder_of, opened, warehouses
from tests.server.conftest import KEY


def test_folders_with_databases_are_found_below_the_root(root: Path) -> None:
    (root / ".hidden" / "x.db").mkdir(parents=True)
    (root / "a" / "b" / "c" / "deep.db").mkdir(parents=True)

    assert [warehouse.key for warehouse in warehouses(root)] == [KEY]


@pytest.mark.parametrize(
    "key",
    [
        *("folder:..", "folder:../elsewhere", "folder:work/../../elsewhere", "folder:/etc"),
        *("folder:work/.ssh", "folder:.config", "folder:a\0b", "/etc", "elsewhere", ""),
        "folder:work/link",
    ],
)
def test_a_folder_that_is_not_below_the_root_is_refused(root: Path, key: str) -> None:
    (root / "work" / "link").symlink_to(root.parent / "elsewhere")

    with pytest.raises(OutsideError):
        opened(root, key)


@pytest.mark.parametrize("linked", ["sales.db", "sales.db/orders"])
def test_a_database_or_table_that_is_a_link_to_elsewhere_is_refused(
    root: Path, linked: str
) -> None:
    target = root / "work" / "made" / linked
    target.parent.mkdir(parents=True)
    target.symlink_to(root.parent / "elsewhere" / linked)
    path = ("folder:work/made", "sales", "orders")

    with pytest.raises(OutsideError):
        details(root, path)
    with pytest.raises(OutsideError):
        children(root, path if "/" in linked else path[:2])


def test_what_was_added_and_may_not_be_read_says_why(root: Path) -> None:
    listed = warehouses(root, ("folder:../elsewhere", "folder:gone", "connection:x", KEY))

    assert {warehouse.key: bool(warehouse.problem) for warehouse in listed} == {
        KEY: False,
        "folder:../elsewhere": True,
        "folder:gone": True,
    }


def test_a_configured_connection_may_be_anywhere(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PAIMONLAB_WAREHOUSE", str(root.parent / "elsewhere"))

    listed = {warehouse.key: warehouse.place for warehouse in warehouses(root)}

    assert listed["connection:default"] == "${PAIMONLAB_WAREHOUSE}"
    assert opened(root, "connection:default").catalog.databases() == ["sales"]
    with pytest.raises(NotFoundError):
        opened(root, "connection:other")


def test_the_root_itself_may_be_a_warehouse(root: Path) -> None:
    assert folder_of(root, "folder:.") == root.resolve()


def test_a_configured_catalog_in_a_database_is_listed_and_opened(
    root: Path, tmp_path: Path
) -> None:
    pytest.importorskip("sqlalchemy")
    options = {
        "metastore": "jdbc",
        "uri": f"jdbc:sqlite:{tmp_path}/c.db",
        "warehouse": f"{tmp_path}/kept",
    }
    catalog = connect(options)
    catalog.create_database("sales")
    catalog.create_table("sales.orders", {"id": "INT"})
    config = root.parent / "config" / "paimonlab" / "config.toml"
    config.parent.mkdir(parents=True)
    lines = [f'{key} = "{value}"' for key, value in options.items()]
    config.write_text("\n".join(["[lake]", *lines]))

    listed = {warehouse.key: warehouse.problem for warehouse in warehouses(root)}

    assert listed["connection:lake"] == ""
    assert opened(root, "connection:lake").table("sales", "orders").name == "sales.orders"
    details(root, ("connection:lake", "sales", "orders"))
