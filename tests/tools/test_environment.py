from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Return a folder with the script and without an environment."""
    (tmp_path / "tools").mkdir()
    shutil.copy(ROOT / "tools" / "environment.sh", tmp_path / "tools")
    return tmp_path


def build_environment(project: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["bash", str(project / "tools" / "environment.sh")],
        env=os.environ | {"PYTHON": ""} | variables,
        capture_output=True,
        text=True,
        check=False,
    )


def executable(path: Path, script: str) -> Path:
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"#!/bin/bash\n{script}\n")
    path.chmod(0o755)
    return path


def test_a_python_that_is_named_and_too_old_is_refused(project: Path) -> None:
    old = executable(project / "bin" / "python2", "exit 1")

    done = build_environment(project, PYTHON=str(old))

    assert done.returncode == 1
    assert done.stderr == f"error: PYTHON={old} is not a Python 3.11, 3.12 or 3.13\n"
    assert not (project / ".venv").exists()


def test_without_the_venv_module_the_debian_package_is_named(project: Path) -> None:
    without_venv = executable(
        project / "bin" / "python3",
        f'case "$2" in *ensurepip*) exit 1;; esac; exec {sys.executable} "$@"',
    )

    done = build_environment(project, PYTHON=str(without_venv))

    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    assert done.returncode == 1
    assert f"apt install python{version}-venv" in done.stderr
    assert not (project / ".venv").exists()


def test_no_python_at_all_says_how_to_name_one(project: Path) -> None:
    for name in ("bash", "dirname"):
        target = shutil.which(name)
        assert target is not None
        (project / "bin").mkdir(exist_ok=True)
        (project / "bin" / name).symlink_to(target)

    done = build_environment(project, PATH=str(project / "bin"))

    assert done.returncode == 1
    assert "make PYTHON=" in done.stderr


def test_make_explains_every_target() -> None:
    listing = subprocess.run(
        ["make", "--no-print-directory", "help"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout

    targets = {line.split()[1] for line in listing.splitlines() if line.startswith("  make ")}
    assert {"demo", "test", "lab", "lint", "bench", "interop", "lock", "clean", "help"} <= targets
