"""Build the sdists and wheels of all packages, each twice, and compare the bytes.

python -m tools.build_packages [FOLDER]

Each sdist is built from this checkout and again from its own unpacked files, and each wheel from
the checkout and from the unpacked sdist. The two must be equal: then the sdist contains all that a
build needs, and no file depends on where or when it was built. Times in the archives are
SOURCE_DATE_EPOCH, by default the time of the last commit. FOLDER (default: dist) also gets
SHA256SUMS.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = {
    "keju": ROOT,
    "keju_inspect": ROOT / "packages" / "keju-inspect",
    "keju_synthetic": ROOT / "packages" / "keju-synthetic",
}
"""The folder of each package, by the name that its files begin with."""
BESIDE_THE_SOURCE = frozenset({".gitignore", "LICENSE", "PKG-INFO", "README.md", "pyproject.toml"})
"""The files of an sdist outside ``src``."""


class BuildError(Exception):
    """A package cannot be released as it is; the text gives the file and the reason."""


def build_all(out: Path) -> list[Path]:
    """Build all sdists and wheels into a folder, and check them.

    Args:
        out: created if missing; files of the same names are replaced.

    Returns:
        The two files of each package.

    Raises:
        BuildError: two builds differ, or an archive has a file too many or too few.
    """
    out.mkdir(parents=True, exist_ok=True)
    files = [file for name in PACKAGES for file in _build_twice(name, out)]
    sums = "".join(f"{sha256(file)}  {file.name}\n" for file in sorted(files))
    (out / "SHA256SUMS").write_text(sums, "utf-8")
    return files


def contents(archive: Path) -> dict[str, bytes]:
    """The files of a wheel, or of an sdist without its top folder, by name."""
    if archive.suffix == ".whl":
        with zipfile.ZipFile(archive) as wheel:
            return {name: wheel.read(name) for name in wheel.namelist()}
    with tarfile.open(archive) as sdist:
        return {
            member.name.partition("/")[2]: file.read()
            for member in sdist
            if (file := sdist.extractfile(member)) is not None
        }


def sha256(file: Path) -> str:
    """The SHA-256 of a file, in hexadecimal digits."""
    return hashlib.sha256(file.read_bytes()).hexdigest()


def _build_twice(name: str, out: Path) -> list[Path]:
    folder = PACKAGES[name]
    with tempfile.TemporaryDirectory() as temporary:
        first, second = Path(temporary) / "first", Path(temporary) / "second"
        sdist, wheel = _build(folder, first)
        with tarfile.open(sdist) as archive:
            archive.extractall(second, filter="data")
        (unpacked,) = second.iterdir()
        for one, other in zip((sdist, wheel), _build(unpacked, second / "built"), strict=True):
            if one.read_bytes() != other.read_bytes():
                raise BuildError(f"{one.name}: a build from its own sdist has other bytes")
        for fault in _faults(folder, sdist, wheel):
            raise BuildError(fault)
        return [Path(shutil.copy2(file, out / file.name)) for file in (sdist, wheel)]


def _build(folder: Path, out: Path) -> tuple[Path, Path]:
    command = [sys.executable, "-m", "hatchling", "build", "--directory", str(out)]
    done = subprocess.run(  # noqa: S603 - a fixed command
        command, cwd=folder, check=False, capture_output=True, text=True,
        env={**os.environ, "SOURCE_DATE_EPOCH": _epoch()},
    )  # fmt: skip
    if done.returncode:
        raise BuildError(f"{folder.name}: hatchling failed: {done.stderr.strip()[-500:]}")
    (sdist,), (wheel,) = out.glob("*.tar.gz"), out.glob("*.whl")
    return sdist, wheel


def _faults(folder: Path, sdist: Path, wheel: Path) -> Iterator[str]:
    """The files that an archive lacks or should not have."""
    listed = _git("ls-files", "-z", "-co", "--exclude-standard", "src", cwd=folder).split("\0")
    source = {name for name in listed if name and (folder / name).exists()}
    for name in sorted(source ^ (contents(sdist).keys() - BESIDE_THE_SOURCE)):
        yield f"{sdist.name}: {name} is {'missing' if name in source else 'not part of the source'}"
    here = str(ROOT).encode()
    for archive in (sdist, wheel):
        for name, content in contents(archive).items():
            if here in content:
                yield f"{archive.name}: {name} contains the path of this checkout"


def _epoch() -> str:
    return os.environ.get("SOURCE_DATE_EPOCH") or _git("log", "-1", "--format=%ct", cwd=ROOT)


def _git(*words: str, cwd: Path) -> str:
    done = subprocess.run(  # noqa: S603 - a fixed command
        ["git", *words],  # noqa: S607 - the user's git
        cwd=cwd, check=True, capture_output=True, text=True, encoding="utf-8",
    )  # fmt: skip
    return done.stdout.strip()


def main() -> None:
    """Build into the folder of the command line, and print the files with their hashes."""
    out = Path(sys.argv[1] if len(sys.argv) > 1 else "dist")
    if changed := _git("status", "--porcelain", cwd=ROOT):
        sys.exit(f"error: there are changes that are not committed:\n{changed}")
    try:
        files = build_all(out)
    except BuildError as error:
        sys.exit(f"error: {error}")
    for file in files:
        sys.stdout.write(f"{sha256(file)}  {file} ({file.stat().st_size / 1e6:.1f} MB)\n")


if __name__ == "__main__":
    main()
