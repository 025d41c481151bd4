"""How packages that tests take are installed, by an apt-get that only writes down its calls."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.debian import is_installed

APT = """#!/bin/sh
echo "$1" >> {folder}/calls
case $1 in
  update) touch {folder}/lists ;;
  install) test -e {folder}/lists && test "$5" != none-such ;;
esac
"""


def test_lists_of_packages_are_fetched_where_one_is_not_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    apt = tmp_path / "bin" / "apt-get"
    apt.parent.mkdir()
    apt.write_text(APT.format(folder=tmp_path))
    apt.chmod(0o755)
    monkeypatch.setenv("PATH", f"{apt.parent}:{os.environ['PATH']}")
    monkeypatch.setattr(os, "geteuid", lambda: 0)

    assert is_installed("one-of-tests")
    assert is_installed("other-of-tests")
    assert not is_installed("none-such")

    calls = (tmp_path / "calls").read_text().split()
    assert calls == ["install", "update", "install", "install", "install", "update", "install"]
