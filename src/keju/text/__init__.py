"""Text as Chinese scholarship sees it: cleaning, layered normalisation, scripts, Han classes."""
