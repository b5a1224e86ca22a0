"""Names for runs of one model and condition: by what differs between them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from dtvqa_plugin.predictions.opening import bare_name
from dtvqa_plugin.runs.context import weights_of
from dtvqa_plugin.runs.image_path import HOST_DEFAULT
from dtvqa_plugin.runs.run import Run

INCIDENTAL = ("base_url", "api_base", "device", "device_map", "port", "num_processes", "retry")
"""Arguments that say where a model ran, not what it is: used only if all others are equal."""


def distinct_names(runs: Sequence[Run]) -> list[Run]:
    """Give runs of one title, condition and split names that tell them apart.

    The name states the settings that differ: model revision, pixel bounds, generation settings,
    kind of runner, host. Runs whose settings are all equal are told apart by their files, and
    each gets a remark if its signature is another's as well.
    """
    alike: dict[tuple[str, str, str], list[Run]] = {}
    for run in runs:
        alike.setdefault((run.title or run.name, run.condition, run.split), []).append(run)
    named: dict[int, Run] = {}
    for (title, _, _), group in alike.items():
        for run, label in zip(group, _labels(group), strict=True):
            named[id(run)] = replace(
                run, title=title, name=f"{title} ({label})" if label else title
            )
    return _with_doubles([named[id(run)] for run in runs])


def _labels(group: Sequence[Run]) -> list[str]:
    if len(group) == 1:
        return [""]
    facts = [_facts(run) for run in group]
    _shorten([found for found in facts if found["weights"]])
    keys = list(dict.fromkeys(key for found in facts for key in found))
    differing = [key for key in keys if len({found.get(key) for found in facts}) > 1]
    telling = [key for key in differing if key not in INCIDENTAL] or differing
    labels = [", ".join(_stated(key, found.get(key)) for key in telling) for found in facts]
    paths = _path_labels(group)
    return [
        label if label and labels.count(label) == 1 else ", ".join(filter(None, (label, path)))
        for label, path in zip(labels, paths, strict=True)
    ]


def _facts(run: Run) -> dict[str, str]:
    context = run.context
    said = {HOST_DEFAULT, *(f"{key}={value}" for key, value in context.arguments.items())}
    facts = {key: value for key, value in context.arguments.items() if value != weights_of(context)}
    facts |= {key: value for key, value in context.settings.items() if key not in facts}
    if not context.settings:
        facts["gen"] = context.generation
    facts |= {
        "runner": context.runner,
        "prompt": context.prompt or "",
        "image": ",".join(part for part in context.image.split(",") if part not in said),
        "host": f"{context.host} {context.host_version}",
        "weights": weights_of(context),
        "responses": str(max(1, len(run.repeats))),
    }
    return facts


def _shorten(facts: Sequence[dict[str, str]]) -> None:
    """Weights by the shortest ends of their paths that differ where the paths do."""
    whole = [found["weights"].replace("\\", "/").strip("/").split("/") for found in facts]
    ways = len({tuple(parts) for parts in whole})
    for length in range(1, max((len(parts) for parts in whole), default=0) + 1):
        ends = ["/".join(parts[-length:]) for parts in whole]
        if len(set(ends)) == ways:
            for found, end in zip(facts, ends, strict=True):
                found["weights"] = end
            return


def _stated(key: str, value: str | None) -> str:
    if key in ("runner", "host"):
        return f"{value} runner" if key == "runner" and value else value or f"{key} unknown"
    return f"{key}={value}" if value else f"no {key}"


def _path_labels(group: Sequence[Run]) -> list[str]:
    """File names without their time stamp, else the shortest ends of the paths, that all differ."""
    files = [run.paths[0] for run in group]
    names = [
        bare_name(file).removeprefix(run.context.stamp)
        if run.context.stamp != bare_name(file)
        else bare_name(file)
        for file, run in zip(files, group, strict=True)
    ]
    if len(set(names)) == len(names):
        return names
    whole = [file.absolute().parts for file in files]
    for ends in ([parts[:-1] for parts in whole], whole):
        for length in range(1, max(map(len, ends)) + 1):
            tails = [parts[-length:] for parts in ends]
            if len(set(tails)) == len(tails):
                return ["/".join(tail[: _told_by(tails)]) for tail in tails]
    return [str(file) for file in files]


def _told_by(tails: Sequence[Sequence[str]]) -> int | None:
    """How many leading parts suffice: what all paths end in alike tells nothing."""
    shared = 0
    while all(len(tail) > shared + 1 for tail in tails) and (
        len({tail[-1 - shared] for tail in tails}) == 1
    ):
        shared += 1
    return -shared or None


# --- the same run twice -----------------------------------------------------------------------


def _with_doubles(runs: Sequence[Run]) -> list[Run]:
    """Note in each run which others have its signature, and whether their answers differ."""
    lines = [str(run.signature()) for run in runs]
    noted = []
    for place, run in enumerate(runs):
        others = tuple(
            _double(run, other)
            for number, other in enumerate(runs)
            if number != place and lines[number] == lines[place]
        )
        noted.append(replace(run, faults=replace(run.faults, doubles=others)))
    return noted


def _double(run: Run, other: Run) -> str:
    differing = sum(_differ(run, other))
    if not differing:
        return f"the same signature and the same answers as {other.name} ({other.paths[0]})"
    return (
        f"the same signature as {other.name} ({other.paths[0]}), but other answers to "
        f"{differing} of {len(run.answers)} questions: what differs is not recorded"
    )


def _differ(run: Run, other: Run) -> Iterator[bool]:
    for answer in run.answers:
        theirs = other.by_question.get(answer.question_id)
        yield theirs is None or (theirs.text, theirs.length) != (answer.text, answer.length)
