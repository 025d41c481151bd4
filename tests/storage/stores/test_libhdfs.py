"""A table of HDFS that libhdfs reads, built from its sources: it is in no registry of packages.

``make interop`` alone: it takes Rust's cargo, which has the sources in a crate, and a compiler.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pyarrow as pa
import pytest

import paimonlab as pl
from paimonlab.table.table import Table
from tests.interop.java_build import JavaTools, build_once, cache_folder, fetch_jars
from tests.storage.stores import hdfs

pytestmark = pytest.mark.interop

_CRATE = "hdfs-sys"
_VERSION = "0.3.1"
_READER = """
import sys
import paimonlab as pl
from paimonlab.errors import UnsupportedError

catalog = pl.connect({"warehouse": sys.argv[1], "hdfs.client": "libhdfs"})
print(catalog.table("db.t").scan().to_arrow().to_pydict())
for write in (
    lambda: catalog.table("db.t").write([{"id": 3}]),
    lambda: catalog.file_io.publish(catalog.path + "/x", b"1"),
):
    try:
        write()
    except UnsupportedError as error:
        print(error)
"""


def java_home(tools: JavaTools) -> Path:
    """Return the folder of the Java that has JNI's headers."""
    return Path(shutil.which(tools.java) or tools.java).resolve().parents[1]


def built(home: Path) -> Path:
    """Return a folder with ``libhdfs.so``; skips the test where it cannot be built."""
    compiler, cargo = shutil.which("cc"), shutil.which("cargo")
    if not compiler or not cargo or not (home / "include/jni.h").is_file():
        pytest.skip("libhdfs is not here: no compiler, no cargo or no headers of JNI")

    def build(folder: Path) -> None:
        (folder / "src").mkdir()
        (folder / "src/lib.rs").touch()
        (folder / "Cargo.toml").write_text(
            '[package]\nname = "c"\nversion = "0.1.0"\n'
            f'[dependencies]\n{_CRATE} = {{ version = "={_VERSION}", features = ["hdfs_3_3"] }}\n'
        )
        command = [cargo, "vendor", "--quiet", "vendored"]
        subprocess.run(command, cwd=folder, check=True, capture_output=True)
        all_sources = folder / f"vendored/{_CRATE}/libhdfs"
        sources = all_sources / "hdfs_3_3"
        includes = (all_sources, sources, sources / "include", sources / "os/posix")
        headers = [home / "include", home / "include/linux"]
        jvm = home / "lib/server"
        subprocess.run(
            [
                *(compiler, "-shared", "-fPIC", "-O2", "-w", "-o", "libhdfs.so"),
                *(f"-I{path}" for path in (*includes, *headers)),
                *map(str, (*sources.glob("*.c"), *sources.glob("os/posix/*.c"))),
                *(f"-L{jvm}", "-ljvm", "-lpthread", "-ldl", f"-Wl,-rpath,{jvm}"),
            ],
            cwd=folder,
            check=True,
            capture_output=True,
        )

    return build_once(cache_folder() / f"libhdfs-{_VERSION}-{home.name}", build)


def test_a_table_is_read_and_not_written(hdfs_warehouse: Mapping[str, str]) -> None:
    if os.environ.get("PAIMONLAB_INTEROP") != "require":
        pytest.skip("libhdfs is part of make interop")
    tools = JavaTools.find()
    home = java_home(tools)
    jars = fetch_jars(tools, Path(hdfs.__file__).with_name("hdfs.pom.xml"))
    folder = built(home)
    catalog = pl.connect(hdfs_warehouse)
    catalog.create_database("db")
    table = catalog.create_table("db.t", {"id": "INT"})
    assert isinstance(table, Table)
    table.write(pa.table({"id": [1, 2]}))

    run = subprocess.run(
        [sys.executable, "-c", _READER, hdfs_warehouse["warehouse"]],
        env={
            **os.environ,
            "JAVA_HOME": str(home),
            "ARROW_LIBHDFS_DIR": str(folder),
            "CLASSPATH": ":".join(map(str, jars.glob("*.jar"))),
        },
        capture_output=True,
        text=True,
        check=False,
    )

    assert run.returncode == 0, run.stderr
    said = run.stdout.splitlines()
    assert said[-3] == "{'id': [1, 2]}"
    assert all("through libhdfs is not supported" in line for line in said[-2:])
