"""Annotation app: web pages for the exam, rating, review, authoring and adjudication."""

from keju.annotation.app import AnnotationApp, Choice
from keju.annotation.auth import is_loopback
from keju.annotation.startup import LOOPBACK, serve

__all__ = ["LOOPBACK", "AnnotationApp", "Choice", "is_loopback", "serve"]
