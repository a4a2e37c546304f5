"""keju (科舉): build, run, score and audit multimodal benchmarks of Chinese classical studies."""

from keju import telemetry

__version__ = "0.1.0"

# Before any module of keju imports a library that would contact its vendor.
telemetry.disable()
