"""Nothing that keju starts contacts anybody, watched from outside in a network namespace.

The whole demo is watched in test_demo.py, whose run is the longest with the OCR engine.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from keju import telemetry
from tests.support import ROOT, module_command
from tests.support.builds import need_ray
from tests.support.needing import needs
from tests.support.watched_network import need_namespaces, watched

TOUR = module_command("offline_tour")
VENDOR = "mobile.events.data.microsoft.com"
LONGER_THAN_VENDOR_WAITS = 20
"""Seconds; onnxruntime 1.31.1 sends its first event 14 s after its import."""


def without_settings() -> dict[str, str]:
    """The environment of somebody who has disabled nothing, on a machine that is not a CI server.

    onnxruntime contacts nobody where CI is set.
    """
    disabling = {*telemetry.DISABLED, "CI"}
    return {key: value for key, value in os.environ.items() if key not in disabling}


def imported_and_held(module: str) -> str:
    return f"import {module}, onnxruntime, time; time.sleep({LONGER_THAN_VENDOR_WAITS})"


@pytest.mark.slow
def test_run_score_report_build_and_serve_contact_nobody(tmp_path):
    need_namespaces()
    seen = watched(*TOUR, tmp_path, env=without_settings(), cwd=ROOT)
    assert seen.status == 0, seen.stderr
    assert {"run", "report.html", "built"} <= set(json.loads(seen.stdout))
    assert (seen.names, seen.addresses) == ([], [])


@pytest.mark.slow
def test_a_build_on_ray_asks_for_the_metadata_of_a_cloud_and_no_more(tmp_path):
    """Ray asks whether it runs in a cloud when it starts; it has no setting against that."""
    need_ray()
    need_namespaces()
    seen = watched(*TOUR, tmp_path, "ray", env=without_settings(), cwd=ROOT)
    assert seen.status == 0, seen.stderr
    assert set(seen.names) <= {"metadata.google.internal"}
    # The second is what the name server of the watch gives for that name.
    assert set(seen.addresses) <= {"169.254.169.254 port 80", "192.0.2.1 port 80"}


@pytest.mark.slow
@needs("onnxruntime", "make install")
def test_onnxruntime_contacts_nobody_once_keju_is_imported():
    need_namespaces()
    command = imported_and_held("keju")
    seen = watched(sys.executable, "-c", command, env=without_settings())
    assert seen == (0, "", "", [], [])


@pytest.mark.slow
@needs("onnxruntime", "make install")
def test_without_keju_the_watch_sees_onnxruntime_contact_its_vendor():
    need_namespaces()
    command = imported_and_held("sys")
    seen = watched(sys.executable, "-c", command, env=without_settings())
    assert seen.status == 0
    assert (seen.names, seen.addresses) == ([VENDOR], ["192.0.2.1 port 443"])


def test_the_watch_sees_names_and_addresses_of_every_protocol():
    need_namespaces()
    command = (
        "import socket, contextlib\n"
        "s = socket.socket(type=socket.SOCK_DGRAM); s.sendto(b'x', ('192.0.2.7', 99))\n"
        "with contextlib.suppress(OSError): socket.create_connection(('127.0.0.1', 9))\n"
        "with contextlib.suppress(OSError): socket.create_connection(('example.org', 443))\n"
    )
    seen = watched(sys.executable, "-c", command)
    assert seen.names == ["example.org"]
    assert seen.addresses == ["192.0.2.1 port 443", "192.0.2.7 port 99"]


def test_importing_keju_disables_telemetry_whatever_the_environment_holds():
    code = "import keju, os, json; print(json.dumps(dict(os.environ)))"
    env = {**os.environ, "ORT_DISABLE_TELEMETRY": "0", "DAFT_ANALYTICS_ENABLED": "1"}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, env=env)
    found = json.loads(done.stdout)
    assert {name: found[name] for name in telemetry.DISABLED} == telemetry.DISABLED


@needs("onnxruntime", "make install")
def test_onnxruntime_stores_nothing_and_follows_no_link_of_a_shared_folder(tmp_path):
    """Its telemetry overwrote what TMPDIR/.ses linked to, and kept a device identifier."""
    for name in ("temporary", "cache"):
        (tmp_path / name).mkdir()
    victim = tmp_path / "victim"
    victim.write_text("kept")
    (tmp_path / "temporary" / ".ses").symlink_to(victim)
    env = {**without_settings(), "TMPDIR": str(tmp_path / "temporary"), "HOME": str(tmp_path),
           "XDG_CACHE_HOME": str(tmp_path / "cache")}  # fmt: skip
    subprocess.run([sys.executable, "-c", "import keju, onnxruntime"], check=True, env=env)
    assert victim.read_text() == "kept"
    assert not list((tmp_path / "cache").iterdir())
