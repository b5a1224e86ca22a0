"""What stands around a prediction file, by its kind; EvalScope's and inspect_ai's own logs."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dtvqa_plugin.predictions.inspect_log import log_header
from dtvqa_plugin.predictions.opening import bare_name
from dtvqa_plugin.predictions.shapes import Kind, mapping
from dtvqa_plugin.runs.context import (
    MAX_METADATA_BYTES,
    Context,
    joined,
    lmms_context,
    plain_values,
    vlmevalkit_context,
)
from dtvqa_plugin.runs.signature import UNKNOWN


def context_of(path: Path, kind: Kind) -> Context:
    """Read the files beside a prediction file of a known kind."""
    if kind is Kind.LMMS_EVAL:
        return lmms_context(path)
    if kind is Kind.VLMEVALKIT:
        return vlmevalkit_context(path)
    if kind is Kind.INSPECT:
        return _inspect_context(path)
    if kind in (Kind.EVALSCOPE, Kind.EVALSCOPE_REVIEW):
        return _evalscope_context(path)
    if kind is Kind.SWIFT and path.parent.name == "infer_result":
        return Context(model=path.parent.parent.name, host=Kind.SWIFT.value)
    named = (Kind.RELEASED, Kind.LLAVA, Kind.SWIFT)
    host = kind.value if kind in named else UNKNOWN
    return Context(model=bare_name(path), host=host, nameless=True)


def _inspect_context(path: Path) -> Context:
    """From the head of a log of inspect_ai (seen on 0.3.285)."""
    head = log_header(path)
    run = mapping(head.get("eval"))
    asked = {
        **mapping(run.get("model_generate_config")),
        **mapping(mapping(head.get("plan")).get("config")),
    }
    settings = plain_values(asked)
    return Context(
        model=str(run.get("model") or bare_name(path)),
        host=Kind.INSPECT.value,
        host_version=str(mapping(run.get("packages")).get("inspect_ai") or UNKNOWN),
        generation=joined(settings),
        task=str(run.get("task") or ""),
        arguments=plain_values(mapping(run.get("model_args"))),
        settings=settings,
    )


def _evalscope_context(path: Path) -> Context:
    """From the configuration beside EvalScope's logs (seen on 1.14.1)."""
    config = _evalscope_config(path)
    settings = plain_values(mapping(config.get("generation_config")))
    repeats = config.get("repeats")
    return Context(
        model=str(config.get("model_id") or path.parent.name or bare_name(path)),
        host="EvalScope",
        host_version=str(config.get("evalscope_version") or UNKNOWN),
        generation=joined(settings),
        settings=settings,
        asked_repeats=repeats if isinstance(repeats, int) and repeats > 0 else 1,
    )


def _evalscope_config(path: Path) -> Mapping[str, Any]:
    """``configs/task_config*.yaml`` of the output folder; empty where there is none to read."""
    import yaml  # heavy; there through huggingface_hub

    for file in sorted(path.parent.parent.parent.glob("configs/task_config*.yaml")):
        try:
            if file.stat().st_size <= MAX_METADATA_BYTES:
                return mapping(yaml.safe_load(file.read_bytes()))
        except (OSError, ValueError, yaml.YAMLError, RecursionError):
            continue
    return {}
