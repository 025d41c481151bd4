"""Classes are decoded by many threads at once, also when none has decoded them before."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import msgspec

import paimonlab
from paimonlab.spec import decoding

_PROGRAM = """
import sys, threading
import msgspec
from typing import Optional
from paimonlab.spec.decoding import ready

data = msgspec.msgpack.encode({f"f{place}": {"x": []} for place in range(12)})
sys.setswitchinterval(1e-6)
for turn in range(4):
    last = int
    for number in range(12):
        fields = [(f"f{place}", Optional[dict[str, list[last]]], None) for place in range(12)]
        last = msgspec.defstruct(f"S{turn}x{number}", fields)
    begin = threading.Barrier(8)

    def decode():
        begin.wait()
        msgspec.msgpack.decode(data, type=ready(last))

    threads = [threading.Thread(target=decode) for _ in range(8)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
"""
_BARE = re.compile(
    r"(?:msgspec\.(?:json|msgpack)\.decode|msgspec\.convert)\([^\n]*\btype="
    r"(?!ready\(|dict\b|list\b|str\b|Raw\b)|\bDecoder\((?!ready\(|Raw\)|float_hook|\))"
)


def test_the_first_decoding_in_many_threads_does_not_end_the_process() -> None:
    done = subprocess.run([sys.executable, "-c", _PROGRAM], capture_output=True, check=False)

    assert done.returncode == 0, done.stderr


def test_a_fork_does_not_wait_for_ever_for_a_thread_that_it_lacks() -> None:
    class Point(msgspec.Struct):
        x: int

    with decoding._lock:  # as another thread holds it when the process is forked
        assert decoding.ready(Point) is Point


def test_no_class_is_decoded_without_being_made_ready() -> None:
    folder = Path(paimonlab.__file__).parent
    found = {
        str(path.relative_to(folder)): _BARE.findall(path.read_text(encoding="utf-8"))
        for path in folder.rglob("*.py")
        if path.name != "decoding.py"
    }

    assert {name: words for name, words in found.items() if words} == {}
