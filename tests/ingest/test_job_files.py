"""Jobs in YAML files: what they become, and where what is wrong is."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

import paimonlab as pm
from paimonlab.errors import UnsupportedError
from paimonlab.ingest.job_files import JobFileError, job_from_file


@pytest.fixture
def arriving(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "a.csv").write_text("id;v\n1;a\n2;b\n")
    os.utime(folder / "a.csv", (0, 0))
    return folder


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "job.yaml"
    path.write_text(text)
    return path


WHOLE = """\
# all there is
catalog:
  warehouse: ./warehouse
job:
  name: shop
  into: ods
  interval: 1 s
  until: caught-up
  max_dead: 3
source:
  type: files
  folder: ./in
  table: a.t
  format: csv
  delimiter: ";"
  columns: {id: BIGINT, v: STRING}
tables:
  names: {t: o}
  primary_keys: [id]
  computed:
    up: upper(v)
  metadata: [file]
  options: {o: {write-buffer-size: 8 mb}, other: {bucket: 9}}
options:
  bucket: 2
  changelog-producer: input
"""


def test_a_file_becomes_a_job(arriving: Path, tmp_path: Path) -> None:
    said = job_from_file(written(tmp_path, WHOLE))
    assert said.until == "caught-up"
    said.job.run(said.until)

    table = pm.connect(tmp_path / "warehouse").table("ods.o")
    rows = [tuple(row.values()) for row in table.scan().to_arrow().to_pylist()]
    assert sorted(rows) == [(1, "a", "A", "a.csv"), (2, "b", "B", "a.csv")]
    assert table.primary_keys == ("id",)
    assert table.schema.options["bucket"] == "2"
    assert table.schema.options["write-buffer-size"] == "8 mb"
    assert table.schema.options["changelog-producer"] == "input"
    assert arriving.exists()


def test_servers_and_references_to_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOST", "db.shop")
    monkeypatch.setenv("ACCESS", "zq-secret")
    text = r"""
    job: {name: shop, into: ods, until: stopped}
    source:
      type: mysql
      host: ${HOST}
      port: 3307
      user: cdc
      password_env: CDC_PASSWORD
      tables: ['shop\.orders', 'shop\.items']
      start: {file: b.7, pos: 4}
      type_mapping: [tinyint1-not-bool]
    tables: {names: all}
    """
    said = job_from_file(written(tmp_path, text), pm.connect(tmp_path / "w"))

    source: Any = said.job._source
    assert source.name == r"mysql db.shop:3307 shop\.orders|shop\.items"
    assert source.start == {"file": "b.7", "pos": 4}
    assert said.until is None
    assert said.job._rules.table_names == "all"
    assert "zq-secret" not in repr(vars(said.job))


@pytest.mark.parametrize(
    ("before", "after", "line", "problem"),
    [
        ("  name: shop", "  nam: shop", 5, "job.nam: job takes name, .*Did you mean 'name'"),
        ("  name: shop\n", "", 4, "job.name: it is missing"),
        ("  name: shop", "  name: shop\n  name: x", 6, "job.name: it is given twice"),
        ("  name: shop", "  name: a/b", 5, "job.name: .*a/b"),
        ("  max_dead: 3", "  max_dead: many", 9, "job.max_dead: a whole number is wanted"),
        ("  max_dead: 3", "  max_dead: -1", 9, "job.max_dead: max_dead is at least 0"),
        ("  interval: 1 s", "  interval: soon", 7, "job.interval: .*soon"),
        ("  interval: 1 s", "  interval: yes", 7, "job.interval: a time is wanted"),
        ("  type: files", "  type: filse", 11, "source.type: .*'filse'.*Did you mean 'files'"),
        ("  type: files\n", "", 10, "source.type: it is one of mysql"),
        ("  table: a.t", "  tabel: a.t", 13, "source.tabel: files takes .*'table'"),
        ("  table: a.t", "  password: zq-secret", 13, "source.password: a secret is not written"),
        ("  table: a.t", "  table: [a]", 13, "source.table: a text is wanted"),
        ("  format: csv", "  settle: soon", 14, "source.settle: seconds are wanted"),
        ('  delimiter: ";"', "  delimiter: ab", 15, "source.delimiter: .*one character"),
        ("  primary_keys: [id]", "  primary_keys: id", 19, "tables.primary_keys: a list of texts"),
        ("    up: upper(v)", "    up: shout(v)", 21, "line 21: tables.computed.up: .*shout"),
        ("  metadata: [file]", "  metadata: [op_ts]", 22, "line 22: tables.metadata: .*op_ts"),
        ("{bucket: 9}", "7", 23, "tables.options: values by option"),
        ("  bucket: 2", "  bucket: [2]", 24, "options: values by option"),
        ("catalog:\n", "catalog: x\nother:\n", 3, "other: sections are|catalog: keys with values"),
        ("job:\n", "jobs:\n", 4, "jobs: sections are .*Did you mean 'job'"),
        ("  name: shop", "  name: [", 7, "it is not YAML"),
        ("  into: ods", "  into: ${NOT_SET}", 6, r"job.into: \$\{NOT_SET\} is not in the env"),
        ("  changelog-producer: input", "  s3.secret-key: abc", 26, "secret is not written here"),
    ],
)
@pytest.mark.usefixtures("arriving")
def test_what_is_wrong_is_named_by_line_and_key(
    tmp_path: Path, before: str, after: str, line: int, problem: str
) -> None:
    assert before in WHOLE
    path = written(tmp_path, WHOLE.replace(before, after, 1))

    with pytest.raises((JobFileError, UnsupportedError), match=problem) as caught:
        job_from_file(path)

    if isinstance(caught.value, JobFileError):
        assert caught.value.line == line
    assert "zq-secret" not in str(caught.value)
    assert not (tmp_path / "warehouse" / "ods.db").exists()


def test_files_of_flink_cdc_and_files_that_are_none(tmp_path: Path) -> None:
    with pytest.raises(UnsupportedError, match=r"line 2: route of Flink CDC.*use tables:"):
        job_from_file(written(tmp_path, "source: {type: mysql}\nroute:\n  - source-table: a\n"))
    with pytest.raises(JobFileError, match="cannot be read"):
        job_from_file(tmp_path / "none.yaml")
    for text, problem in {
        "": "it is empty",
        "- a": "sections are wanted",
        "a: &x [*x]": "nested",
    }.items():
        with pytest.raises((JobFileError, UnsupportedError), match=f"{problem}|sections are"):
            job_from_file(written(tmp_path, text))
