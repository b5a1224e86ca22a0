"""What stands around a prediction file and says how the predictions were made."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

from dtvqa_plugin.benchmark.inputs import (
    BLIND,
    INPUTS,
    ModelInput,
    condition_in_name,
    input_of,
)
from dtvqa_plugin.metrics.names import METRICS
from dtvqa_plugin.predictions.kinds import vlmevalkit_name
from dtvqa_plugin.predictions.opening import bare_name
from dtvqa_plugin.predictions.reader import iter_records
from dtvqa_plugin.predictions.shapes import mapping, stored_scores
from dtvqa_plugin.runs.image_path import (
    GREY,
    HOST_DEFAULT,
    NO_PICTURE,
    UNKNOWN_PATH,
    image_path,
    pixel_bounds,
)
from dtvqa_plugin.runs.signature import UNKNOWN

MAX_METADATA_BYTES = 256 * 2**20


@dataclass(frozen=True, slots=True)
class AnswerOrigin:
    """Where VLMEvalKit's answers come from: how many of ``total`` an earlier run gave, and when.

    ``record`` is what is known of how the reused ones were asked, ``unknown`` where nothing is.
    """

    total: int
    reused: int
    asked: int
    since: str = ""
    record: str = ""

    def __str__(self) -> str:
        parts = [f"reused={self.reused}", f"asked={self.asked}"]
        parts += [f"from={self.since}"] * bool(self.since)
        parts += [f"record={self.record}"] * bool(self.record)
        return ",".join(parts)


@dataclass(frozen=True, slots=True)
class Context:
    """How the predictions of one file were made, as far as is known.

    ``condition`` is the paper's (``none``, ``paper``), one of `benchmark.inputs` (``blind``,
    ``px896``, ``text``), ``native`` for a model's own words; ``prompt`` the name of the text
    itself. ``image`` says what was done to the picture on its way to the model, ``given`` which
    recognised text the model was given. ``arguments`` are the model's arguments as
    given, without secrets, ``runner`` the kind of the host's model class (``chat``, ``simple``),
    ``host_model`` its name in the host. ``stamp`` tells runs in one folder apart; ``task`` is the
    host's name of the dataset. ``files`` maps annotation files to the SHA-256 that the run saw;
    ``stored`` question ids to the scores saved beside the file (0-1). ``asked_repeats`` is how
    many responses to each question the host asked for. ``nameless``: nothing says which model
    it is, and ``model`` is the file's name.
    """

    model: str
    condition: str | None = None
    prompt: str | None = None
    image: str = UNKNOWN
    given: str = ""
    host: str = UNKNOWN
    host_version: str = UNKNOWN
    generation: str = UNKNOWN
    stamp: str = ""
    task: str = ""
    runner: str = ""
    host_model: str = ""
    arguments: Mapping[str, str] = field(default_factory=dict)
    settings: Mapping[str, str] = field(default_factory=dict)
    answers: AnswerOrigin | None = None
    asked_repeats: int = 1
    nameless: bool = False
    files: Mapping[str, str] = field(default_factory=dict)
    stored: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    stored_means: Mapping[str, float] = field(default_factory=dict)

    @property
    def named_model(self) -> str | None:
        """The model that a file or its host names; None where nothing does."""
        return None if self.nameless else self.model


# --- lmms-eval --------------------------------------------------------------------------------

_SAMPLES = re.compile(r"(?P<stamp>.*)_samples_(?P<task>.+)")


def lmms_context(path: Path) -> Context:
    match = _SAMPLES.fullmatch(bare_name(path))
    stamp, task = (match["stamp"], match["task"]) if match else (bare_name(path), "")
    results = _lmms_results(path, stamp, task)
    by_name = _condition_of_task(task)
    if results is None:
        model = path.parent.name if match and path.parent.name else bare_name(path)
        return Context(model, host="lmms-eval", stamp=stamp, task=task, condition=by_name)
    run = mapping(results.get("config"))
    config = mapping(mapping(results.get("configs")).get(task))
    metadata = mapping(config.get("metadata"))
    condition = _condition(metadata, by_name)
    given = input_of(_own_condition(condition, metadata, by_name))
    used = _lmms_prompt(config, run, condition)
    arguments = _arguments(run.get("model_args"))
    return Context(
        model=_lmms_model(run, arguments),
        condition=given.condition
        if given.condition in INPUTS
        else (None if condition is None else str(condition)),
        prompt=None if used is None else str(used),
        image=_lmms_picture(given, metadata, arguments, _lmms_runner(run)),
        given=given.text_given(str(metadata.get("recognised_by") or UNKNOWN)),
        host="lmms-eval",
        host_version=_lmms_version(metadata, results),
        generation=_generation(config.get("generation_kwargs"), results),
        stamp=stamp,
        task=task,
        runner=_lmms_runner(run),
        host_model=str(run.get("model", "")),
        arguments=arguments,
        settings=_settings(config.get("generation_kwargs"), run),
        asked_repeats=_asked_repeats(config, run),
        files=_file_hashes(metadata),
        stored_means=_stored_means(results, task),
    )


def _own_condition(condition: object, metadata: Mapping[str, Any], by_name: str | None) -> str:
    """The condition; version 0.1.0 stated the paper's for its blind tasks."""
    blind = metadata.get("image") == "plain grey" or by_name == BLIND.condition
    return BLIND.condition if blind else str(condition)


def _lmms_picture(
    given: ModelInput, metadata: Mapping[str, Any], arguments: Mapping[str, str], runner: str
) -> str:
    """The picture in a signature. Simple runners get a grey one where there is none to show."""
    if given.picture == "none" and runner != "simple":
        return NO_PICTURE if runner == "chat" else UNKNOWN
    return image_path(
        GREY if given.picture == "none" else given.picture_given,
        metadata.get("image_path_to_model"),
        pixel_bounds(arguments),
        HOST_DEFAULT if "image_path_to_model" in metadata else UNKNOWN_PATH,
    )


def _lmms_prompt(
    config: Mapping[str, Any], run: Mapping[str, Any], condition: object
) -> object | None:
    """The prompt's name: the entry under the exact ``--model`` string, else the default one."""
    by_model = mapping(config.get("lmms_eval_specific_kwargs"))
    own = mapping(by_model.get(str(run.get("model"))))
    used: object = own.get("prompt", by_model.get("prompt", condition))
    return used


def _lmms_results(path: Path, stamp: str, task: str) -> Mapping[str, Any] | None:
    """The results file of the same run: by its stamp, else the only one that has the task."""
    named = path.with_name(f"{stamp}_results.json")
    if named.is_file():
        return _read_json(named)
    found = [
        results
        for other in sorted(path.parent.glob("*results.json"))
        if (results := _read_json(other)) is not None and task in mapping(results.get("configs"))
    ]
    return found[0] if len(found) == 1 else None


def _condition_of_task(task: str) -> str | None:
    if not task.startswith("dtvqa"):
        return None
    own = condition_in_name(task)
    if own is not None:
        return own
    return "paper" if task.endswith("_prompted") else "none"


GENERATION_KEYS = frozenset(
    {
        *("max_new_tokens", "max_tokens", "max_length", "max_completion_tokens", "num_beams"),
        *("temperature", "top_p", "top_k", "do_sample", "repetition_penalty", "seed", "until"),
        *("use_cache", "length_penalty", "min_length", "reasoning_effort", "system_prompt"),
    }
)

_NAMING = ("pretrained", "model_version", "model_name", "model_id", "model", "mode")
_SECRET = re.compile(r"key|token$|secret|passw|auth|credential|cookie|header", re.IGNORECASE)


def _arguments(given: object) -> dict[str, str]:
    """The model's arguments as given, secrets left out."""
    pairs = (
        {str(key): str(value) for key, value in given.items()}
        if isinstance(given, dict)
        else dict(item.partition("=")[::2] for item in str(given or "").split(","))
    )
    return {
        key.strip(): value
        for key, value in pairs.items()
        if key.strip() and value and not _SECRET.search(key)
    }


def _lmms_model(run: Mapping[str, Any], arguments: Mapping[str, str]) -> str:
    """``qwen2_5_vl(Qwen/Qwen2.5-VL-7B-Instruct)``: the host's class and the argument that names.

    A ``revision`` that was asked for stands behind the name: ``Qwen/Qwen2.5-VL-7B-Instruct@abc``.
    """
    name = str(run.get("model", UNKNOWN))
    for key in _NAMING:
        if arguments.get(key):
            named = _without_folder(arguments[key])
            revision = arguments.get("revision")
            return f"{name}({named}@{revision})" if revision else f"{name}({named})"
    return name


def weights_of(context: Context) -> str:
    """The argument that names the model's weights, in full."""
    return next((context.arguments[key] for key in _NAMING if key in context.arguments), "")


def _without_folder(value: str) -> str:
    """A local weights folder by its name alone: paths of one machine tell others nothing."""
    local = value.startswith(("/", "~", ".")) or "\\" in value
    return PurePosixPath(value.replace("\\", "/")).name if local else value


_BACKEND = re.compile(r".*\((?P<kind>\w+)\)")


def _lmms_runner(run: Mapping[str, Any]) -> str:
    """``chat`` or ``simple``: lmms-eval 0.7.3 writes ``module.Class (chat)``."""
    match = _BACKEND.fullmatch(str(run.get("model_backend", "")))
    if match is not None:
        return match["kind"]
    forced = mapping(run.get("resolved_cli_args")).get("force_simple")
    return "simple" if forced is True else ""


def _asked_repeats(config: Mapping[str, Any], run: Mapping[str, Any]) -> int:
    asked = config.get("repeats", mapping(run.get("resolved_cli_args")).get("repeats", 1))
    return asked if isinstance(asked, int) else 1


def _lmms_version(metadata: Mapping[str, Any], results: Mapping[str, Any]) -> str:
    """The host's version, with its commit where it runs from a git checkout.

    Our tasks record whether it does (``host_commit``). Logs of 0.1.0 have only the host's
    ``git_hash``: the commit of the repository around the folder in which the host was started
    (0.6.0 to 0.7) or is installed (0.7.3).
    """
    said = metadata.get("host_version") or results.get("lmms_eval_version") or UNKNOWN
    version = UNKNOWN if UNKNOWN in str(said) else str(said)
    if "host_commit" in metadata:
        commit, mark = metadata["host_commit"], "git"
    else:
        commit, mark = results.get("git_hash"), "started-in"
    return with_commit(version, commit, mark)


def with_commit(version: str, commit: object, mark: str = "git") -> str:
    """``0.7.2+git.75571cf``; the version alone where no commit is known."""
    return f"{version}+{mark}.{commit}" if isinstance(commit, str) and commit else version


def _settings(settings: object, run: Mapping[str, Any]) -> dict[str, str]:
    """Generation settings one by one; what the command line set replaces the task's own."""
    given = run.get("gen_kwargs")
    overridden = given if isinstance(given, dict) else _arguments(given)
    return {str(key): str(value) for key, value in {**mapping(settings), **overridden}.items()}


def _generation(settings: object, results: Mapping[str, Any]) -> str:
    """Generation settings as ``key=value`` in key order; what the command line set comes last."""
    pairs = [f"{key}={value}" for key, value in sorted(mapping(settings).items())]
    given = mapping(results.get("config")).get("gen_kwargs")
    if isinstance(given, dict):
        given = ",".join(f"{key}={value}" for key, value in sorted(given.items()))
    if given:
        pairs.append(f"given[{given}]")
    return ",".join(pairs) or UNKNOWN


def _stored_means(results: Mapping[str, Any], task: str) -> dict[str, float]:
    row = mapping(mapping(results.get("results")).get(task))
    return stored_scores({name: row.get(f"{name},none") for name in METRICS})


# --- VLMEvalKit -------------------------------------------------------------------------------


def vlmevalkit_context(path: Path) -> Context:
    named = vlmevalkit_name(path)
    summary = _read_json(path.with_name(f"{bare_name(path)}_summary.json")) or {}
    host = mapping(summary.get("host"))
    condition = _condition(summary, named.condition if named else None)
    given = input_of(str(condition))
    version = "=".join(str(host[key]) for key in ("distribution", "version") if key in host)
    settings = mapping(mapping(summary.get("model_settings")).get("settings"))
    arguments = plain_values(settings)
    generation = {key: value for key, value in arguments.items() if key in GENERATION_KEYS}
    return Context(
        model=str(summary.get("model") or (named.model if named else bare_name(path))),
        condition=None if condition is None else str(condition),
        prompt=None if condition is None else str(summary.get("prompt_name", condition)),
        given=given.text_given(str(summary.get("recognised_by") or UNKNOWN)),
        host="VLMEvalKit",
        host_version=with_commit(version or UNKNOWN, host.get("commit")),
        image=NO_PICTURE
        if given.picture == NO_PICTURE
        else image_path(given.picture_given, summary.get("image_path_to_model"), {}),
        generation=joined(generation),
        task=named.dataset if named else str(summary.get("dataset", "")),
        host_model=str(mapping(summary.get("model_settings")).get("class", "")),
        arguments={key: value for key, value in arguments.items() if key not in generation},
        settings=generation,
        answers=_answer_origin(summary.get("answers")),
        files=_file_hashes(summary),
        stored=_stored_questions(path.with_name(f"{bare_name(path)}_questions.jsonl")),
    )


def plain_values(settings: Mapping[str, Any]) -> dict[str, str]:
    """The plain values among a model's settings, secrets left out."""
    return {
        str(key): str(value)
        for key, value in settings.items()
        if isinstance(value, str | int | float) and not _SECRET.search(str(key))
    }


def _answer_origin(said: object) -> AnswerOrigin | None:
    """What the adapter recorded of earlier answers; None where it recorded nothing."""
    counts = mapping(said)
    numbers = [counts.get(key) for key in ("total", "reused", "asked")]
    if not all(isinstance(number, int) and number >= 0 for number in numbers):
        return None
    total, reused, asked = (int(number) for number in numbers if isinstance(number, int))
    since, record = (str(counts.get(key) or "") for key in ("from", "record"))
    return AnswerOrigin(total, reused, asked, since, record)


def _stored_questions(path: Path) -> dict[str, dict[str, float]]:
    if not path.is_file():
        return {}
    stored = {}
    for _, record in iter_records(path, lambda place, why: None):
        if isinstance(record, dict) and isinstance(record.get("question_id"), str):
            stored[record["question_id"]] = stored_scores(record)
    return stored


# --- shared -----------------------------------------------------------------------------------


def _condition(said: Mapping[str, Any], otherwise: str | None) -> object:
    """The condition that a host was given; version 0.1.0 wrote it under ``prompt``."""
    return said.get("condition", said.get("prompt", otherwise))


def _file_hashes(metadata: Mapping[str, Any]) -> dict[str, str]:
    files = mapping(mapping(metadata.get("data")).get("files"))
    hashes = {str(path): mapping(entry).get("sha256") for path, entry in files.items()}
    return {path: digest for path, digest in hashes.items() if isinstance(digest, str)}


def _read_json(path: Path) -> Mapping[str, Any] | None:
    """A metadata file; None if it is absent, damaged or huge (the predictions still count)."""
    try:
        if path.stat().st_size > MAX_METADATA_BYTES:
            return None
        value = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def joined(settings: Mapping[str, str]) -> str:
    """Settings as ``key=value`` in key order."""
    return ",".join(f"{key}={value}" for key, value in sorted(settings.items())) or UNKNOWN
