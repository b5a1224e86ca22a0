"""Values that the task YAMLs name with ``!function`` and that exist only when a task is loaded.

lmms-eval resolves ``!function module.NAME`` with ``getattr``, at the moment a task is loaded (not
when tasks are indexed). Every name is a row of one of the tables below: folders of tables, what a
result says of its data, prompts by model. Seen working on lmms-eval 0.6.0 to 0.7.3.
"""

from __future__ import annotations

import logging
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from dtvqa_plugin._version import __version__
from dtvqa_plugin.benchmark.inputs import (
    BLIND,
    GIVEN_TEXT,
    INPUTS,
    RESOLUTIONS,
    ModelInput,
    input_of,
)
from dtvqa_plugin.benchmark.prompts import get_prompt, models_with_own_prompt, prompt_for
from dtvqa_plugin.benchmark.subsets import SUBSETS
from dtvqa_plugin.errors import DTVQAError
from dtvqa_plugin.hosts.given_text import given_text
from dtvqa_plugin.hosts.lmms_eval.host_arguments import image_path_to_model
from dtvqa_plugin.hosts.lmms_eval.ranks import report_ranks
from dtvqa_plugin.hosts.lmms_eval.tables import kept_records, table
from dtvqa_plugin.utils.checkout import checkout_commit

logger = logging.getLogger("dtvqa_plugin")

TASK_VERSION = 1.0

TABLES = {
    "table__test__DTScene": ("test", "DTScene"),
    "table__test__DTNutrCap": ("test", "DTNutrCap"),
    "table__test__DTProdCap": ("test", "DTProdCap"),
    "table__test__DTTabShot": ("test", "DTTabShot"),
    "table__val__DTScene": ("val", "DTScene"),
    "table__val__DTTabShot": ("val", "DTTabShot"),
    "table__mini__all": ("mini", "all"),
    "table__custom__all": ("custom", "all"),
}
"""``dataset_path``: split and subset of a folder for ``datasets.load_from_disk``."""

_CONDITION_PARTS = (*(("test", subset) for subset in SUBSETS), ("mini", "all"))

TEXT_TABLES = {
    f"text_table__{split}__{subset}": (split, subset) for split, subset in _CONDITION_PARTS
}
"""``dataset_path`` of tasks that give the recognised text to the model."""

METADATA = {
    "metadata__test__DTScene__none": ("test", "DTScene", "none"),
    "metadata__test__DTScene__paper": ("test", "DTScene", "paper"),
    "metadata__test__DTScene__blind": ("test", "DTScene", "blind"),
    "metadata__test__DTNutrCap__none": ("test", "DTNutrCap", "none"),
    "metadata__test__DTNutrCap__paper": ("test", "DTNutrCap", "paper"),
    "metadata__test__DTNutrCap__blind": ("test", "DTNutrCap", "blind"),
    "metadata__test__DTProdCap__none": ("test", "DTProdCap", "none"),
    "metadata__test__DTProdCap__paper": ("test", "DTProdCap", "paper"),
    "metadata__test__DTProdCap__blind": ("test", "DTProdCap", "blind"),
    "metadata__test__DTTabShot__none": ("test", "DTTabShot", "none"),
    "metadata__test__DTTabShot__paper": ("test", "DTTabShot", "paper"),
    "metadata__test__DTTabShot__blind": ("test", "DTTabShot", "blind"),
    "metadata__val__DTScene__none": ("val", "DTScene", "none"),
    "metadata__val__DTTabShot__none": ("val", "DTTabShot", "none"),
    "metadata__mini__all__none": ("mini", "all", "none"),
    "metadata__mini__all__paper": ("mini", "all", "paper"),
    "metadata__mini__all__blind": ("mini", "all", "blind"),
    "metadata__custom__all__none": ("custom", "all", "none"),
    "metadata__custom__all__paper": ("custom", "all", "paper"),
    **{
        f"metadata__{split}__{subset}__{given.condition}": (split, subset, given.condition)
        for split, subset in _CONDITION_PARTS
        for given in (*RESOLUTIONS, *GIVEN_TEXT)
    },
}
"""``metadata``: split, subset, and the condition (`benchmark.inputs` for those of this plugin)."""

PROMPTS = {
    "prompts__none": ("none", False),
    "prompts__paper": ("paper", False),
    "prompts__given_text": ("none", True),
}
"""``lmms_eval_specific_kwargs``: the paper's condition, and whether recognised text is given."""


def __getattr__(name: str) -> Any:
    try:
        if name in TABLES:
            report_ranks()
            return table(*TABLES[name])
        if name in TEXT_TABLES:
            report_ranks()
            return table(*TEXT_TABLES[name], with_text=True)
        if name in METADATA:
            return metadata(*METADATA[name])
    except DTVQAError as error:
        # lmms-eval hides the cause behind "Failed to import function": log it first.
        logger.error("dtvqa-plugin: %s", error)
        raise
    if name in PROMPTS:
        condition, gives_text = PROMPTS[name]
        return prompts(condition, gives_text=gives_text)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def metadata(split: str, subset: str, condition: str) -> dict[str, Any]:
    """Return what goes into results.json beside the scores.

    Data and their coverage, the condition and its prompts, what is known of the image's way to the
    model (``image_path_to_model``, empty where nothing was set), versions.
    """
    from dtvqa_plugin.data import data_signature
    from dtvqa_plugin.data.splits import benchmark_title
    from dtvqa_plugin.metrics import DEFAULT_TAU

    given = input_of(condition)
    asked = "none" if condition in INPUTS else condition
    return {
        "version": TASK_VERSION,
        "benchmark": benchmark_title(split),
        "condition": asked if condition == BLIND.condition else condition,
        "prompt_text": {
            model: get_prompt(chosen["prompt"]).render(
                "{question}", "{text}" if given.gives_text else None
            )
            for model, chosen in prompts(asked, gives_text=given.gives_text).items()
        },
        "image": "plain grey" if given.picture == "grey" else given.picture_given,
        **_recognised_by(split, subset, given),
        "image_path_to_model": image_path_to_model(),
        "data": data_signature(split, None if subset == "all" else subset),
        "acc": "containment",
        "tau": DEFAULT_TAU,
        "dtvqa_plugin": __version__,
        "host_version": _host_version(),
        "host_commit": checkout_commit("lmms_eval"),
    }


def _recognised_by(split: str, subset: str, given: ModelInput) -> dict[str, str]:
    """The engine of the text that the condition gives, where it gives any."""
    if not given.gives_text:
        return {}
    kept = kept_records(split, None if subset == "all" else subset)
    return {"recognised_by": given_text(split, kept).engine}


def _host_version() -> str:
    """The version of lmms-eval: results.json has a git revision only, and none in an install."""
    try:
        return version("lmms_eval")
    except PackageNotFoundError:
        return "unknown"


def prompts(condition: str, *, gives_text: bool = False) -> dict[str, Any]:
    """Return fresh ``lmms_eval_specific_kwargs``: lmms-eval changes the dict that it gets."""
    named = {
        model: {"prompt": prompt_for(condition, model, gives_text=gives_text).name}
        for model in models_with_own_prompt()
    }
    return {"default": {"prompt": prompt_for(condition, gives_text=gives_text).name}, **named}
