"""The oracle's class path: jars by Maven, classes by javac, built once into a cache folder.

The folder is ``$PAIMONLAB_CACHE/interop``, else ``interop`` in paimonlab's folder of the user's
cache. What was built is used again until the sources here change.

The classes are compiled with the release of ``pom.xml``, and run with any: what another release
does not have fails when called. ``$PAIMONLAB_INTEROP_VERSION`` names the releases of Java Paimon to
run, say ``1.1.1`` or ``1.3.1,1.4.2``.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tools import short_java

_HERE = Path(__file__).parent
_RELEASE = 17
COMPILED_WITH = "1.3.1"
"""The release in ``pom.xml``."""
NEWEST = "1.4.2"
RELEASES = (COMPILED_WITH, NEWEST)
"""Releases of Java Paimon that judge."""


def is_since_1_4(release: str) -> bool:
    """Whether a release leaves empty texts out of ``listagg``, and keeps values of removed rows."""
    return tuple(map(int, release.split(".")))[:2] >= (1, 4)


class JavaMissingError(Exception):
    """A tool or a jar cannot be had; the message says which."""


@dataclass(frozen=True, slots=True)
class JavaTools:
    """Programs of one JDK, and Maven."""

    java: str
    javac: str
    maven: str

    @classmethod
    def find(cls) -> JavaTools:
        """Look in JAVA_HOME, then on PATH.

        Raises
        ------
        JavaMissingError
            If the JDK or Maven is not there.
        """
        home = os.environ.get("JAVA_HOME")
        folder = os.fspath(Path(home, "bin")) if home else None
        if not (folder and shutil.which("javac", path=folder)):
            folder = None
        javac = shutil.which("javac", path=folder)
        if javac is None:
            raise JavaMissingError(f"no JDK {_RELEASE}+ (javac) in JAVA_HOME or on PATH")
        java = Path(javac).resolve().with_name("java")
        maven = shutil.which("mvn")
        if maven is None:
            raise JavaMissingError("no Maven (mvn) on PATH")
        return cls(os.fspath(java), javac, maven)


def cache_folder() -> Path:
    """Return the folder that builds are kept in."""
    if chosen := os.environ.get("PAIMONLAB_CACHE"):
        return Path(chosen, "interop")
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base, "paimonlab", "interop")


def class_path(tools: JavaTools, release: str = COMPILED_WITH) -> str:
    """Build what is not built yet.

    Parameters
    ----------
    tools
        To build with.
    release
        Of Java Paimon, to run.

    Returns
    -------
    str
        For ``java -cp``.

    Raises
    ------
    JavaMissingError
        If Maven or javac fails; the message ends with what they said last.
    """
    pom, sources = _HERE / "pom.xml", sorted((_HERE / "java").glob("*.java"))
    resources = sorted((_HERE / "java").glob("*.xml"))
    jars = fetch_jars(tools, pom)
    running = release_jars(tools, release)

    def compile_sources(folder: Path) -> None:
        release = [*short_java.OF_A_TOOL, "--release", str(_RELEASE), "-encoding", "UTF-8"]
        _run([tools.javac, *release, "-cp", f"{jars}/*", "-d", str(folder), *map(str, sources)])
        for resource in resources:
            shutil.copy(resource, folder)

    classes = _built("classes", [pom, *sources, *resources], compile_sources)
    return os.pathsep.join([str(classes), f"{running}/*"])


def chosen_releases() -> tuple[str, ...]:
    """Return the releases that ``$PAIMONLAB_INTEROP_VERSION`` names; none: the tests choose."""
    return tuple(filter(None, os.environ.get("PAIMONLAB_INTEROP_VERSION", "").split(",")))


def release_jars(tools: JavaTools, release: str) -> Path:
    """Return the folder of the jars of a release of Java Paimon, and of what it needs."""
    settings = () if release == COMPILED_WITH else (f"-Dpaimon.version={release}",)
    return fetch_jars(tools, _HERE / "pom.xml", *settings)


def program_class_path(tools: JavaTools, source: Path, *more: Path) -> str:
    """Fetch the jars that the ``pom.xml`` beside a program names, and compile it, with ``more``.

    Raises
    ------
    JavaMissingError
        If Maven or javac fails.
    """
    jars = fetch_jars(tools, source.with_name("pom.xml"))

    def build(folder: Path) -> None:
        sources = [*map(str, (source, *more))]
        _run([tools.javac, "-nowarn", "-cp", f"{jars}/*", "-d", str(folder), *sources])

    classes = _built(f"{source.stem}-{jars.name}", [source, *more], build)
    return os.pathsep.join([str(classes), f"{jars}/*"])


def fetch_jars(tools: JavaTools, pom: Path, *settings: str) -> Path:
    """Copy the jars that ``pom`` names into a folder of their own and return it."""

    def copy(folder: Path) -> None:
        target = f"-DoutputDirectory={folder}"
        goal = ["dependency:copy-dependencies", target, *settings]
        _run([tools.maven, "-q", "-B", "-f", str(pom), *goal])

    return _built("jars", [pom], copy, *settings)


def _built(
    kind: str, inputs: Sequence[Path], build: Callable[[Path], None], *settings: str
) -> Path:
    """Return the folder built from ``inputs`` and ``settings``."""
    contents = [*(path.read_bytes() for path in inputs), *(text.encode() for text in settings)]
    digest = hashlib.sha256(b"".join(contents)).hexdigest()[:16]
    return build_once(cache_folder() / f"{kind}-{digest}", build)


def build_once(target: Path, build: Callable[[Path], None]) -> Path:
    """Fill a new folder unless it is there; a half-built one is never seen."""
    with _locked(target.parent):
        if not target.exists():
            unfinished = target.with_name(f"{target.name}.unfinished")
            shutil.rmtree(unfinished, ignore_errors=True)
            unfinished.mkdir()
            build(unfinished)
            unfinished.rename(target)
    return target


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _run(command: Sequence[str]) -> None:
    options = " ".join((os.environ.get("MAVEN_OPTS", ""), *short_java.OPTIONS))
    run = subprocess.run(
        command,
        env=os.environ | {"MAVEN_OPTS": options},
        capture_output=True,
        text=True,
        check=False,
    )
    if run.returncode:
        said = (run.stdout + run.stderr).strip()[-2000:]
        raise JavaMissingError(f"{Path(command[0]).name} failed: {said}")
