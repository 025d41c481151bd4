"""Ports of this machine for servers that tests start."""

from __future__ import annotations

import socket
from contextlib import ExitStack

HOST = "127.0.0.1"
"""Where they listen, so that no other machine reaches them."""


def free_port() -> int:
    """Return a port that nobody listens on."""
    return free_ports(1)[0]


def free_ports(count: int) -> list[int]:
    """Return several such ports, which differ."""
    with ExitStack() as all_open:
        taken = [all_open.enter_context(socket.socket()) for _ in range(count)]
        for one in taken:
            one.bind((HOST, 0))
        return [int(one.getsockname()[1]) for one in taken]
