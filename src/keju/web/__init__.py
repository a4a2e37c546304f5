"""Annotation app: web pages for the exam, rating, review, authoring and adjudication."""

from keju.web.gate import is_loopback
from keju.web.hall import Choice, Hall
from keju.web.serving import LOOPBACK, serve

__all__ = ["LOOPBACK", "Choice", "Hall", "is_loopback", "serve"]
