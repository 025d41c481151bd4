"""Every example in the help of a command runs."""

from __future__ import annotations

import datetime as dt
import os
import re
import shlex
from pathlib import Path

import deltalake
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import paimonlab as pl
from paimonlab.cli.examples import EXAMPLES, START
from paimonlab.cli.main import main
from tests.cli.conftest import Run


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> pl.Table:
    """``shop.orders`` in ``./warehouse``, which is configured, and a file of prices."""
    catalog = pl.connect(tmp_path / "warehouse")
    catalog.create_database("shop")
    orders = catalog.create_table(
        "shop.orders",
        {"dt": "DATE", "id": "INT", "amount": "DOUBLE"},
        primary_keys=["dt", "id"],
        partition_keys=["dt"],
        options={"bucket": "1"},
    )
    for day in (1, 2):
        orders.write([{"dt": dt.date(2026, 1, day), "id": 1, "amount": 12.5}])
    orders.tags.create("v1", snapshot=1)
    orders.branches.create("dev", tag="v1")
    orders.consumers.reset("reader", 2)
    prices = [{"item": "tea", "price": 1.5}]
    catalog.write_table("shop.prices", prices, primary_keys=["item"])
    catalog.write_table("shop.rates", prices, primary_keys=["item"])
    (tmp_path / "prices.csv").write_text("item,price\ntea,2.5\n")
    (tmp_path / "arriving").mkdir()
    (tmp_path / "arriving/prices.csv").write_text("item,price\ntea,2.5\n")
    os.utime(tmp_path / "arriving/prices.csv", (0, 0))
    (tmp_path / "events/dt=2026-01-01").mkdir(parents=True)
    pq.write_table(pa.table({"id": [1]}), tmp_path / "events/dt=2026-01-01/a.parquet")
    (tmp_path / "job.yaml").write_text(
        "job: {name: rates, into: ods}\nsource: {type: table, table: shop.rates}\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PAIMONLAB_WAREHOUSE", str(tmp_path / "warehouse"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    return orders


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples_run(
    name: str, run: Run, shop: pl.Table, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("paimonlab.catalog.rest_server.serving.Server.wait", lambda _: None)
    monkeypatch.setattr("signal.signal", lambda *_: None)  # it is the tests' own
    if name == "create":
        pl.connect(tmp_path / "warehouse").drop_table("shop.prices")
    if name == "load":
        pl.connect(tmp_path / "warehouse").drop_table("shop.rates")
    if name == "migrate":
        deltalake.write_deltalake("delta/sales", pa.table({"id": [1]}))
    if name == "create-tag":
        shop.tags.delete("v1")
    if name == "create-branch":
        shop.branches.delete("dev")
    for line in EXAMPLES[name]:
        said = re.sub(r'^eval "\$\((.*)\)"$|^(.*) \| source$', r"\1\2", line)
        words = shlex.split(said)
        assert words[0] == "paimonlab"
        found = run(*words[1:])
        assert found.exit_code == 0 or name in {"health", "doctor"}, (line, found.output)
        assert found.output
        assert found.exception is None or isinstance(found.exception, SystemExit)


def test_every_command_has_examples_in_its_help(run: Run) -> None:
    assert set(EXAMPLES) == set(main.commands)
    for name, lines in EXAMPLES.items():
        text = run(name, "--help").output
        assert "Examples:\n  " + "\n  ".join(lines) + "\n" in text


def test_the_first_steps_in_the_help_of_all_commands_run(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PAIMONLAB_WAREHOUSE", "./new")
    Path("sales.csv").write_text("id,region\n1,north\n2,south\n")
    text = run("--help").output

    assert "Examples:\n  " + "\n  ".join(START) + "\n" in text
    assert not re.findall(r"\w\.\.\.", text), "a sentence is cut"
    said = ""
    for line in START:
        found = run(*shlex.split(line)[1:])
        assert found.exit_code == 0, (line, found.output)
        said = found.output
    assert "shop.sales: ok" in said
