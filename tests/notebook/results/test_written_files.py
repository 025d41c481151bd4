"""Where ``--to`` and ``save`` may write: anywhere, but over nothing that is no such file."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from paimonlab.errors import UnsupportedError
from paimonlab.notebook.connections import connection as connections
from paimonlab.notebook.results import row_files
from paimonlab.notebook.results.plotting.plot import plot_of
from tests.notebook.magics.test_magics import failure
from tests.notebook.results.test_result import make

ROWS = pa.table({"a": [1, 2], "b": ["x", "y"]})
OTHERS = {
    ".csv": "#!/bin/sh\necho a,b\n",
    ".parquet": "no file of Parquet",
    ".arrow": "no file of Arrow",
    ".json": '{\n  "name": "somebody\'s settings"\n}\n',
    ".md": "# A page somebody wrote\n",
}


def save(target: Path) -> Any:
    if target.suffix == ".html":
        return plot_of(ROWS, "bar", "b", "a").save(target)
    return make(ROWS).export(target)


@pytest.mark.parametrize("ending", [*row_files.ENDINGS, ".html"])
def test_what_was_written_is_replaced_and_nothing_else(ending: str, tmp_path: Path) -> None:
    target, other = tmp_path / f"rows{ending}", tmp_path / f"other{ending}"
    other.write_text(OTHERS.get(ending, "<p>a page somebody wrote</p>"))
    before = other.read_bytes()
    (tmp_path / f"empty{ending}").touch()

    save(target)
    save(target)
    save(tmp_path / f"empty{ending}")
    with pytest.raises(UnsupportedError, match="does not look like what would replace it"):
        save(other)

    assert other.read_bytes() == before
    assert {path.name for path in tmp_path.iterdir()} == {
        *(f"rows{ending}", f"other{ending}", f"empty{ending}")
    }


@pytest.mark.parametrize(
    "text",
    [
        ROWS.to_pandas().to_csv(index=False),
        ROWS.to_pandas().to_csv(sep="\t"),
        '\ufeffa;b\r\n1;"x"\r\n',
        "größe\n1\n",
    ],
)
def test_csv_of_other_programs_is_replaced(text: str, tmp_path: Path) -> None:
    target = tmp_path / "rows.csv"
    target.write_text(text, encoding="utf-8", newline="")

    save(target)

    assert target.read_text() == '"a","b"\n1,"x"\n2,"y"\n'


@pytest.mark.parametrize(
    "other",
    [
        b"#!/usr/bin/env python\nprint(1)\n",
        b"<html>a,b</html>\n",
        b"\n  <?xml version='1.0'?>\n",
        b"\xef\xbb\xbf<svg/>",
        b"PK\x03\x04a,b",
        b"\x89PNG\r\n\x1a\n",
        b"SQLite format 3\x00",
        b"a,b\n1,\x1b[31m\n",
    ],
)
def test_what_is_no_csv_is_not_replaced(other: bytes, tmp_path: Path) -> None:
    target = tmp_path / "rows.csv"
    target.write_bytes(other)

    with pytest.raises(UnsupportedError, match="does not look like what would replace it"):
        save(target)

    assert target.read_bytes() == other


@pytest.mark.parametrize("ending", row_files.ENDINGS)
@pytest.mark.parametrize("columns", [1, 400, 2_000])
def test_a_wide_file_is_replaced(columns: int, ending: str, tmp_path: Path) -> None:
    target = tmp_path / f"rows{ending}"
    rows = make(pa.table({f"column {number}": [number] for number in range(columns)}))

    rows.export(target)
    before = target.read_bytes()
    rows.export(target)

    assert target.read_bytes() == before


@pytest.mark.parametrize("width", range(4_085, 4_100))
def test_a_file_is_replaced_wherever_its_first_line_ends(width: int, tmp_path: Path) -> None:
    rows = make(pa.table({"x" * width: ["\x1b[31m<b>"]}))
    for target in (tmp_path / "rows.md", tmp_path / "rows.csv", tmp_path / "rows.json"):
        rows.export(target)
        before = target.read_bytes()
        rows.export(target)

        assert target.read_bytes() == before


@pytest.mark.parametrize("ending", [".csv", ".html"])
def test_what_is_no_file_is_refused_at_once(ending: str, tmp_path: Path) -> None:
    folder, pipe = tmp_path / f"folder{ending}", tmp_path / f"pipe{ending}"
    device, missing = tmp_path / f"device{ending}", tmp_path / "missing" / f"rows{ending}"
    folder.mkdir()
    os.mkfifo(pipe)
    device.symlink_to("/dev/zero")

    for target in (folder, pipe, device):
        with pytest.raises(UnsupportedError, match="it exists, and is not a file"):
            save(target)
    with pytest.raises(UnsupportedError, match="No such file or directory"):
        save(missing)
    with pytest.raises(UnsupportedError, match="File name too long"):
        save(tmp_path / ("x" * 300 + ending))


def test_a_link_is_replaced_and_not_followed(tmp_path: Path) -> None:
    precious, link = tmp_path / "precious.csv", tmp_path / "rows.csv"
    save(precious)
    before = precious.read_bytes()
    link.symlink_to(precious)

    make(pa.table({"z": [1]})).export(link)

    assert not link.is_symlink()
    assert precious.read_bytes() == before


def test_a_link_laid_where_rows_are_gathered_is_not_followed(tmp_path: Path) -> None:
    precious = tmp_path / "precious"
    precious.write_text("precious")
    (tmp_path / ".rows.csv.part").symlink_to(precious)

    save(tmp_path / "rows.csv")

    assert precious.read_text() == "precious"


def test_no_value_of_data_says_where_a_file_goes(
    shell: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    from paimonlab import notebook  # noqa: PLC0415 - as a user has it

    path = notebook.demo(tmp_path / "demo").catalog.path
    connections.disconnect()
    connections.connect(path, engine="native")
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    shell.user_ns |= {"name": "../out", "secret": str(tmp_path / "out")}
    cell = "SELECT order_id FROM demo.orders"

    for target in ("{{name}}.csv", "{{secret}}.csv", "$name.csv", "{name}.csv", ":name.csv"):
        shell.run_cell(f"%%paimon -j --to {target}\n{cell}")

    assert not list(tmp_path.glob("out*"))
    said = failure(shell, capsys, f"%%paimon --to /proc/rows.csv\n{cell}")
    assert any("writing /proc/rows.csv is not supported" in line for line in said)


def test_the_name_of_a_file_is_shown_as_it_is(shell: Any, tmp_path: Path, capsys: Any) -> None:
    from paimonlab import notebook  # noqa: PLC0415 - as a user has it

    path = notebook.demo(tmp_path / "demo").catalog.path
    connections.disconnect()
    connections.connect(path, engine="native")
    target = tmp_path / "a\u202e\x1b[31mb.csv"
    capsys.readouterr()

    shell.run_cell(f'%%paimon --to "{target}"\nSELECT order_id FROM demo.orders')

    said = capsys.readouterr().out
    assert "\x1b" not in said
    assert "\u202e" not in said
