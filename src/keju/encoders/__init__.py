"""Text encoders for the semantic metrics, with a cache so that no text is encoded twice.

Scoring opens one `Encoders` and passes it whole lists of pairs (candidate, reference)::

    encoders = Encoders(parse_semantic(options), default_cache_path())
    if reason := encoders.unavailable_reason("chinese-bert-wwm"):
        ...                                        # the metric is unscored, for this reason
    encoders.first_token_cosine(pairs)                # mean first-token vectors
    encoders.bert_score("bert-base-chinese", pairs)   # P, R, F1 by token matching, not rescaled
    encoders.sentence_cosine(pairs)                   # MiniLM; strict: empty=0.0

`strict` rescales these so that another item's reference of the same task is 0 and identity 1:
`above_floor(f1, encoders.bert_score_floor(name, references))` (keju.metrics.semantic), with
`sentence_floor` for MiniLM. bert-score's own rescaling is `rescale(prf, ENCODERS[name].baseline)`.

Texts are used as given; scoring normalises them. Weights come from the user's directories
(`--semantic NAME=DIR`), are read as safetensors only, and nothing is downloaded. Values vary with
the batching of texts by about 1e-7.

On a CPU the numbers are float32, on CUDA bfloat16; the signature contains it. Measured on a CPU,
bfloat16 changes MiniLM's cosines by 2.8e-3 at most (mean 9e-4, the 60 pairs of English
descriptions), BERTScore on the same weights by 1.4e-3, and the first-token cosine of a random model
of BERT-base's size by 2e-4.
"""

from keju.encoders.cache import default_cache_path
from keju.encoders.encoders import Encoders, Pair
from keju.encoders.weights import ENCODERS, parse_semantic

__all__ = ["ENCODERS", "Encoders", "Pair", "default_cache_path", "parse_semantic"]
