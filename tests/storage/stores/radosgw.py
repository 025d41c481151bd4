"""Ceph's gateway of S3 (radosgw), with a monitor and an OSD of its own, on 127.0.0.1.

Three programs of Debian, each a child of this process. All is in memory, and is gone with them.
"""

from __future__ import annotations

import base64
import json
import os
import shutil
import struct
import subprocess
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import urlopen

import pyarrow.fs

from tests.debian import is_installed
from tests.ports import HOST, free_ports
from tests.storage.stores.server import ServerMissingError

KEY, SECRET = "AKzqhush", "SKzqhush"
_USERS = {
    "mon.": ("mon",),
    "client.admin": ("mon", "osd", "mgr"),
    "client.rgw": ("mon", "osd"),
    "osd.0": ("mon", "osd"),
}
"""And on what they may do all."""
_PROGRAMS = {
    "ceph-mon": "ceph-mon",
    "ceph-osd": "ceph-osd",
    "ceph": "ceph-common",
    "radosgw": "radosgw",
}
"""And the package that has each."""
_CONFIGS: dict[str, Path] = {}
"""Of running gateways, by address."""
_GATEWAYS: dict[str, Gateway] = {}
_START_SECONDS = 90
_END_SECONDS = 20
_CONFIG = """
[global]
fsid = {fsid}
mon host = [v2:{host}:{first},v1:{host}:{second}]
public addr = {host}
cluster addr = {host}
auth cluster required = cephx
auth service required = cephx
auth client required = cephx
keyring = {folder}/keyring
osd pool default size = 1
osd pool default min size = 1
osd pool default pg num = 1
osd pool default pgp num = 1
osd pool default pg autoscale mode = off
osd crush chooseleaf type = 0
mon allow pool size one = true
mon warn on pool no redundancy = false
mon max pg per osd = 1000
osd objectstore = memstore
memstore device bytes = {bytes}
run dir = {folder}
admin socket = {folder}/$name.asok
log file = {folder}/$name.log
rgw bucket quota ttl = 0
mon data = {folder}/mon
osd data = {folder}/osd
mgr data = {folder}/mgr
rgw data = {folder}/rgw
setuser match path =
"""


class Gateway:
    """The process that clients ask; monitor and OSD go on without it."""

    def __init__(self, url: str, folder: Path, config: Path) -> None:
        self._url, self._folder = url, folder
        self._command = (
            *("radosgw", "-c", str(config), "-n", "client.rgw", "-f"),
            f"--rgw_frontends=beast endpoint={url.removeprefix('http://')}",
        )
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it, and wait until it answers."""
        with (self._folder / "radosgw.out").open("ab") as output:
            self._process = process = subprocess.Popen(
                self._command,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                env={"PATH": os.environ["PATH"]},
            )
        _wait(self._url, lambda: process.poll() is not None, self._folder)

    def kill(self) -> None:
        """End it at once."""
        assert self._process is not None
        self._process.kill()
        self._process.wait()


def gateway_of(url: str) -> Gateway:
    """Return the gateway that runs at an address."""
    return _GATEWAYS[url]


@contextmanager
def running(folder: Path, *, gibibytes: int = 1) -> Iterator[str]:
    """Start it; yield its address. Its files are in the folder, its objects in memory."""
    _require_programs()
    monitor, other, port = free_ports(3)
    for name in ("mon", "osd", "mgr", "rgw"):
        (folder / name).mkdir(parents=True)
    config, keys = folder / "ceph.conf", folder / "keyring"
    keys.write_text("".join(map(_key_of, _USERS)))
    fsid = str(uuid.uuid4())
    config.write_text(
        _CONFIG.format(
            fsid=fsid,
            host=HOST,
            first=monitor,
            second=other,
            folder=folder,
            bytes=gibibytes << 30,
        )
    )
    addresses = f"[v2:{HOST}:{monitor},v1:{HOST}:{other}]"
    monitors, osd = str(folder / "monitors"), str(uuid.uuid4())
    with ExitStack() as stack:
        _run("monmaptool", "--create", "--addv", "a", addresses, "--fsid", fsid, monitors)
        _run(
            "ceph-mon",
            "-c",
            str(config),
            "--mkfs",
            "-i",
            "a",
            "--monmap",
            monitors,
            "--keyring",
            str(keys),
        )
        stack.enter_context(_child(folder, "ceph-mon", "-c", str(config), "-i", "a"))
        _run("ceph", "-c", str(config), "osd", "new", osd, "0")
        _run("ceph-osd", "-c", str(config), "-i", "0", "--mkfs", "--osd-uuid", osd)
        stack.enter_context(_child(folder, "ceph-osd", "-c", str(config), "-i", "0"))
        _run(
            *("radosgw-admin", "-c", str(config), "user", "create", "--uid=t"),
            *("--display-name=t", f"--access-key={KEY}", f"--secret-key={SECRET}"),
        )
        url = f"http://{HOST}:{port}"
        gateway = Gateway(url, folder, config)
        stack.callback(gateway.kill)
        gateway.start()
        _CONFIGS[url], _GATEWAYS[url] = config, gateway
        yield url


def _key_of(user: str) -> str:
    """Make a key, as ``ceph-authtool --gen-key`` does: kind, time, length, random bytes."""
    key = struct.pack("<HIIH", 1, int(time.time()), 0, 16) + os.urandom(16)
    rights = "".join(f'\tcaps {of} = "allow *"\n' for of in _USERS[user])
    return f"[{user}]\n\tkey = {base64.b64encode(key).decode()}\n{rights}"


def _require_programs() -> None:
    for program, package in _PROGRAMS.items():
        if shutil.which(program) is None and not is_installed(package):
            raise ServerMissingError(f"{package} is not installed, and apt-get cannot")


def _run(*command: str) -> None:
    try:
        run = subprocess.run(
            command, capture_output=True, text=True, check=False, timeout=_START_SECONDS
        )
    except subprocess.TimeoutExpired:
        raise ServerMissingError(f"{command[0]} was not done in {_START_SECONDS} s") from None
    if run.returncode:
        raise ServerMissingError(f"{' '.join(command)}: {run.stderr[-2000:]}")


@contextmanager
def _child(folder: Path, *command: str) -> Iterator[Callable[[], bool]]:
    """Run a program in the foreground; yield whether it has ended."""
    with (folder / f"{command[0]}.out").open("w") as output:
        process = subprocess.Popen(
            [*command, "-f"],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            env={"PATH": os.environ["PATH"]},
        )
        try:
            yield lambda: process.poll() is not None
        finally:
            process.terminate()
            try:
                process.wait(_END_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _wait(url: str, has_ended: Callable[[], bool], folder: Path) -> None:
    end = time.monotonic() + _START_SECONDS
    while time.monotonic() < end and not has_ended():
        try:
            with urlopen(url):
                return
        except HTTPError:
            return
        except OSError:
            time.sleep(0.1)
    raise ServerMissingError(f"radosgw did not start: see {folder}")


def make_bucket(url: str, name: str) -> None:
    """Create a bucket."""
    pyarrow.fs.S3FileSystem(
        access_key=KEY,
        secret_key=SECRET,
        endpoint_override=url,
        region="us-east-1",
        allow_bucket_creation=True,
    ).create_dir(name)


def wait_for_buckets(url: str) -> None:
    """Wait until buckets can be created, after a gateway was killed."""
    end = time.monotonic() + _START_SECONDS
    while True:
        try:
            make_bucket(url, f"bucket-{uuid.uuid4()}")
        except OSError:
            if time.monotonic() > end:
                raise
        else:
            return


def limit(url: str, bucket: str, objects: int) -> None:
    """Let a bucket have so many objects at most; -1: as many as there is room for."""
    quota = ("radosgw-admin", "-c", str(_CONFIGS[url]), "quota")
    of = ("--quota-scope=bucket", f"--bucket={bucket}")
    _run(*quota, "set", *of, f"--max-objects={objects}")
    _run(*quota, "disable" if objects < 0 else "enable", *of)


def count_objects(url: str, bucket: str) -> int:
    """Return how many objects the gateway counts in a bucket."""
    command = ["radosgw-admin", "-c", str(_CONFIGS[url]), "bucket", "stats", f"--bucket={bucket}"]
    done = subprocess.run(command, capture_output=True, check=True, timeout=_START_SECONDS)
    usage = json.loads(done.stdout)["usage"]
    return int(usage.get("rgw.main", {}).get("num_objects", 0))
