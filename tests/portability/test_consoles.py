"""Output in the code pages of Windows consoles, and in ASCII with LANG=C."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

_COMMANDS = """
import sys
from keju.cli import main
run = ["run", "mini", "--model", "baseline:copy", "--task", "vernacular_translation"]
for line in (
    ["--help"], ["run", "--help"], ["tasks"], ["score", "nothing"], ["no-such-command"],
    [*run, "--limit", "1", "--out", "r"], ["score", "r"], ["run", "mini", "--model", "模型"],
):
    sys.argv = ["keju", *line]
    try:
        main()
    except SystemExit as ended:
        print(ended.code, file=sys.stderr)
"""


def printed(folder: Path, encoding: str, language: str) -> tuple[str, str]:
    """What the commands print, decoded strictly."""
    done = subprocess.run(
        [sys.executable, "-c", _COMMANDS], cwd=folder, capture_output=True, check=True,
        env={**os.environ, "PYTHONIOENCODING": encoding, "LANG": "C", "LC_ALL": "C",
             "KEJU_LANG": language},
    )  # fmt: skip
    return done.stdout.decode(encoding), done.stderr.decode(encoding)


@pytest.mark.parametrize(
    ("encoding", "language", "problem", "wording"),
    [
        ("cp936", "zh", "没有此文件", "文白翻译"),
        ("cp1252", "zh", r"\u6ca1\u6709\u6b64\u6587\u4ef6", r"\u6587\u767d\u7ffb\u8bd1"),
        ("cp437", "en", "no such file", r"\u6587\u767d\u7ffb\u8bd1"),
        ("ascii", "zh", r"\u6ca1\u6709\u6b64\u6587\u4ef6", r"\u6587\u767d\u7ffb\u8bd1"),
    ],
)
def test_each_command_prints_in_every_encoding(
    tmp_path: Path, encoding: str, language: str, problem: str, wording: str
) -> None:
    out, errors = printed(tmp_path, encoding, language)
    assert "Traceback" not in errors
    codes = [line for line in errors.splitlines() if line in {"0", "1", "2"}]
    assert codes == ["0", "0", "0", "2", "2", "0", "0", "2"]
    assert f"keju: nothing: {problem}" in errors
    assert wording in out


@pytest.mark.parametrize(
    ("system", "expected"),
    [("zh_CN", "zh"), ("Chinese (Simplified)_China", "zh"), ("en_US", "en"), (None, "en")],
)
def test_windows_shows_messages_in_the_language_of_the_system(
    system: str | None, expected: str
) -> None:
    code = (
        "import sys, locale\n"
        f"sys.platform, locale.getlocale = 'win32', lambda: ({system!r}, None)\n"
        "from keju.texts import language\n"
        "print(language())"
    )
    environment = {
        name: value
        for name, value in os.environ.items()
        if name != "LANG" and not name.startswith(("LC_", "KEJU_LANG"))
    }
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment
    )
    assert done.stdout.strip() == expected
