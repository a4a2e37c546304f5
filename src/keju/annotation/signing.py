"""`Signer`: signed values in pages and cookies, which a browser cannot change."""

from __future__ import annotations

import hmac
from base64 import urlsafe_b64decode, urlsafe_b64encode
from typing import TypeVar

import msgspec

from keju.files import sha256_bytes

_T = TypeVar("_T")


class Signer:
    """Signs JSON values with HMAC-SHA256.

    Args:
        key: the secret of the run.
    """

    def __init__(self, key: str) -> None:
        self._key = key.encode()

    def sign(self, purpose: str, value: object) -> str:
        """Sign a value for a purpose; return the value and its signature as one ASCII text."""
        body = urlsafe_b64encode(msgspec.json.encode(value)).decode()
        return f"{body}.{self._sign(purpose, body)}"

    def read(self, purpose: str, text: str, kind: type[_T]) -> _T | None:
        """Read the value of a signed text; None if the signature is not valid for the purpose."""
        body, _, signature = text.rpartition(".")
        expected = self._sign(purpose, body)
        if not hmac.compare_digest(signature.encode("utf-8", "replace"), expected.encode()):
            return None
        try:
            return msgspec.json.decode(urlsafe_b64decode(body), type=kind)
        except (ValueError, msgspec.DecodeError):
            return None

    def _sign(self, purpose: str, body: str) -> str:
        signed = f"{purpose}\0{body}".encode("utf-8", "replace")
        return hmac.digest(self._key, signed, "sha256").hex()


def hash_content(content: object) -> str:
    """The hash of what a page shows: 32 hexadecimal digits.

    Args:
        content: records, numbers and texts, as msgspec encodes them.
    """
    return sha256_bytes(msgspec.json.encode(content, order="deterministic"))[:32]
