"""Tables that are made and filled from a shell: they have what pandas wrote to the files."""

from __future__ import annotations

import datetime as dt
import json
import random
import string
from decimal import Decimal
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import paimonlab as pl
from tests.cli.conftest import Run


@pytest.fixture
def catalog(tmp_path: Path) -> pl.Catalog:
    catalog = pl.connect(tmp_path / "w")
    catalog.create_database("db")
    return catalog


def test_a_table_is_made(run: Run, catalog: pl.Catalog, tmp_path: Path) -> None:
    made = run(
        *("create", str(tmp_path / "w"), "db.t"),
        *("id BIGINT NOT NULL", "`d` DECIMAL(9, 2)", "dt DATE"),
        *("--primary-key", "dt,id", "--partition-by", "dt", "-o", "bucket=3"),
        *("--comment", "about it"),
    )

    assert made.exit_code == 0, made.output
    table = catalog.table("db.t")
    assert isinstance(table, pl.Table)
    assert table.primary_keys == ("dt", "id")
    assert table.partition_keys == ("dt",)
    assert table.options["bucket"] == "3"
    assert table.schema.comment == "about it"
    assert table.arrow_schema.field("d").type == pa.decimal128(9, 2)
    again = ("create", str(tmp_path / "w"), "db.t", "id INT")
    assert run(*again).exit_code == 2
    assert run(*again, "--if-not-exists").exit_code == 0


@pytest.mark.parametrize("option", [("--delimiter", ";"), ("--decimal-point", ",")])
def test_what_is_said_of_csv_is_refused_for_other_files(
    run: Run, tmp_path: Path, option: tuple[str, str]
) -> None:
    file = tmp_path / "rows.json"
    file.write_text('{"id": 1}\n')

    refused = run("load", str(tmp_path / "w"), "db.t", str(file), "--create", *option)

    assert refused.exit_code == 2
    assert "is json, no file is CSV" in refused.output
    assert not (tmp_path / "w" / "db.db").exists()


def test_numbers_with_a_decimal_comma(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "rows.csv"
    file.write_text("id;price;day;note;n\n1;12,50;2026-01-02;a,b;7\n2;-3;2026-01-03;1,5;8\n")
    load = ("load", str(tmp_path / "w"))
    csv = (str(file), "--delimiter", ";", "--create")

    said = run(*load, "db.texts", *csv).output.splitlines()[1]
    assert said.startswith("price is text, as its numbers have a decimal comma; --decimal-point , ")
    assert said.endswith("first paimonlab sql 'DROP TABLE db.texts'")
    assert run(*load, "db.n", *csv, "--decimal-point", ",").output == "db.n: 2 rows, snapshot 1\n"
    exact = ("--decimal-point", ",", "--type", "price=DECIMAL(9,2)")
    assert run(*load, "db.exact", *csv, *exact).exit_code == 0

    rows = pd.read_csv(file, sep=";", decimal=",")
    for name, kind in (("n", "double"), ("exact", "decimal128(9, 2)")):
        found = pl.connect(tmp_path / "w").table(f"db.{name}").scan().to_arrow()
        assert [float(one) for one in found["price"].to_pylist()] == [*rows.price]
        assert found["note"].to_pylist() == ["a,b", "1,5"]
        assert str(found.schema.field("price").type) == kind


@pytest.mark.parametrize(
    "words",
    [
        ("db.t",),
        ("db.t", "id"),
        ("db.t", "id NUMBR"),
        ("db.t", "id INT", "-o", "bukket=1"),
        ("nothing.t", "id INT"),
        ("new", "id INT"),
        ("db",),
    ],
    ids=str,
)
def test_what_is_wrong_makes_nothing(
    words: tuple[str, ...], run: Run, catalog: pl.Catalog, tmp_path: Path
) -> None:
    found = run("create", str(tmp_path / "w"), *words)

    assert found.exit_code == 2, found.output
    assert found.output.startswith(("Usage: ", "Error: "))
    assert catalog.databases() == ["db"]
    assert catalog.tables("db") == []


def test_a_table_of_a_new_database_says_how_to_make_it(
    run: Run, catalog: pl.Catalog, tmp_path: Path
) -> None:
    found = run("create", str(tmp_path / "w"), "nothing.t", "id INT")

    assert "paimonlab create nothing" in found.output


def test_the_first_load_makes_database_and_table(run: Run, tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text("id,name\n1,Ada\n")

    found = run(
        *("load", str(tmp_path / "new"), "shop.people", str(tmp_path / "rows.csv"), "--create"),
        *("--primary-key", "id"),
    )

    assert found.exit_code == 0, found.output
    rows = pl.connect(tmp_path / "new").table("shop.people").scan().to_arrow()
    assert rows.to_pylist() == [{"id": 1, "name": "Ada"}]


def test_columns_of_the_first_load_get_types(run: Run, catalog: pl.Catalog, tmp_path: Path) -> None:
    file = tmp_path / "sales.csv"
    file.write_text("id,price,day\n1,0.15,2026-01-02\n2,,2026-01-03\n")
    load = ("load", str(tmp_path / "w"), "db.sales", str(file), "--create")
    refused = {
        ("--type", "cost=INT"): "no column 'cost' to be INT, only id, price, day",
        ("--type", "price=MONEY"): "MONEY",
        ("--type", "price=VARCHAR(9)"): "create the table, then load into it",
        ("--type", "price=DECIMAL(2,1)"): "price",
        ("--type", "price=DOUBLE NOT NULL"): "price",
    }
    for words, said in refused.items():
        found = run(*load, *words)
        assert (found.exit_code, said in found.output) == (2, True), found.output
        assert not catalog.has_table("db.sales")

    assert run(*load, "--type", "price=DECIMAL(10, 2)", "--type", "id=BIGINT").exit_code == 0

    table = catalog.table("db.sales")
    assert table.arrow_schema.types == [pa.int64(), pa.decimal128(10, 2), pa.date32()]
    assert [row["price"] for row in table.scan().to_arrow().to_pylist()] == [Decimal("0.15"), None]


def test_a_database_is_made(run: Run, catalog: pl.Catalog, tmp_path: Path) -> None:
    assert run("create", str(tmp_path / "w"), "more").exit_code == 0
    assert catalog.databases() == ["db", "more"]


def _files(folder: Path, rows: pd.DataFrame) -> list[Path]:
    """Write rows to a file of each kind."""
    made = [folder / name for name in ("r.csv", "r.tsv", "r.csv.gz", "r.jsonl", "r.parquet")]
    rows.to_csv(made[0], index=False)
    rows.to_csv(made[1], index=False, sep="\t")
    rows.to_csv(made[2], index=False)
    rows.to_json(made[3], orient="records", lines=True)
    rows.to_parquet(made[4])
    return made


def test_files_are_loaded_as_pandas_reads_them(
    run: Run, catalog: pl.Catalog, tmp_path: Path, seed: int
) -> None:
    draw = random.Random(seed)
    marks = string.ascii_letters + " ,;\"'\n\täß"
    texts = [
        None if number % 7 == 0 else "".join(draw.choices(marks, k=draw.randint(1, 12)))
        for number in range(50)
    ]
    rows = pd.DataFrame(
        {
            "id": range(50),
            "amount": [draw.uniform(-1e6, 1e6) for _ in range(50)],
            "text": texts,
            "good": [draw.random() < 0.5 for _ in range(50)],
        }
    )
    for file in _files(tmp_path, rows):
        name = f"db.{file.name.replace('.', '_')}"
        made = run(
            *("load", str(tmp_path / "w"), name, str(file)),
            *("--create", "--primary-key", "id", "-o", "bucket=2", "--json"),
        )
        assert made.exit_code == 0, made.output
        assert json.loads(made.output) == {"table": name, "rows": 50, "snapshot_id": 1}
        found = catalog.table(name).scan().to_pandas().sort_values("id", ignore_index=True)
        assert found["id"].tolist() == rows["id"].tolist()
        assert [None if pd.isna(text) else text for text in found["text"]] == texts
        assert found["good"].tolist() == rows["good"].tolist()
        assert found["amount"].tolist() == pytest.approx(rows["amount"].tolist(), rel=1e-9)


def test_rows_take_the_types_of_the_table(run: Run, catalog: pl.Catalog, tmp_path: Path) -> None:
    types = {
        "id": "INT",
        "code": "STRING",
        "price": "DECIMAL(9, 2)",
        "day": "DATE",
        "at": "TIMESTAMP(3)",
        "rest": "STRING",
    }
    catalog.create_table("db.t", types, primary_keys=["id"], options={"bucket": "1"})
    csv = tmp_path / "t.csv"
    csv.write_text('id,code,price,day,at\n1,007,1.50,2026-01-02,2026-01-02 03:04:05.678\n2,"",,,\n')
    lines = tmp_path / "t.jsonl"
    lines.write_text('{"id": 3, "code": "008", "price": "2.25", "day": "2026-02-03"}\n')

    done = run("load", str(tmp_path / "w"), "db.t", str(csv), str(lines))

    assert done.exit_code == 0, done.output
    assert done.output == "db.t: 3 rows, snapshot 1\n"
    rows = (
        catalog.table("db.t")
        .scan()
        .to_arrow()
        .sort_by("id")
        .cast(
            pa.schema(
                [("id", pa.int32()), *[(name, pa.string()) for name in types if name != "id"]]
            )
        )
    )
    assert [tuple(row.values()) for row in rows.to_pylist()] == [
        (1, "007", "1.50", "2026-01-02", "2026-01-02 03:04:05.678", None),
        (2, "", None, None, None, None),
        (3, "008", "2.25", "2026-02-03", None, None),
    ]


def test_an_upsert_and_an_overwrite(run: Run, catalog: pl.Catalog, tmp_path: Path) -> None:
    catalog.write_table("db.t", [{"id": 1, "v": "a"}, {"id": 2, "v": "b"}], primary_keys=["id"])
    (tmp_path / "more.csv").write_text("v|id\nz|2\n")
    load = ("load", str(tmp_path / "w"), "db.t", str(tmp_path / "more.csv"), "--delimiter", "|")

    assert run(*load).exit_code == 0
    assert sorted(catalog.table("db.t").scan().to_arrow()["v"].to_pylist()) == ["a", "z"]
    assert run(*load, "--overwrite").exit_code == 0
    assert catalog.table("db.t").scan().to_arrow()["v"].to_pylist() == ["z"]


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.csv", "id,w\n1,2\n", "no column 'w'"),
        ("a.csv", "id,v\nx,2\n", "a.csv"),
        ("a.csv", "id,v\n1\n", "a.csv"),
        ("a.csv", "", "a.csv"),
        ("a.json", '{"id": 1}\n{"id"', "a.json"),
        ("a.json", '{"id": 1}\n{"id": 2, "w": 1}\n', "a.json"),
        ("a.parquet", "no parquet", "a.parquet"),
        ("a.txt", "id\n1\n", "name the format"),
    ],
    ids=str,
)
def test_a_file_that_does_not_fit_loads_nothing(
    name: str, content: str, said: str, run: Run, catalog: pl.Catalog, tmp_path: Path
) -> None:
    table = catalog.write_table("db.t", [{"id": 1, "v": "a"}])
    good = tmp_path / "good.csv"
    good.write_text("id,v\n5,b\n")
    (tmp_path / name).write_text(content)

    found = run("load", str(tmp_path / "w"), "db.t", str(good), str(tmp_path / name))

    assert found.exit_code == 2, found.output
    assert said in found.output
    assert "Traceback" not in found.output
    assert table.snapshots.ids() == [1]


def test_what_is_wrong_with_csv_says_what_to_do(
    run: Run, catalog: pl.Catalog, tmp_path: Path
) -> None:
    table = catalog.create_table("db.t", {"id": "INT", "day": "DATE"})
    (tmp_path / "bad.csv").write_text("id,day\n1,2026-02-30\n")
    (tmp_path / "other.csv").write_text("id;day\n1;2026-02-03\n")
    (tmp_path / "more.csv").write_text("id;day\n1;2,5\n")
    load = ("load", str(tmp_path / "w"))

    found = run(*load, "db.t", str(tmp_path / "bad.csv")).output
    assert "bad.csv: column 'day': " in found
    assert "'2026-02-30'" in found
    for name in ("other.csv", "more.csv"):
        for words in (("db.t",), ("db.new", "--create")):
            said = run(*load, words[0], str(tmp_path / name), *words[1:]).output
            assert f"{name}: " in said
            assert "its first line is 'id;day': give the delimiter ';'" in said
    assert run(*load, "db.t", str(tmp_path / "other.csv"), "--delimiter", ";").exit_code == 0
    assert table.scan().count() == 1
    assert catalog.tables("db") == ["t"]


def test_a_table_that_is_not_there_is_made_by_create(
    run: Run, catalog: pl.Catalog, tmp_path: Path
) -> None:
    (tmp_path / "rows.csv").write_text("id\n1\n")
    for name in ("db.new", "nothing.t"):
        found = run("load", str(tmp_path / "w"), name, str(tmp_path / "rows.csv"))
        assert found.exit_code == 2
        assert f"If {name} is new, --create makes it" in found.output


def test_a_warehouse_without_tables_says_so(run: Run, catalog: pl.Catalog, tmp_path: Path) -> None:
    for words in (("tables", "w"), ("tables", "w", "db"), ("health", "w"), ("w",)):
        place = str(tmp_path / "w")
        found = run(*(place if word == "w" else word for word in words))
        assert found.exit_code == 0, found.output
        assert found.stdout == ""
        assert "has no tables yet; 'paimonlab load " in found.stderr
    assert "is not there yet" in run("tables", str(tmp_path / "nowhere")).stderr
    assert run("tables", str(tmp_path / "w"), "--json").output == "[]\n"


def test_a_table_for_files_that_cannot_be_read_is_gone_again(
    run: Run, catalog: pl.Catalog, tmp_path: Path
) -> None:
    (tmp_path / "a.csv").write_text("id\n" + "1\n" * 5_000_000 + "x\n")

    found = run("load", str(tmp_path / "w"), "db.t", str(tmp_path / "a.csv"), "--create")

    assert found.exit_code == 2, found.output
    assert "a.csv" in found.output
    assert catalog.tables("db") == []


def test_later_files_must_not_have_more_columns(
    run: Run, catalog: pl.Catalog, tmp_path: Path
) -> None:
    (tmp_path / "a.csv").write_text("id\n1\n")
    (tmp_path / "b.csv").write_text("id,v\n1,2\n")
    load = ("load", str(tmp_path / "w"), "db.t", str(tmp_path / "a.csv"), str(tmp_path / "b.csv"))

    found = run(*load, "--create")

    assert found.exit_code == 2, found.output
    assert "b.csv" in found.output
    assert catalog.tables("db") == []


def test_a_table_like_a_file(run: Run, catalog: pl.Catalog, tmp_path: Path) -> None:
    pq.write_table(
        pa.table({"a": pa.array([1], pa.int16()), "n": pa.nulls(1)}), tmp_path / "a.parquet"
    )

    made = run("create", str(tmp_path / "w"), "db.t", "--like", str(tmp_path / "a.parquet"))

    assert made.exit_code == 0, made.output
    assert catalog.table("db.t").arrow_schema.types == [pa.int16(), pa.string()]


def test_rows_are_printed_as_csv(run: Run, orders: pl.Table, tmp_path: Path) -> None:
    day = dt.date(2026, 1, 3)
    orders.write([{"dt": day, "id": 9, "note": 'a "b", c\n'}, {"dt": day, "id": 8, "note": ""}])
    scan = ("scan", str(tmp_path), "db.orders", "--where", "dt = DATE '2026-01-03'")
    found = run(*scan, "--columns", "dt,id,amount,note", "--format", "csv")

    assert found.exit_code == 0, found.output
    assert found.output == (
        '"dt","id","amount","note"\n"2026-01-03",8,,""\n"2026-01-03",9,,"a ""b"", c\n"\n'
    )
    assert run(*scan, "--format", "csv", "-n", "0").output == '"dt","id","amount","note"\n'
    assert run(*scan, "--count", "--format", "json").output == '{"count":2}\n'
    assert run(*scan, "--json", "--format", "csv").exit_code == 2


def test_nested_values_are_json_in_csv(run: Run, catalog: pl.Catalog, tmp_path: Path) -> None:
    types = {"a": "ARRAY<INT>", "m": "MAP<STRING, INT>", "b": "BYTES"}
    table = catalog.create_table("db.t", types)
    table.write(
        pa.table(
            {
                "a": [[1, None]],
                "m": pa.array([{"k": 1}], pa.map_(pa.string(), pa.int32())),
                "b": [b"\x01\xff"],
            }
        )
    )

    lines = run("scan", str(tmp_path / "w"), "db.t", "--format", "csv").output.splitlines()

    assert lines[1] == '"[1,null]","{""k"":1}","0x01ff"'


def test_a_json_array_is_answered_with_what_makes_lines_of_it(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "rows.json"
    path.write_text('[{"id": 1, "tags": ["a"]},\n {"id": 2, "tags": []}]')

    found = run("load", str(tmp_path / "w"), "db.t", str(path), "--create")

    assert found.exit_code == 2
    assert "it is one JSON array, and rows are read from an object a line" in found.output
    pd.read_json(path).to_json(path, orient="records", lines=True)
    assert run("load", str(tmp_path / "w"), "db.t", str(path), "--create").exit_code == 0
    sql = run("sql", str(tmp_path / "w"), "SELECT id, tags FROM db.t ORDER BY id", "--json")
    assert sql.output == '{"id":1,"tags":["a"]}\n{"id":2,"tags":[]}\n'


def test_texts_that_look_like_numbers_and_days_are_told_of(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "rows.csv"
    file.write_text(
        "id;amount;day;note;n\n1;2.440,71;31.01.2026;12,5;1\n2;n/a;1.2.2026;a;2\n"
        "3;7,5;2026-01-01;b;3\n4;1;02.02.2026;b;4\n"
    )

    csv = (str(file), "--delimiter", ";", "--decimal-point", ",")
    said = run("load", str(tmp_path / "w"), "db.t", *csv, "--create").output.splitlines()

    assert said[0] == "db.t: 4 rows, snapshot 1"
    assert said[1].startswith("amount is text, as '2.440,71' is no number here; in Python pandas.")
    assert said[2].startswith(
        "day is text, as '31.01.2026' is not written as 2026-01-31; SQL reads"
    )
    assert len(said) == 3
    rows = pl.connect(tmp_path / "w").table("db.t").scan().to_arrow()
    frame = pd.read_csv(
        file, sep=";", decimal=",", thousands=".", na_values=["n/a"], dtype={"day": str}
    )
    assert frame["amount"].tolist()[0] == 2440.71  # what it tells reads them
    assert rows["day"].to_pylist() == ["31.01.2026", "1.2.2026", "2026-01-01", "02.02.2026"]
    typed = ("--type", "day=DATE")
    refused = run("load", str(tmp_path / "w"), "db.u", *csv, "--create", *typed)
    assert "A day is written 2026-01-31; in Python pandas.to_datetime(" in refused.output


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("load", "rows.csv"), "For example: paimonlab load "),
        (("changes", "db.t"), "For example: paimonlab changes shop.orders yesterday"),
        (
            ("changes", "db.t", "--since", "yesterday"),
            "START: paimonlab changes DB.TABLE yesterday",
        ),
        (("undo", "db.t"), "It is rollback here"),
        (("why", "db.t"), "It is health here"),
        (("lookup", "w", "db.t", "5"), "For example: paimonlab lookup"),
        (("scan", "w", "db.t", "-o", "out.csv"), "Into a file: --format csv > out.csv"),
    ],
)
def test_a_first_guess_is_answered(run: Run, arguments: tuple[str, ...], said: str) -> None:
    assert said in run(*arguments).output
