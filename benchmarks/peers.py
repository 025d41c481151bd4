"""The environments of the peers, each its own; they agree on no version of pyarrow."""

from __future__ import annotations

import subprocess
import sys
import venv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.interop.java_build import JavaMissingError, JavaTools, release_jars

HERE = Path(__file__).parent
REQUIREMENTS = {
    "pypaimon": ["pypaimon==2.1.0"],
    "pypaimon native": ["pypaimon==2.1.0", "pypaimon-rust==0.4.0"],
    "deltalake": ["deltalake", "pyarrow"],
    "deltalake zstd": ["deltalake", "pyarrow"],
    "pyiceberg": ["pyiceberg[sql-sqlite,pyarrow]"],
}
_SCRIPTS = {
    "paimonlab": "paimonlab_engine.py",
    "pypaimon": "pypaimon_engine.py",
    "pypaimon native": "pypaimon_engine.py",
    "deltalake": "deltalake_engine.py",
    "deltalake zstd": "deltalake_engine.py",
    "pyiceberg": "pyiceberg_engine.py",
    "pyarrow": "arrow_engine.py",
    "polars": "polars_engine.py",
}


@dataclass(frozen=True)
class Engine:
    """How a work of an engine is started."""

    name: str
    python: str | None
    """None: it is Java."""
    command: tuple[str, ...]

    def start(self, arguments: Sequence[str], rows: int) -> list[str]:
        """Return the command line of one work."""
        if self.python is None:
            return [*self.command, *arguments, str(rows)]
        return [*self.command, *arguments, *self.name.split(" ")[1:]]

    def version(self) -> str:
        """Say which version this is."""
        if self.python is None:
            return self.name.removeprefix("Java ")
        names = [r.split("[")[0].split("==")[0] for r in REQUIREMENTS.get(self.name, [self.name])]
        code = f"import importlib.metadata as m; print(*[m.version(n) for n in {names}])"
        if self.name == "paimonlab":  # perhaps imported from a checkout
            code = "import paimonlab; print(paimonlab.__version__)"
        found = subprocess.run(
            [self.python, "-c", code], capture_output=True, text=True, check=True, cwd=HERE.parent
        )
        return " + ".join(found.stdout.split())


def engine(name: str, folder: Path) -> Engine | None:
    """Install an engine into ``folder`` if it is not there; None: it cannot be had."""
    if name.startswith("Java "):
        return _java(name, folder)
    python = sys.executable
    if name in REQUIREMENTS:
        python = environment(folder / name.replace(" ", "-"), REQUIREMENTS[name])
    return Engine(name, python, (python, str(HERE / "engines" / _SCRIPTS[name])))


def environment(folder: Path, requirements: Sequence[str]) -> str:
    """Install into a folder what is not there; return its Python."""
    python = folder / "bin" / "python"
    stamp = folder / "installed"
    wanted = "\n".join(requirements)
    if not stamp.exists() or stamp.read_text() != wanted:
        print(f"installing {', '.join(requirements)} …", flush=True)
        venv.create(folder, with_pip=True, clear=True)
        subprocess.run([python, "-m", "pip", "install", "-q", *requirements], check=True)
        stamp.write_text(wanted)
    return str(python)


def _java(name: str, folder: Path) -> Engine | None:
    try:
        tools = JavaTools.find()
        jars = release_jars(tools, name.removeprefix("Java "))
    except JavaMissingError as error:
        print(f"{name} is left out: {error}", flush=True)
        return None
    classes = folder / name.replace(" ", "-")
    classes.mkdir(parents=True, exist_ok=True)
    source = HERE / "java" / "PaimonBench.java"
    compile_ = [tools.javac, "-nowarn", "-cp", f"{jars}/*", "-d", str(classes), str(source)]
    subprocess.run(compile_, check=True)
    opens = [f"--add-opens=java.base/java.{name}=ALL-UNNAMED" for name in ("nio", "lang", "util")]
    run = (tools.java, "-Xmx6g", *opens, "-cp", f"{classes}:{jars}/*", "PaimonBench")
    return Engine(name, None, run)
