"""Read or abstain: the value of a response where it commits itself to it plainly."""

from keju.extraction.answer import Reading, body_of
from keju.extraction.reader import read

READER = "reader:1"

__all__ = ["READER", "Reading", "body_of", "read"]
