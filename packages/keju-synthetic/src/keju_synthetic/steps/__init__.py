"""Build steps that draw: `fragment` and `typeset`; their import declares them."""

from keju_synthetic.steps import set_type, tear

__all__ = ["set_type", "tear"]
