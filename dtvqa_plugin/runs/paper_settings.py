"""Where a run of one of the paper's models was not made as the paper's runner made it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from dtvqa_plugin.benchmark.paper_runs import PaperRun, paper_run
from dtvqa_plugin.runs.context import Context, weights_of
from dtvqa_plugin.runs.signature import UNKNOWN

_TOKENS = ("max_new_tokens", "max_tokens", "max_completion_tokens")


def paper_remarks(context: Context) -> list[str]:
    """One sentence that names each setting in which a run differs from the paper's of its model.

    Empty for a model that the paper does not have, and where nothing differs.
    """
    weights = weights_of(context)
    named = paper_run(context.host, context.model, filter(None, [weights]))
    paper = named or paper_run(context.host, context.host_model, filter(None, [weights]))
    if paper is None:
        return []
    differing = list(_differences(context, paper))
    if not differing:
        return []
    return [f"not asked as the paper's {paper.model} was: {'; '.join(differing)}"]


def _differences(context: Context, paper: PaperRun) -> Iterator[str]:
    yield from _prompt(context, paper)
    yield from _length(context.settings, paper)
    yield from _search(context.settings, paper)
    if paper.image:
        yield f"the paper's runner: picture {paper.image}; this run: {context.image}"


def _prompt(context: Context, paper: PaperRun) -> Iterator[str]:
    expected = paper.prompts.get(context.condition or "")
    if expected is None:
        yield f"its condition is {context.condition or UNKNOWN}, not one of the paper's two"
    elif context.prompt != expected:
        yield f"prompt {context.prompt or UNKNOWN}, the paper's is {expected}"


def _length(settings: Mapping[str, str], paper: PaperRun) -> Iterator[str]:
    here = next(((key, settings[key]) for key in _TOKENS if key in settings), None)
    bound = settings.get("max_length")
    if paper.max_length:
        wanted = " or ".join(map(str, paper.max_length))
        if here is not None or bound not in [str(length) for length in paper.max_length]:
            said = f"{here[0]} {here[1]}" if here else f"max_length {bound or UNKNOWN}"
            yield f"{said}, the paper's is max_length {wanted} (the prompt counts)"
    elif paper.new_tokens is not None:
        if here is None:
            yield f"new tokens {UNKNOWN}, the paper's are {paper.new_tokens}"
        elif here[1] != str(paper.new_tokens):
            yield f"{here[0]} {here[1]}, the paper's is {paper.new_tokens}"


def _search(settings: Mapping[str, str], paper: PaperRun) -> Iterator[str]:
    beams = settings.get("num_beams", "1")
    if beams != str(paper.num_beams):
        yield f"num_beams {beams}, the paper's is {paper.num_beams}"
    heat, sampled = settings.get("temperature"), settings.get("do_sample", "").lower()
    if sampled == "false":
        return
    if sampled == "true" or not _is_zero(heat):
        said = "sampled" if heat is None else f"temperature {heat}"
        known = said if settings else f"greedy or sampled is {UNKNOWN}"
        yield f"{known}, the paper's runner does not sample"


def _is_zero(text: str | None) -> bool:
    try:
        return text is not None and float(text) == 0
    except ValueError:
        return False
