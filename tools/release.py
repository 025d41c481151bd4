"""Build wheel and sdist, and try them as somebody who installs them would: ``make release``.

Everything lands in ``build/release``. twine checks what the package index will check. Then, for
each supported Python that this machine has, a fresh environment gets the wheel with its extra
``notebook`` and JupyterLab from the package index: the README's tour has to print what it says
there, and JupyterLab and its server to list their extensions. The wheel built from the sdist has
to have the same files as the one built here. Nothing is uploaded. ``PAIMONLAB_PROJECT_URL`` says
where the repository's files are, for the links and pictures of the description.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

from tools.pythons import PYTHONS, interpreter

ROOT = Path(__file__).parents[1]
BUILD = ROOT / "build" / "release"


def main() -> None:
    """Build, check, print a line for each thing that was tried; exit with 1 if one failed."""
    shutil.rmtree(BUILD, ignore_errors=True)
    wheel, sdist = _build(ROOT, BUILD)
    failed = False
    for what, problem in _tried(wheel, sdist):
        print(f"{what}: {problem or 'ok'}", flush=True)
        failed |= bool(problem)
    sys.exit(failed)


def _build(source: Path, target: Path) -> tuple[Path, Path]:
    command = [sys.executable, "-m", "hatchling", "build", "-d", str(target)]
    subprocess.run(command, cwd=source, check=True, capture_output=True)
    (wheel,), (sdist,) = target.glob("*.whl"), target.glob("*.tar.gz")
    return wheel, sdist


def _tried(wheel: Path, sdist: Path) -> Iterator[tuple[str, str]]:
    yield "twine check", _checked(wheel, sdist)
    yield "wheel built from the sdist", _rebuilt(wheel, sdist)
    for version in PYTHONS:
        python = interpreter(version)
        if python is None:
            yield f"Python {version}", "not on this machine"
            continue
        yield f"Python {version}", _installed(python, BUILD / f"python-{version}", wheel)


def _checked(wheel: Path, sdist: Path) -> str:
    folder = BUILD / "twine"
    _environment(sys.executable, folder, "twine")
    return _problem([str(folder / "bin" / "twine"), "check", "--strict", str(wheel), str(sdist)])


def _rebuilt(wheel: Path, sdist: Path) -> str:
    unpacked = BUILD / "sdist"
    shutil.unpack_archive(sdist, unpacked, filter="data")
    again, _ = _build(next(unpacked.iterdir()), BUILD / "again")
    difference = _files(wheel) ^ _files(again)
    return f"other files: {', '.join(sorted(difference)[:5])}" if difference else ""


def _files(wheel: Path) -> set[str]:
    with zipfile.ZipFile(wheel) as archive:
        return set(archive.namelist())


def _installed(python: str, folder: Path, wheel: Path) -> str:
    _environment(python, folder, f"{wheel}[notebook]", "jupyterlab")
    programs = folder / "bin"
    asked = (
        (["paimonlab", "--version"], wheel.name.split("-")[1]),
        (["jupyter", "labextension", "list"], r"jupyterlab-paimonlab v[\d.]+.*enabled.*OK"),
        (["jupyter", "server", "extension", "list"], r"paimonlab\.server.*enabled"),
    )
    for command, expected in asked:
        done = subprocess.run(
            [str(programs / command[0]), *command[1:]],
            capture_output=True,
            text=True,
            check=False,
        )
        plain = re.sub(r"\x1b\[[\d;]*m", "", done.stdout + done.stderr)
        if done.returncode or not re.search(expected, plain):
            return f"{' '.join(command)} says: {plain[-500:]}"
    return _toured(programs / "python")


def _toured(python: Path) -> str:
    (tour, *_) = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [str(python), "-c", tour], cwd=folder, capture_output=True, text=True, check=False
        )
    said = re.findall(r"# prints (.*)", tour)
    if done.returncode or done.stdout.splitlines() != said:
        return f"the README's tour prints {done.stdout[-300:]}{done.stderr[-700:]}"
    return ""


def _environment(python: str, folder: Path, *wanted: str) -> None:
    subprocess.run([python, "-m", "venv", str(folder)], check=True)
    pip = [str(folder / "bin" / "python"), "-m", "pip", "--disable-pip-version-check", "install"]
    subprocess.run([*pip, "--quiet", *wanted], check=True, stdout=sys.stderr)


def _problem(command: list[str]) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return (done.stdout + done.stderr)[-700:] if done.returncode else ""


if __name__ == "__main__":
    main()
