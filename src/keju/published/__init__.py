"""The papers' results as data, and the audit of them."""

from keju.published.models import Kind, PublishedModel, Role, published_model, published_models

__all__ = ["Kind", "PublishedModel", "Role", "published_model", "published_models"]
