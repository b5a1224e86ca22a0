"""``--model dtvqa_ocr``: what it refuses, and how."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("lmms_eval", reason="needs the extra: pip install 'dtvqa-plugin[lmms]'")
pytest.importorskip("rapidocr", reason="needs the extra: pip install 'dtvqa-plugin[ocr]'")

from lmms_eval.models import get_model

from dtvqa_plugin.errors import DTVQAError


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ("mode=dmup", "mode 'dmup' is unknown; choose dump or reader"),
        ("threads=many", "threads=many is no number; give 1 or more, or 0"),
        ("threads=-1", "-1 is not a positive number"),
        ("mod=dump,pretrained=x", "does not know mod, pretrained; its --model_args are mode="),
    ],
)
def test_faulty_model_args_are_one_error(arguments: str, words: str) -> None:
    with pytest.raises(DTVQAError, match=words):
        get_model("dtvqa_ocr").create_from_arg_string(arguments, {"batch_size": 1})


@pytest.mark.parametrize("what", ["loglikelihood", "generate_until_multi_round"])
def test_tasks_that_no_ocr_engine_can_answer_are_refused(what: str) -> None:
    model: Any = get_model("dtvqa_ocr")(mode="dump")
    with pytest.raises(DTVQAError, match="cannot run"):
        getattr(model, what)([])
