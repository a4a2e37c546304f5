"""`policy_of`: a policy from settings that name the fields of its parts directly."""

from __future__ import annotations

from keju.running import Policy, RetryPolicy


def policy_of(**settings: object) -> Policy:
    """A policy; settings of `RetryPolicy` are put into that part."""
    names = set(RetryPolicy.__struct_fields__).intersection(settings)
    retry = RetryPolicy(**{name: settings.pop(name) for name in names})
    return Policy(retry=retry, **settings)
