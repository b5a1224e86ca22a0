"""Make the datasets known to VLMEvalKit, in memory and in place.

The host has no entry points. A dataset is known when its class is in
``vlmeval.dataset.DATASET_CLASSES``; ``vlmeval.tools`` holds the very same list objects, so they
are changed, never replaced. Seen working on ms-vlmeval 0.0.20 and nvidia-vlmeval 26.3.
"""

from __future__ import annotations

import functools
import importlib
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from dtvqa_plugin.errors import HostError
from dtvqa_plugin.hosts.vlmevalkit.earlier import guard
from dtvqa_plugin.hosts.vlmevalkit.host import INSTALL, import_host, need_host
from dtvqa_plugin.hosts.vlmevalkit.names import DATASETS

_LISTS = ("DATASET_CLASSES", "IMAGE_DATASET", "SUPPORTED_DATASETS")
_PREDICTION_FILE = re.compile(rf"_(?:{'|'.join(DATASETS)})\.(?:xlsx|tsv|json)$")
_MARK = "_dtvqa_lossless"


def register_datasets() -> None:
    """See `dtvqa_plugin.hosts.vlmevalkit.register`."""
    host = need_host()
    module = import_host("vlmeval.dataset")
    lacking = [name for name in _LISTS if not isinstance(getattr(module, name, None), list)]
    if lacking:
        raise HostError(
            f"{host.dataset_module}: {host.distribution} {host.version} has no "
            f"{', '.join(lacking)}: it is too old for this plugin; {INSTALL}"
        )
    from dtvqa_plugin.hosts.vlmevalkit.dataset import DTVQADataset, DTVQANativeDataset

    classes = (DTVQADataset, DTVQANativeDataset)
    for dataset_class in classes:
        # Config entries look the class up as an attribute.
        setattr(module, dataset_class.__name__, dataset_class)
        _append(module.DATASET_CLASSES, [dataset_class])
        _append(module.IMAGE_DATASET, [dataset_class])
    _append(module.SUPPORTED_DATASETS, list(DATASETS))
    _append(getattr(module, "__all__", []), [item.__name__ for item in classes])
    _read_our_predictions_exactly()


def _append(known: list[Any], items: list[Any]) -> None:
    known.extend(item for item in items if item not in known)


def _read_our_predictions_exactly() -> None:
    """Let the host read DT-VQA prediction files as they were written.

    A rerun reads the old file with ``load`` and writes what it read: ``N/A`` would come back as
    ``nan``. The wrapper passes every other file on (a config file is the sign to compare earlier
    answers before a model is built); it stands wherever the host has bound the
    function's name so far, and in ``vlmeval.smp``, from where modules imported later take it.
    """
    smp = importlib.import_module("vlmeval.smp.file")
    original = smp.load
    if hasattr(original, _MARK):
        return
    exact = _exact_load(original)
    guard.rebind("load", original, exact)


def _exact_load(original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def load(f: Any, *args: Any, **kwargs: Any) -> Any:
        if args or kwargs or not _is_prediction_file(f):
            loaded = original(f, *args, **kwargs)
            guard.before_models(f)
            return loaded
        return _exact_frame(Path(f))

    setattr(load, _MARK, True)
    return load


def _is_prediction_file(path: object) -> bool:
    return isinstance(path, (str, Path)) and _PREDICTION_FILE.search(str(path)) is not None


def _exact_frame(path: Path) -> Any:
    import pandas

    from dtvqa_plugin.predictions.reader import read_predictions

    rows = read_predictions(path).rows
    return pandas.DataFrame(
        [{"index": row.index, **row.fields, "prediction": row.prediction} for row in rows],
        columns=None if rows else ["index", "prediction"],
    )
