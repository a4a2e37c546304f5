"""Annotation app: web pages for the exam, rating, review, authoring and adjudication."""

from keju.annotation.app import AnnotationApp, AppOptions
from keju.annotation.auth import is_loopback
from keju.annotation.startup import LOOPBACK, serve

__all__ = ["LOOPBACK", "AnnotationApp", "AppOptions", "is_loopback", "serve"]
