"""Compare earlier answers with what would be asked now, before VLMEvalKit takes them up.

The host knows no such check. Its functions are wrapped where its modules hold them: the inference
job, the API pipeline, the step that copies earlier answers (ms-vlmeval, checkout), and ``load``,
through which the run script reads a config file before it builds a model. Seen on ms-vlmeval
0.0.20, nvidia-vlmeval 26.3 and a checkout of August 2026. Other datasets pass through unchanged.

A refusal is a `SystemExit`: the host swallows every `Exception` and then ends with status 0.
"""

from __future__ import annotations

import functools
import importlib
import importlib.util
import logging
import shutil
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from dtvqa_plugin._version import __version__
from dtvqa_plugin.errors import DTVQAError, HostError
from dtvqa_plugin.hosts.vlmevalkit.earlier.asked import (
    Asked,
    Question,
    Run,
    answers_digest,
    asking,
    count_answers,
    differences,
    read_asked,
    record_path,
    refusal,
    write_asked,
)
from dtvqa_plugin.hosts.vlmevalkit.earlier.kept import (
    Kept,
    Place,
    copy_aside,
    find_kept,
    move_aside,
)
from dtvqa_plugin.hosts.vlmevalkit.earlier.model_settings import (
    describe_configured,
    describe_named,
    describe_object,
)
from dtvqa_plugin.hosts.vlmevalkit.host import need_host, process_rank
from dtvqa_plugin.hosts.vlmevalkit.run_options import (
    ASK_AGAIN,
    RunOptions,
    check_model_names,
    datasets_asked_for,
    model_entries,
)
from dtvqa_plugin.predictions.reader import read_predictions
from dtvqa_plugin.predictions.rows import PredictionTable
from dtvqa_plugin.utils.environment import switch
from dtvqa_plugin.utils.text import counted, now, visible

logger = logging.getLogger("dtvqa_plugin")

_MARK = "_dtvqa_guard"


def rebind(name: str, original: object, replacement: object) -> None:
    """Put ``replacement`` wherever a module has imported ``original`` under ``name``."""
    for module in list(sys.modules.values()):
        held = getattr(module, "__dict__", {})
        if held.get(name) is original:
            held[name] = replacement


def install() -> None:
    """Wrap the host's functions, once. If that fails, the host continues with a warning."""
    try:
        inference = importlib.import_module("vlmeval.inference")
        _wrap(inference, "infer_data_job", _guarded_job)
        _wrap(importlib.import_module("vlmeval.smp"), "prepare_reuse_files", _with_record)
        if importlib.util.find_spec("vlmeval.inference_api") is not None:
            pipeline = importlib.import_module("vlmeval.inference_api").APIEvalPipeline
            if not hasattr(pipeline.__init__, _MARK):
                pipeline.__init__ = _guarded_pipeline(pipeline.__init__)
    except Exception as error:
        logger.warning(
            "dtvqa-plugin: the host's reuse of answers cannot be checked (%s: %s): answers of "
            "an earlier run "
            "would pass as answers of this one; use a new --work-dir for every run",
            type(error).__name__,
            error,
        )


def _wrap(module: Any, name: str, around: Callable[[Any], Any]) -> None:
    original = getattr(module, name, None)
    if original is None or hasattr(original, _MARK):
        return
    replacement = around(original)
    setattr(replacement, _MARK, True)
    rebind(name, original, replacement)


def _is_ours(dataset: object) -> bool:
    return hasattr(dataset, "asked_questions")


def _guarded_job(original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def infer_data_job(
        model: Any, work_dir: Any, model_name: str, dataset: Any, *args: Any, **options: Any
    ) -> Any:
        if not _is_ours(dataset):
            return original(model, work_dir, model_name, dataset, *args, **options)
        if options.get("limit"):
            dataset.data = dataset.data.iloc[: options["limit"]]
        place = Place(Path(work_dir), model_name, dataset.dataset_name)
        keep_failed = options.get("retry_failed") is False or bool(options.get("ignore_failed"))
        path = _result_path(place)
        if process_rank() == 0:
            with _refusing():
                check(dataset, place, path, model, keep_failed=keep_failed)
        _wait_for_rank_0()
        if _complete(dataset, path, keep_failed):
            return model
        result = original(model, work_dir, model_name, dataset, *args, **options)
        if process_rank() == 0 and path.is_file():
            seal(path, read_predictions(path))
        return result

    return infer_data_job


def _complete(dataset: Any, path: Path, keep_failed: bool) -> bool:
    """Whether every question is answered in the finished file: the host would only rewrite it."""
    place = Place(path.parent, "", dataset.dataset_name)
    names = set(dataset.data["index"])
    return names <= find_kept(place, path, keep_failed=keep_failed).finished


def _guarded_pipeline(original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def build(self: Any, dataset_configs: Sequence[Any], *args: Any, **options: Any) -> None:
        for item in dataset_configs:
            if _is_ours(item.dataset_obj) and options.get("run_infer", True):
                place = Place(Path(item.work_dir), item.model_name, item.dataset_name)
                keep = options.get("retry_failed") is False
                with _refusing():
                    check(
                        item.dataset_obj,
                        place,
                        Path(item.result_file),
                        item.model_obj,
                        keep_failed=keep,
                    )
        original(self, dataset_configs, *args, **options)

    setattr(build, _MARK, True)
    return build


def _with_record(original: Callable[..., Any]) -> Callable[..., Any]:
    """The record goes where the answers are copied to."""

    @functools.wraps(original)
    def prepare_reuse_files(*args: Any, **options: Any) -> Any:
        context = original(*args, **options)
        source = context.get("source_eval_id") if isinstance(context, dict) else None
        if source and _is_ours(options.get("dataset")):
            meta = Path(options["pred_root_meta"])
            model, dataset = options["model_name"], options["dataset_name"]
            record = Place(meta / source, model, dataset).record
            folder = Path(options["result_file"]).parent
            if record.is_file() and record.parent != folder:
                shutil.copy2(record, Place(folder, model, dataset).record)
        return context

    return prepare_reuse_files


@contextmanager
def _refusing() -> Iterator[None]:
    """Turn an error of this plugin into the end of the process, with its message."""
    try:
        yield
    except DTVQAError as error:
        raise SystemExit(f"dtvqa-plugin: error: {visible(str(error))}") from error


def _wait_for_rank_0() -> None:
    import torch.distributed

    if torch.distributed.is_available() and torch.distributed.is_initialized():
        torch.distributed.barrier()


def _result_path(place: Place) -> Path:
    smp = importlib.import_module("vlmeval.smp")
    if not hasattr(smp, "get_pred_file_path"):
        return place.folder / f"{place.stem}.xlsx"
    folder = str(place.folder)
    named = smp.get_pred_file_path(folder, place.model, place.dataset, use_env_format=True)
    return Path(named)


def check(dataset: Any, place: Place, path: Path, model: Any, *, keep_failed: bool) -> None:
    """Compare the earlier answers with what would be asked now; then record what is asked.

    Raises HostError, naming what differs, when they were asked otherwise.
    """
    if switch(ASK_AGAIN, default=False) and (target := move_aside(place)) is not None:
        logger.warning("dtvqa-plugin: earlier answers moved to %s; asking again", target)
    names = list(dataset.data["index"])
    kept = find_kept(place, path, keep_failed=keep_failed)
    asked = record_of(place, kept)
    run = _run(dataset, model, place.model)
    compare(dataset, place, kept, asked, run)
    reused = [name for name in names if name in kept.names]
    asks = [name for name in names if name not in kept.names]
    dataset.answers = (place.folder.resolve(), count_answers(asked, names, reused))
    if not set(names) <= kept.finished:
        _keep_what_the_host_drops(place, kept.names - set(names))
    if asks:
        questions = dataset.asked_questions(asks)
        before = asked if kept.names else None
        record = asking(before, dataset.dataset_name, kept.names, questions, run)
        write_asked(place.record, record)


def _keep_what_the_host_drops(place: Place, dropped: Set[str]) -> None:
    """The host writes the file with this run's questions alone: a copy keeps the other answers."""
    if dropped and (target := copy_aside(place)) is not None:
        logger.warning(
            "dtvqa-plugin: %s are to questions that this run does not ask (a limit, or another "
            "state of the data). The host writes %s without them; a copy with them is in %s",
            counted(len(dropped), "earlier answer", "earlier answers"),
            place.stem,
            target,
        )


def compare(dataset: Any, place: Place, kept: Kept, asked: Asked | None, run: Run) -> None:
    """Raise HostError when kept answers were asked otherwise than ``run`` would ask them."""
    names = [name for name in dataset.data["index"] if name in kept.names]
    if not names:
        return
    present = dataset.asked_questions(names)
    if asked is None:
        lines = _column_differences(kept, present)
        dates: list[str] = []
    else:
        lines = differences(asked, names, present, run)
        dates = [earlier.date for earlier in asked.runs_of(names)]
    if lines:
        raise HostError(refusal(place.folder / place.stem, dates, lines, place.model))


def _column_differences(kept: Kept, present: Mapping[str, Question]) -> list[str]:
    """Without a record, the file's own question column is all that tells what was asked."""
    lines = []
    changed = [
        name
        for name, question in present.items()
        if kept.questions.get(name, question.text) != question.text
    ]
    if changed:
        name = changed[0]
        lines.append(
            f"{len(changed)} of {len(present)} rows hold another question, first {name}: "
            f"{kept.questions[name]!r} -> {present[name].text!r}"
        )
    return lines


def record_of(place: Place, kept: Kept) -> Asked | None:
    """The record beside the answers, if it is of these answers."""
    if kept.table is not None:
        return fitting_record(kept.table.path, kept.table)
    under_way = (asked for asked in _records_elsewhere(place.record) if asked.answers is None)
    return read_asked(place.record) or next(under_way, None)


def fitting_record(path: Path, table: PredictionTable) -> Asked | None:
    """The record of a prediction file, unless it is of other answers.

    nvidia-vlmeval copies earlier answers to the folder of a new day and may leave the record.
    """
    asked, digest = read_asked(record_path(path)), answers_digest(table)
    if asked is None:
        fits = (other for other in _records_elsewhere(record_path(path)) if other.answers == digest)
        return next(fits, None)
    return asked if asked.answers in (None, digest) else None


def _records_elsewhere(record: Path) -> Iterator[Asked]:
    """The records of that name in the folders of other runs, the newest first."""
    if record.parent.name.startswith("T2"):
        for path in sorted(record.parent.parent.glob(f"T2*/{record.name}"), reverse=True):
            if path != record and (asked := read_asked(path)) is not None:
                yield asked


def seal(path: Path, table: PredictionTable) -> None:
    """Note in the record which finished answers it is of."""
    asked = read_asked(record_path(path))
    if asked is not None and asked.answers is None:
        write_asked(record_path(path), replace(asked, answers=answers_digest(table)))


def _run(dataset: Any, model: Any, name: str) -> Run:
    return _run_of(dataset, _described(model, name))


def _run_of(dataset: Any, described: Mapping[str, Any]) -> Run:
    host = need_host()
    control = dataset.prompt_control()
    return Run(
        date=now(),
        model=described,
        host=host.identity,
        plugin=__version__,
        prompt_enforced=control["prompt_enforced"],
        prompt_note=control["prompt_note"],
    )


def _described(model: Any, name: str) -> dict[str, Any]:
    """The model's description: from the config file, the host's list, or the object itself."""
    if isinstance(model, str):
        return describe_named(name)
    configured = model_entries(RunOptions.of_this_process())
    if name in configured:
        return describe_configured(configured[name], name)
    known = importlib.import_module("vlmeval.config").supported_VLM.get(name)
    if getattr(known, "func", known) is type(model):
        return describe_named(name)
    return describe_object(model)


def before_models(path: object) -> None:
    """The same comparison when the run script has read its config file and built no model yet.

    Args:
        path: A file that the host has read; nothing happens unless it is the config file.
    """
    options = RunOptions.of_this_process()
    if options.config is None or str(path) != str(options.config):
        return
    with _refusing():
        check_model_names(options)
        module = importlib.import_module("vlmeval.dataset")
        # One whose data or recognised text is missing ends the run here, before models are loaded.
        datasets = {
            entry.name: getattr(module, entry.class_name)(entry.name)
            for entry in datasets_asked_for(options)
        }
        if not switch(ASK_AGAIN, default=False):
            _compare_configured(options, datasets)


def _compare_configured(options: RunOptions, datasets: Mapping[str, Any]) -> None:
    for model, settings in model_entries(options).items():
        for name, dataset in datasets.items():
            for place in _taken_up(options, model, name):
                for path in place.tables() or [_result_path(place)]:
                    kept = find_kept(place, path)
                    if kept.names:
                        run = _run_of(dataset, describe_configured(settings, model))
                        compare(dataset, place, kept, record_of(place, kept), run)


def _taken_up(options: RunOptions, model: str, dataset: str) -> Iterator[Place]:
    """The places from which the host would take answers up.

    These are its own folder and, on reuse, the newest run with such answers. `check` looks again
    when the host has made its choice.
    """
    root = options.work_dir / model
    if not root.is_dir():
        return
    if any(path.name.startswith(f"{model}_") and not path.is_symlink() for path in root.iterdir()):
        yield Place(root, model, dataset)
    today = time.strftime("T%Y%m%d_G")  # nvidia-vlmeval's folder of the day, in local time
    for folder in sorted((path for path in root.glob("T2*") if path.is_dir()), reverse=True):
        place = Place(folder, model, dataset)
        if place.tables() or place.pickles():
            if options.reuse or folder.name.startswith(today):
                yield place
            return
