"""File functions: atomic writes, locks, names, hashes, JSON, JSON lines and TOML."""

from keju.files.atomic import locked_file, read_at, replace_file, write_atomic
from keju.files.json_files import (
    bounded_bytes,
    decode_json,
    encode_stored,
    json_problem,
    read_json,
    read_jsonl,
    read_jsonl_lines,
    write_json,
)
from keju.files.names import (
    FORMULA,
    cell_text,
    is_reserved,
    relative_path,
    sha256_bytes,
    sha256_file,
    slug,
)
from keju.files.toml_files import parse_toml, read_toml, shipped_toml, toml_text

__all__ = [
    "FORMULA",
    "bounded_bytes",
    "cell_text",
    "decode_json",
    "encode_stored",
    "is_reserved",
    "json_problem",
    "locked_file",
    "parse_toml",
    "read_at",
    "read_json",
    "read_jsonl",
    "read_jsonl_lines",
    "read_toml",
    "relative_path",
    "replace_file",
    "sha256_bytes",
    "sha256_file",
    "shipped_toml",
    "slug",
    "toml_text",
    "write_atomic",
    "write_json",
]
