"""Annotation app: web pages for the exam, rating, review and adjudication.

Raises:
    PrerequisiteError: aiohttp is not installed.
"""

from keju.errors import PrerequisiteError

try:
    from keju.annotation.app import AnnotationApp, AppOptions
    from keju.annotation.auth import is_loopback
    from keju.annotation.startup import LOOPBACK, serve
except ModuleNotFoundError as error:
    if error.name != "aiohttp":
        raise
    raise PrerequisiteError("keju serve", 'pip install "keju[api]"') from None

__all__ = ["LOOPBACK", "AnnotationApp", "AppOptions", "is_loopback", "serve"]
