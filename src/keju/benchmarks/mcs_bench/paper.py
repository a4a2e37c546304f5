"""Functions on the paper's tables for what ``published/`` cannot declare as data."""

from keju.benchmarks.mcs_bench.implied import implied_tables
from keju.benchmarks.mcs_bench.rebuilding import rebuild
from keju.published import PaperFunctions
from keju.texts import _

PAPER = PaperFunctions(
    implied=implied_tables,
    rebuild=rebuild,
    rebuilt_title=_("MCS-Bench's means, from the printed tasks (Illustration as printed)"),
)
