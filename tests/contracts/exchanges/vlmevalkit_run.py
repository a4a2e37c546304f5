"""Let VLMEvalKit answer tables and write its result files, in the environment of the contract.

python vlmevalkit_run.py CHECKOUT TABLES OUT URL RULES

TABLES are the exported tables, RULES a JSON file with the answer to each item. Its package imports
every model and benchmark that it knows. Only the modules that answer, store and report are
imported here, from the checkout and unchanged; its list of models is empty.
"""

from __future__ import annotations

import importlib
import json
import os
import re
import shutil
import sys
import types
from pathlib import Path

FORMATS = ("xlsx", "tsv", "json")


def prepare(checkout: Path) -> None:
    """Make modules of the checkout importable one by one."""
    sys.path.insert(0, str(checkout))
    for name in ("vlmeval", "vlmeval.dataset", "vlmeval.dataset.utils", "vlmeval.api"):
        module = types.ModuleType(name)
        module.__path__ = [str(checkout.joinpath(*name.split(".")))]
        sys.modules[name] = module
    utils = sys.modules["vlmeval.dataset.utils"]
    utils.DEBUG_MESSAGE, utils.build_judge = "", None
    config = types.ModuleType("vlmeval.config")
    config.supported_VLM = {}
    sys.modules["vlmeval.config"] = config


class Local:
    """A local model: it raises where the rule has a number."""

    is_api = False

    def __init__(self, rules: dict[str, str | int]) -> None:
        self.rules = rules

    def set_dump_image(self, dump: object) -> None:
        """Nothing: the images are not looked at."""

    def generate(self, message: list[dict[str, str]], dataset: str) -> str:
        """The answer of the rule."""
        prompt = "\n".join(part["value"] for part in message if part["type"] == "text")
        said = self.rules[re.search(r"\[item (\w+)\]", prompt)[1]]
        if isinstance(said, int):
            raise RuntimeError("CUDA out of memory. Tried to allocate 2.00 GiB")  # noqa: TRY004
        return said


def main(checkout: str, tables: str, out: str, url: str, rules: str) -> None:
    """Every format with the local model (evaluated in xlsx), thinking apart, the API model."""
    prepare(Path(checkout))
    import torch

    # Without a GPU its way past an error waits for one.
    torch.cuda.synchronize = lambda: None
    inference = importlib.import_module("vlmeval.inference")
    vqa = importlib.import_module("vlmeval.dataset.image_vqa")
    mcq = importlib.import_module("vlmeval.dataset.image_mcq")
    gpt = importlib.import_module("vlmeval.api.gpt")
    status = importlib.import_module("vlmeval.smp")
    os.environ.update(LMUData=tables, SKIP_ERR="1")
    names = sorted(path.stem for path in Path(tables).glob("*.tsv"))
    local = Local(json.loads(Path(rules).read_text("utf-8")))
    for kind in (*FORMATS, "thinking", "api"):
        os.environ["PRED_FORMAT"] = kind if kind in FORMATS else "xlsx"
        os.environ.pop("SPLIT_THINK", None)
        if kind == "thinking":
            os.environ["SPLIT_THINK"] = "1"
        folder = Path(out, kind, "served")
        folder.mkdir(parents=True)
        model = local
        if kind == "api":
            model = gpt.GPT4V("served", api_base=f"{url}/chat/completions", key="none", retry=1,
                              wait=0, img_detail="high", verbose=False)  # fmt: skip
        for name in names:
            heads = Path(tables, f"{name}.tsv").read_text("utf-8").partition("\n")[0].split("\t")
            dataset = mcq.CustomMCQDataset(name) if "A" in heads else vqa.CustomVQADataset(name)
            inference.infer_data_job(model, str(folder), "served", dataset, api_nproc=1)
            if kind == "xlsx" and dataset.TYPE == "MCQ":
                file = str(folder / f"served_{name}.xlsx")
                dataset.evaluate(file, model="exact_matching", nproc=1)
        status.upsert_run_status(folder, model_name="served")
        shutil.rmtree(folder / "images", ignore_errors=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
