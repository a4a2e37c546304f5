"""keju (科舉): build, run, score and audit multimodal benchmarks of Chinese classical studies."""

__version__ = "0.1.0"
