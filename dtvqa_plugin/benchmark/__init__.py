"""What DT-VQA is: subsets, prompts, released files and the form of their records."""

from __future__ import annotations

from dtvqa_plugin.benchmark.annotations import parse_file, parse_list, parse_test, parse_train
from dtvqa_plugin.benchmark.image_paths import (
    EscapingPathError,
    UnsafePathError,
    image_key,
    safe_components,
)
from dtvqa_plugin.benchmark.inputs import INPUTS, ModelInput, condition_in_name, input_of
from dtvqa_plugin.benchmark.prompts import (
    CONDITIONS,
    PROMPTS,
    TEXT_PROMPTS,
    Prompt,
    get_prompt,
    identify_prompt,
    models_with_own_prompt,
    prompt_for,
)
from dtvqa_plugin.benchmark.records import Problem, Reading, Record, TrainRecord, raise_problems
from dtvqa_plugin.benchmark.release import (
    BY_NAME,
    FILES,
    RELEASED_SPLITS,
    REPO_ID,
    AnnotationFile,
)
from dtvqa_plugin.benchmark.subsets import SAMPLE_SUBSETS, SUBSETS, Subset

__all__ = [
    "BY_NAME",
    "CONDITIONS",
    "FILES",
    "INPUTS",
    "PROMPTS",
    "RELEASED_SPLITS",
    "REPO_ID",
    "SAMPLE_SUBSETS",
    "SUBSETS",
    "TEXT_PROMPTS",
    "AnnotationFile",
    "EscapingPathError",
    "ModelInput",
    "Problem",
    "Prompt",
    "Reading",
    "Record",
    "Subset",
    "TrainRecord",
    "UnsafePathError",
    "condition_in_name",
    "get_prompt",
    "identify_prompt",
    "image_key",
    "input_of",
    "models_with_own_prompt",
    "parse_file",
    "parse_list",
    "parse_test",
    "parse_train",
    "prompt_for",
    "raise_problems",
    "safe_components",
]
