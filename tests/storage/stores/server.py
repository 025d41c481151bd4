"""An S3 server for tests that we did not write: moto, in an environment of its own.

It listens on 127.0.0.1, on a free port, and keeps all in memory.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
import venv
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.request import Request, urlopen

from tests.interop.java_build import build_once, cache_folder
from tests.ports import free_port

_SERVER = """
import sys, threading
from moto.s3.responses import S3Response
from moto.server import main
one_at_a_time, put = threading.Lock(), S3Response.put_object
def put_object(self):
    with one_at_a_time:
        return put(self)
S3Response.put_object = put_object
main(sys.argv[1:])
"""
"""moto looks whether an object is there, and then writes it: of two at once both may win. When its
threads took turns each 0.1 ms, it answered 200 twice for 3 of 150 keys that 16 threads wrote."""
_MOTO_VERSION = "moto-5.2.5"
_MOTO = ("moto[s3]==5.2.5", "flask==3.1.3", "flask-cors==6.0.5", "setuptools<82")
_SETTINGS = {
    "MOTO_S3_DEFAULT_KEY_BUFFER_SIZE": "67108864",
    "MOTO_S3_DEFAULT_MAX_KEYS": "100",  # on a page that is listed
}
_SCRIPT = """#!/bin/sh
exec "$(dirname "$0")/../venv/bin/python" -m moto.server "$@"
"""
_START_SECONDS = 60


class ServerMissingError(Exception):
    """The server cannot be had; the message says why."""


def environment() -> str:
    """Return the Python of an environment with moto, made at first (110 MB)."""

    def install(folder: Path) -> None:
        venv.create(folder / "venv")
        pip = [sys.executable, "-m", "pip", "--python", str(folder / "venv"), "install"]
        pip += ["--quiet", "--no-compile", *_MOTO]
        run = subprocess.run(pip, capture_output=True, text=True, check=False)
        if run.returncode:
            raise ServerMissingError(f"moto cannot be installed: {run.stderr[-2000:]}")
        # Those of pip name the folder that the environment is made in, which is renamed then.
        script = folder / "scripts/moto_server"
        script.parent.mkdir()
        script.write_text(
            '#!/bin/sh\nexec "$(dirname "$0")/../venv/bin/python" -m moto.server "$@"\n'
        )
        script.chmod(0o755)

    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    name = f"{_MOTO_VERSION}-python{version}"
    made = build_once(cache_folder().with_name("s3-servers") / name, install)
    return str(made / "venv/bin/python")


def scripts() -> Path:
    """Return a folder that has ``moto_server`` and nothing else, for a ``PATH``."""
    return Path(environment()).parents[2] / "scripts"


@contextmanager
def running(log: Path) -> Iterator[str]:
    """Start the server; yield its address."""
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    command = [environment(), "-c", _SERVER, "-H", "127.0.0.1", "-p", str(port)]
    with log.open("w") as output:
        process = subprocess.Popen(
            command,
            stdout=output,
            stderr=output,
            env={"PATH": os.environ["PATH"], **_SETTINGS},
        )
        try:
            _wait(url, process, log)
            yield url
        finally:
            process.terminate()
            process.wait()


def make_bucket(url: str, name: str) -> None:
    """Create a bucket."""
    with urlopen(Request(f"{url}/{name}", method="PUT")) as answer:
        assert answer.status == 200


def _wait(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    end = time.monotonic() + _START_SECONDS
    while time.monotonic() < end and process.poll() is None:
        try:
            with urlopen(f"{url}/moto-api/"):
                return
        except OSError:
            time.sleep(0.1)
    raise ServerMissingError(f"moto did not start: {log.read_text()[-2000:]}")
