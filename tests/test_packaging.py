"""What the project promises as a package: its imports, its files, its lock files, its notebooks."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from packaging.markers import default_environment
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
THIS_FILE = Path(__file__).relative_to(ROOT).as_posix()
LOCK_FILES = ("requirements.lock", "requirements-java.lock")
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))

FORBIDDEN_TEXT = re.compile(
    rf"""
    https?://[^\s"'<>]*/(?:simple|maven2)/?(?=[\s"'<>]|$)   # a package index
    | --(?:extra-)?index-url\b | --find-links\b
    | \.\./shared | /home/[a-z] | {re.escape(str(Path.home()))}/ | {re.escape(str(ROOT))}\b
    """,
    re.VERBOSE,
)


def tracked_files() -> list[str]:
    listing = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if listing.returncode != 0:
        pytest.skip("not a git checkout: which files belong to the project is not known")
    return [name for name in listing.stdout.split("\0") if name and (ROOT / name).is_file()]


def tracked_texts() -> Iterator[tuple[str, str]]:
    for name in tracked_files():
        try:
            yield name, (ROOT / name).read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue  # pictures and archives


def in_new_process(code: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_files_name_no_machine_and_no_package_registry() -> None:
    found = [
        f"{name}: {match.group(0)}"
        for name, text in tracked_texts()
        if name != THIS_FILE
        for match in FORBIDDEN_TEXT.finditer(text)
    ]

    assert found == []


@pytest.mark.parametrize(
    "line",
    [
        "see ../" + "shared/design",
        f"{ROOT}/paimonlab",
        "--index-url https://example.org/pypi",
        "https://" + "mirror.example/pypi/" + "simple/",
        f"{Path.home()}/.cache",
    ],
)
def test_the_search_for_forbidden_text_finds_it(line: str) -> None:
    assert FORBIDDEN_TEXT.search(line)


@pytest.mark.parametrize("name", LOCK_FILES)
def test_lock_files_hold_only_pinned_and_hashed_requirements(name: str) -> None:
    entries = lock_entries(name)

    assert entries
    for requirement, rest in entries:
        assert [specifier.operator for specifier in requirement.specifier] == ["=="], requirement
        assert re.fullmatch(r"(\s+--hash=sha256:[0-9a-f]{64})+", rest), requirement


def lock_entries(name: str) -> list[tuple[Requirement, str]]:
    text = (ROOT / name).read_text(encoding="utf-8").replace("\\\n   ", "")
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    parts = [line.partition(" --hash") for line in lines]
    return [(Requirement(head), separator + rest) for head, separator, rest in parts]


@pytest.mark.parametrize("version", ["3.11", "3.12", "3.13"])
def test_the_lock_satisfies_every_dependency_on_every_supported_python(version: str) -> None:
    environment: dict[str, str] = dict(default_environment())  # type: ignore[arg-type]
    environment |= {"python_version": version, "python_full_version": f"{version}.7", "extra": ""}
    locked = {
        canonicalize_name(requirement.name): next(iter(requirement.specifier)).version
        for requirement, _ in lock_entries("requirements.lock")
        if requirement.marker is None or requirement.marker.evaluate(environment)
    }

    for requirement in declared_requirements():
        if requirement.marker is None or requirement.marker.evaluate(environment):
            pinned = locked.get(canonicalize_name(requirement.name))
            assert pinned is not None, f"{requirement} is not in the lock file: run `make lock`"
            assert requirement.specifier.contains(pinned), f"{requirement}, locked {pinned}"


def declared_requirements() -> list[Requirement]:
    extras: dict[str, list[str]] = project()["optional-dependencies"]
    texts = [*project()["dependencies"]]
    texts += [text for extra, members in extras.items() if extra != "java" for text in members]
    requirements = [Requirement(text) for text in texts]
    return [requirement for requirement in requirements if requirement.name != "paimonlab"]


def project() -> dict[str, Any]:
    loaded: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    table: dict[str, Any] = loaded["project"]
    return table


def test_conda_and_binder_install_what_the_project_needs() -> None:
    wanted = {canonicalize_name(one.name): one.specifier for one in declared_requirements()}
    listed = re.findall(
        r"^  - ([a-z.]+) >=([\d.]+)", (ROOT / "environment.yml").read_text(), re.MULTILINE
    )
    assert len(listed) > 10
    for name, least in listed:
        assert name == "python" or least in wanted[canonicalize_name(name)], name
    script = ROOT / "binder" / "postBuild"
    (extra,) = re.findall(r"'\.\[(\w+)\]'", script.read_text())
    assert extra in project()["optional-dependencies"]
    assert os.access(script, os.X_OK), "repo2docker runs it"


def test_dependencies_have_lower_bounds_only() -> None:
    for requirement in declared_requirements():
        operators = {specifier.operator for specifier in requirement.specifier}
        assert operators == {">="}, requirement


@pytest.mark.parametrize("package", ["", ".catalog", ".table", ".ingest", ".ingest.changes"])
def test_importing_tables_loads_neither_spark_nor_ipython_nor_pandas(package: str) -> None:
    loaded = in_new_process(
        f"import sys, paimonlab{package}\n"
        "top = {name.partition('.')[0] for name in sys.modules}\n"
        "print(*sorted(top & {'pyspark', 'py4j', 'IPython', 'ipykernel', 'pandas'}))"
    )

    assert loaded == ""


HEAVY = {
    *("IPython", "anywidget", "pandas", "py4j", "pyspark"),
    *("datasketches", "polars", "pyarrow.dataset", "pyroaring", "sqlglot"),
}
ALTERS = {
    *("paimonlab.catalog.altering", "paimonlab.metadata.load_history"),
    *("paimonlab.spec.schema.change_kinds", "paimonlab.spec.schema.schema_changes"),
}
"""What opening a table does not take, though whoever alters or loads one does."""
PLOTS = {
    *(
        "jinja2",
        "plotly",
        "paimonlab.notebook.results.plotting.figure",
        "paimonlab.notebook.results.plotting.plot",
        "paimonlab.notebook.results.profiling",
    ),
    "paimonlab.notebook.cell.templates",
}
PACKAGES = {
    *("paimonlab.notebook.results.profiling", "paimonlab.maintenance"),
    *("paimonlab.table.changing", "paimonlab.table.following"),
    *("paimonlab.maintenance.fsck", "paimonlab.spark", "paimonlab.table.system", "paimonlab.write"),
}
"""These load their modules when they are used; what they are themselves is next to nothing."""
VERBS = {
    *("paimonlab.compact", "paimonlab.datafile", "paimonlab.maintenance", "paimonlab.merge"),
    *("paimonlab.read", "paimonlab.write", "paimonlab.commit.committer", "paimonlab.table.system"),
    *("paimonlab.table.changing", "paimonlab.table.following"),
    *("paimonlab.notebook", "paimonlab.spark"),
}


@pytest.mark.parametrize(
    ("opens", "later"),
    [
        ("import paimonlab", HEAVY | VERBS | ALTERS),
        ("import paimonlab; paimonlab.connect('no/such/folder')", HEAVY | VERBS | ALTERS),
        ("import paimonlab.notebook", (HEAVY - {"pyroaring"}) | PLOTS),
    ],
)
def test_what_is_used_later_loads_later(opens: str, later: set[str]) -> None:
    loaded = in_new_process(f"import sys; {opens}\nprint(*sorted(sys.modules))").split()

    assert [name for name in loaded if is_early(name, later)] == []


def test_upkeep_loads_nothing_that_writes_or_compacts_rows() -> None:
    loaded = in_new_process(
        "import sys; import paimonlab.table.maintenance\nprint(*sorted(sys.modules))"
    ).split()

    later = {"paimonlab.compact", "paimonlab.write"}
    assert [name for name in loaded if is_early(name, later)] == []


def is_early(module: str, later: set[str]) -> bool:
    """Whether a module should load later, or is in a package of ours whose modules should."""
    packages = tuple(f"{name}." for name in later if name.startswith("paimonlab."))
    return module not in PACKAGES and (module in later or module.startswith(packages))


def test_importing_spark_does_not_load_ipython() -> None:
    loaded = in_new_process(
        "import sys, warnings; warnings.simplefilter('ignore'); import paimonlab.spark\n"
        "print('IPython' in sys.modules)"
    )

    assert loaded == "False"


def test_the_version_is_the_one_of_the_project_file() -> None:
    assert in_new_process("import paimonlab; print(paimonlab.__version__)") == project()["version"]


def test_the_wheel_holds_the_package_and_nothing_else(tmp_path: Path) -> None:
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)],
        cwd=ROOT,
        capture_output=True,
        check=True,
    )

    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    tops = {name.partition("/")[0] for name in names}
    version = project()["version"]
    package = f"paimonlab-{version}"
    assert tops == {"paimonlab", f"{package}.data", f"{package}.dist-info"}
    extension = f"{package}.data/data/share/jupyter/labextensions/jupyterlab-paimonlab"
    assert f"{extension}/static/remoteEntry.js" in names
    server = f"{package}.data/data/etc/jupyter/jupyter_server_config.d/paimonlab.json"
    assert server in names
    assert "paimonlab/py.typed" in names
    assert [name for name in names if name.endswith((".ipynb", ".pyc"))] == []


def test_there_is_a_quickstart_notebook() -> None:
    assert "00_quickstart.ipynb" in [path.name for path in NOTEBOOKS]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.name)
def test_a_committed_notebook_was_run_from_top_to_bottom(path: Path) -> None:
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    code = [cell for cell in cells if cell["cell_type"] == "code" and "".join(cell["source"])]

    assert [cell["execution_count"] for cell in code] == list(range(1, len(code) + 1))
    assert any(cell["outputs"] for cell in code)
    assert [o for cell in code for o in cell["outputs"] if o["output_type"] == "error"] == []


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.name)
def test_a_committed_notebook_can_be_read_without_network_and_kernel(path: Path) -> None:
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    bundles = [o["data"] for cell in cells for o in cell.get("outputs", []) if "data" in o]

    for bundle in bundles:
        assert "text/plain" in bundle
        html = "".join(bundle.get("text/html", ""))
        assert not re.search(r"(?:src|href)=[\"']https?://", html)
        assert "<script" not in html
    assert path.stat().st_size < 1_000_000


def test_continuous_integration_runs_what_the_readme_names() -> None:
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    readme = (ROOT / "README.md").read_text(encoding="utf-8")

    assert "make test" in script
    assert "make test" in readme
    assert "make demo" in readme
