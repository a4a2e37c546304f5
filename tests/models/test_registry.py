from __future__ import annotations

import importlib
import itertools
import subprocess
import sys
from typing import get_type_hints

import pytest

from keju.errors import PrerequisiteError, UsageError
from keju.models import Model, ModelOptions, model_kinds, open_model, registry, role_of


def test_an_unknown_model_is_answered_with_those_there_are():
    with pytest.raises(UsageError, match=r"no model 'opnai:x'\. Did you mean 'openai'\?.*ppocr"):
        open_model("opnai:x", ModelOptions())


@pytest.mark.parametrize("spec", ["", ":", "../../etc/passwd", "openai:", "openai: "])
def test_nonsense_is_wrong_use(spec: str):
    with pytest.raises(UsageError):
        open_model(spec, ModelOptions(base_url="http://localhost:1/v1"))


def test_each_kind_says_what_is_missing_here(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(registry, "find_spec", lambda name: None)
    monkeypatch.setattr(registry.shutil, "which", lambda name: None)
    missing = {kind.spelling: kind.missing for kind in model_kinds()}
    assert missing["openai:MODEL"] == 'pip install "keju[api]"'
    assert missing["ppocr"] == 'pip install "keju[ocr]"'
    assert "tesseract-ocr-chi-tra-vert" in missing["tesseract"]
    assert missing["baseline:copy"] == missing["replay:FILE"] == ""
    for spec in ("openai:m", "ppocr", "tesseract"):
        with pytest.raises(PrerequisiteError, match="not available here"):
            open_model(spec, ModelOptions(base_url="http://localhost:1/v1"))


def test_an_endpoint_without_a_key_is_not_said_to_be_ready(monkeypatch: pytest.MonkeyPatch):
    def unset() -> str:
        return next(kind.unset for kind in model_kinds() if kind.spelling == "openai:MODEL")

    monkeypatch.setenv("OPENAI_API_KEY", "sk-1")
    assert unset() == ""
    monkeypatch.delenv("OPENAI_API_KEY")
    assert unset().startswith("a key in OPENAI_API_KEY, or --base-url")


def test_listing_the_kinds_imports_no_engine_and_no_sdk():
    code = (
        "import sys; from keju.models import model_kinds; model_kinds(); "
        "print([m for m in ('openai', 'aiohttp', 'rapidocr', 'onnxruntime') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_every_kind_is_a_model_that_says_what_it_is():
    for declared in itertools.chain.from_iterable(registry.MODELS.list_usable()):
        if not declared.missing and isinstance(declared.opens, str):
            module, __, name = declared.opens.partition(":")
            model = getattr(importlib.import_module(f"keju.models.{module}"), name)
            kind = model if isinstance(model, type) else get_type_hints(model)["return"]
            assert issubclass(kind, Model), declared.spelling


def test_every_spelling_has_its_role():
    for kind in model_kinds():
        assert role_of(kind.spelling) == kind.role
        assert kind.role in {"model", "engine", "answers", "baseline", "person"}


def test_a_kind_of_which_only_some_are_spelled_names_them_all():
    for spec in ("baseline", "baseline:", "baseline:CHANCE"):
        with pytest.raises(
            UsageError, match=r"of this kind: baseline:copy, baseline:chance, .*components"
        ):
            open_model(spec, ModelOptions())


def test_an_engine_of_several_runtimes_names_their_spellings():
    with pytest.raises(UsageError, match=r"no model 'ppocr:small'.*: ppocr$"):
        open_model("ppocr:small", ModelOptions())
