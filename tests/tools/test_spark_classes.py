"""When JVMs of tests get the archive of Spark's classes."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools import short_java, spark_classes


def test_an_archive_is_passed_to_jvms_once_it_exists(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    archive = tmp_path / "spark-classes.jsa"
    monkeypatch.setattr(short_java, "SPARK_CLASSES", archive)

    assert short_java.spark_options() == " ".join(short_java.OPTIONS)
    archive.touch()
    assert f"-XX:SharedArchiveFile={archive}" in short_java.spark_options().split()


@pytest.mark.parametrize("name", ["a folder", "it's", "$HOME"])
def test_a_path_that_would_be_cut_is_not_passed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    archive = tmp_path / name / "spark-classes.jsa"
    archive.parent.mkdir()
    archive.touch()
    monkeypatch.setattr(short_java, "SPARK_CLASSES", archive)

    assert short_java.spark_options() == " ".join(short_java.OPTIONS)
    assert spark_classes.main(archive) == 0
    assert list(archive.parent.iterdir()) == [archive]
