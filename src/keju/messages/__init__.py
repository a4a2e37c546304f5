"""Messages of pages with a stable id, whose English and Chinese texts are in catalogues.

The texts of ``reporting.x`` are in ``en/reporting.toml`` and ``zh/reporting.toml`` of this package,
one table for each id::

    message("reporting.time-not-known", why=reason)

    [time-not-known]
    text = "time not known: {why}"

In a template ``{name}`` is a field, ``{name!r}`` is quoted, ``{count:,}`` has a number format, and
``{count:image is|images are}`` is a number with its noun in the singular and the plural. A field
may be a message itself. All other texts are those of `keju.texts`.
"""

from keju.messages._catalogues import templates
from keju.messages._message import Message, has_stored_text, message

__all__ = ["Message", "has_stored_text", "message", "templates"]
