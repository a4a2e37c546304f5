"""keju (科舉): build, run, score and audit multimodal benchmarks of Chinese classical studies.

The public functions and types are those of `keju.api`. They are attributes of this package too,
imported on first use.
"""

from typing import TYPE_CHECKING

from keju import telemetry

__version__ = "0.2.0"

# Before any module of keju imports a library that would contact its vendor.
telemetry.disable()

if TYPE_CHECKING:
    from keju.api import *  # noqa: F403 - `keju.api` is the only list of the names
else:

    def __getattr__(name: str) -> object:
        if name == "__all__":
            return __dir__()
        if name.startswith("_") or name not in _api().__all__:
            raise AttributeError(f"module 'keju' has no attribute {name!r}")
        value = globals()[name] = getattr(_api(), name)
        return value

    def __dir__() -> list[str]:
        return ["__version__", *_api().__all__]

    def _api() -> object:
        from importlib import import_module  # noqa: PLC0415 - costs as much as `import keju`

        return import_module("keju.api")
