"""Finding the tools and building once; needs neither of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.interop.conftest import without_java
from tests.interop.java_build import JavaMissingError, JavaTools, build_once, cache_folder


@pytest.fixture
def no_tools(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("JAVA_HOME", raising=False)


def program(folder: Path, name: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text("#!/bin/sh\n")
    (folder / name).chmod(0o755)


def test_a_missing_jdk_and_a_missing_maven_are_named(no_tools: None, tmp_path: Path) -> None:
    with pytest.raises(JavaMissingError, match="no JDK"):
        JavaTools.find()

    program(tmp_path, "javac")
    with pytest.raises(JavaMissingError, match="no Maven"):
        JavaTools.find()


def test_java_home_goes_before_path(
    no_tools: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("javac", "mvn"):
        program(tmp_path, name)
    program(tmp_path / "home/bin", "javac")
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "home"))

    tools = JavaTools.find()

    assert tools.javac == str(tmp_path / "home/bin/javac")
    assert tools.java == str(tmp_path / "home/bin/java")
    assert tools.maven == str(tmp_path / "mvn")


def test_without_java_tests_are_skipped_with_the_reason_or_fail_if_required(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("PAIMONLAB_INTEROP", raising=False)
    with pytest.raises(pytest.skip.Exception, match="no live tests against Java: no Maven"):
        without_java(JavaMissingError("no Maven"))

    monkeypatch.setenv("PAIMONLAB_INTEROP", "require")
    with pytest.raises(pytest.fail.Exception, match="live tests are required: no Maven"):
        without_java(JavaMissingError("no Maven"))


def test_what_was_built_is_used_again_and_what_failed_is_not(tmp_path: Path) -> None:
    def fail(folder: Path) -> None:
        (folder / "half").touch()
        raise JavaMissingError("no network")

    with pytest.raises(JavaMissingError):
        build_once(tmp_path / "a", fail)
    assert not (tmp_path / "a").exists()

    build_once(tmp_path / "a", lambda folder: (folder / "whole").touch())
    build_once(tmp_path / "a", fail)
    assert [path.name for path in (tmp_path / "a").iterdir()] == ["whole"]


def test_the_cache_is_the_users_or_the_one_chosen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PAIMONLAB_CACHE", str(tmp_path))
    assert cache_folder() == tmp_path / "interop"

    monkeypatch.delenv("PAIMONLAB_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert cache_folder() == tmp_path / "xdg/paimonlab/interop"
