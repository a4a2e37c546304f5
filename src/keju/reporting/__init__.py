"""Reports of scored runs: HTML pages, CSV and LaTeX files."""
