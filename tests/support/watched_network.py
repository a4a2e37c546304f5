"""Runs a command in a network namespace without an outside, and records what it tries to reach.

As a program, inside the namespace: ``watched_network.py RECORD COMMAND...`` writes to RECORD, as
JSON, the names that DNS was asked for and every address beyond loopback that a packet was sent to.
All addresses are routed to the loopback device, where a packet socket sees each packet, whatever
its protocol, port or family; a name server answers every query, so that connections are tried.
"""

from __future__ import annotations

import json
import os
import shutil
import socket
import struct
import subprocess
import sys
import threading
from functools import cache
from ipaddress import ip_address
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import pytest

_NAMESPACE = ("unshare", "--map-root-user", "--net", "--mount")
_ETC = {"resolv.conf": "nameserver 127.0.0.1\n", "nsswitch.conf": "hosts: files dns\n"}
_ALL_PACKETS, _IPV4, _IPV6, _TCP, _UDP, _ICMPV6, _DNS = 3, 0x0800, 0x86DD, 6, 17, 58, 53
_ICMP, _UNREACHABLE = 1, 3
_SYN, _SYN_ACK = 0x02, 0x12


class Watched(NamedTuple):
    """A finished command, with the DNS names and the addresses beyond loopback that it tried."""

    status: int
    stdout: str
    stderr: str
    names: list[str]
    addresses: list[str]


@cache
def namespaces_missing() -> str:
    """Why no command can be watched here; empty where it can."""
    if not shutil.which("unshare") or not shutil.which("ip"):
        return "unshare (util-linux) and ip (iproute2) are needed"
    tried = subprocess.run([*_NAMESPACE, "true"], capture_output=True, check=False)
    return "network namespaces are not permitted here" if tried.returncode else ""


def need_namespaces() -> None:
    """Skip where network namespaces are not permitted, or fail under CI=true."""
    reason = namespaces_missing()
    if reason and os.environ.get("CI") == "true":
        pytest.fail(reason)
    if reason:
        pytest.skip(reason)


def watched(
    *command: object, env: dict[str, str] | None = None, cwd: Path | None = None
) -> Watched:
    """Run a command in a namespace of its own."""
    with TemporaryDirectory() as folder:
        record = Path(folder, "record.json")
        done = subprocess.run(
            [*_NAMESPACE, sys.executable, __file__, str(record), *map(str, command)],
            capture_output=True,
            text=True,
            check=False,
            env=env,
            cwd=cwd,
        )
        assert record.is_file(), done.stderr
        seen = json.loads(record.read_bytes())
    return Watched(done.returncode, done.stdout, done.stderr, seen["names"], seen["addresses"])


def _main(record: Path, command: list[str]) -> int:
    _route_everything_to_loopback()
    names: set[str] = set()
    addresses: set[str] = set()
    server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    server.bind(("127.0.0.1", _DNS))
    packets = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(_ALL_PACKETS))
    packets.bind(("lo", 0))
    threading.Thread(target=_answer_queries, args=(server, names), daemon=True).start()
    threading.Thread(target=_watch_packets, args=(packets, addresses), daemon=True).start()
    with TemporaryDirectory() as folder:
        for name, text in _ETC.items():
            Path(folder, name).write_text(text, "ascii")
            subprocess.run(["mount", "--bind", f"{folder}/{name}", f"/etc/{name}"], check=True)
        status = subprocess.run(command, check=False).returncode
    record.write_text(
        json.dumps({"names": sorted(names), "addresses": sorted(addresses)}), encoding="utf-8"
    )
    return status


def _route_everything_to_loopback() -> None:
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    subprocess.run(["ip", "route", "add", "local", "default", "dev", "lo"], check=True)
    # Without IPv6 in the kernel nothing can be sent by it.
    subprocess.run(
        ["ip", "-6", "route", "add", "local", "default", "dev", "lo"],
        capture_output=True,
        check=False,
    )


def _answer_queries(server: socket.socket, names: set[str]) -> None:
    """Answer every query of a name with 192.0.2.1, which belongs to nobody."""
    while True:
        query, client = server.recvfrom(4096)
        labels, place = [], 12
        while query[place]:
            labels.append(query[place + 1 : place + 1 + query[place]].decode("ascii", "replace"))
            place += 1 + query[place]
        names.add(".".join(labels))
        question = query[12 : place + 5]
        is_a = question[-4:-2] == b"\0\1"
        head = query[:2] + struct.pack("!5H", 0x8180, 1, int(is_a), 0, 0)
        record = struct.pack("!3HIH4B", 0xC00C, 1, 1, 60, 4, 192, 0, 2, 1) if is_a else b""
        server.sendto(head + question + record, client)


def _watch_packets(packets: socket.socket, addresses: set[str]) -> None:
    while True:
        frame = packets.recv(65536)
        kind, body = struct.unpack("!H", frame[12:14])[0], frame[14:]
        if kind == _IPV4:
            protocol, target, rest = body[9], body[16:20], body[(body[0] & 15) * 4 :]
        elif kind == _IPV6 and body[6] != _ICMPV6:
            protocol, target, rest = body[6], body[24:40], body[40:]
        else:
            continue
        address = ip_address(target)
        if address.is_loopback:
            continue
        # Of TCP only what opens a connection; of ICMP no report of a closed port.
        if protocol == _TCP and rest[13] & _SYN_ACK != _SYN:
            continue
        if protocol == _ICMP and rest[0] == _UNREACHABLE:
            continue
        port = struct.unpack("!H", rest[2:4])[0] if protocol in {_TCP, _UDP} else 0
        addresses.add(f"{address} port {port}")


if __name__ == "__main__":
    sys.exit(_main(Path(sys.argv[1]), sys.argv[2:]))
