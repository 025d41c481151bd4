"""Azurite, Microsoft's own server for tests of Azure's storage, which npm installs once (186 MB).

It listens on 127.0.0.1, on a free port, and keeps all in memory.
"""

from __future__ import annotations

import base64
import hmac
import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import urlencode
from urllib.request import Request, urlopen

from tests.interop.java_build import build_once, cache_folder
from tests.ports import free_port
from tests.storage.stores.server import ServerMissingError

ACCOUNT = "devstoreaccount1"
KEY = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
"""Public: of every Azurite."""
_VERSION = "3.35.0"
_START_SECONDS = 60


@contextmanager
def running(log: Path) -> Iterator[str]:
    """Start the server; yield the address of its account."""
    port = free_port()
    address = f"http://127.0.0.1:{port}"
    script = _installed() / "node_modules/azurite/dist/src/blob/main.js"
    command = ["node", str(script), "--blobHost", "127.0.0.1", "--blobPort", str(port)]
    command += ["--inMemoryPersistence", "--disableTelemetry", "--skipApiVersionCheck", "--silent"]
    with log.open("w") as output:
        process = subprocess.Popen(
            command, stdout=output, stderr=output, cwd=log.parent, env={"PATH": os.environ["PATH"]}
        )
        try:
            _wait(address, process, log)
            yield f"{address}/{ACCOUNT}"
        finally:
            process.terminate()
            process.wait()


def make_container(url: str, name: str) -> None:
    """Create a container, by a request that is signed here."""
    date = datetime.now(UTC).strftime("%a, %d %b %Y %H:%M:%S GMT")
    headers = {"x-ms-date": date, "x-ms-version": "2021-12-02"}
    signed = "PUT" + "\n" * 12 + "".join(f"{key}:{text}\n" for key, text in headers.items())
    signed += f"/{ACCOUNT}/{ACCOUNT}/{name}\nrestype:container"
    digest = hmac.digest(base64.b64decode(KEY), signed.encode(), "sha256")
    headers["Authorization"] = f"SharedKey {ACCOUNT}:{base64.b64encode(digest).decode()}"
    request = Request(f"{url}/{name}?restype=container", method="PUT", headers=headers)
    with urlopen(request) as answer:
        assert answer.status == 201


def signature(expiry: datetime) -> str:
    """Return a shared access signature of the account, for all that there is."""
    end = expiry.strftime("%Y-%m-%dT%H:%M:%SZ")
    told = {"sp": "rwdlac", "ss": "b", "srt": "sco", "st": "", "se": end, "sip": "", "spr": ""}
    told["sv"] = "2020-12-06"
    text = "\n".join((ACCOUNT, *told.values(), "", ""))
    digest = hmac.digest(base64.b64decode(KEY), text.encode(), "sha256")
    told["sig"] = base64.b64encode(digest).decode()
    return urlencode({name: value for name, value in told.items() if value})


def _installed() -> Path:
    if shutil.which("npm") is None:
        raise ServerMissingError("Azurite takes npm, which is not installed")

    def install(folder: Path) -> None:
        (folder / "package.json").write_text('{"private": true}')
        npm = ["npm", "install", "--no-audit", "--no-fund", f"azurite@{_VERSION}"]
        run = subprocess.run(npm, capture_output=True, text=True, check=False, cwd=folder)
        if run.returncode:
            raise ServerMissingError(f"Azurite cannot be installed: {run.stderr[-2000:]}")

    return build_once(cache_folder().with_name("azure-servers") / f"azurite-{_VERSION}", install)


def _wait(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    end = time.monotonic() + _START_SECONDS
    host, port = url.removeprefix("http://").split(":")
    while time.monotonic() < end and process.poll() is None:
        try:
            socket.create_connection((host, int(port)), timeout=1).close()
        except OSError:
            time.sleep(0.1)
        else:
            return
    raise ServerMissingError(f"Azurite did not start: {log.read_text()[-2000:]}")
