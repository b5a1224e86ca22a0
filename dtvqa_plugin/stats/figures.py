"""The paper's Figure 3 for a split: word clouds and bars, lengths in words, image sizes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import cycle
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dtvqa_plugin.data.splits import get_split
from dtvqa_plugin.stats.fonts import FALLBACK, Face, choose_face
from dtvqa_plugin.stats.measures import OVERALL
from dtvqa_plugin.stats.words import stop_words
from dtvqa_plugin.utils.files import written
from dtvqa_plugin.utils.text import counted

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

CLOUD_WORDS = 150
BAR_WORDS = 25
LONGEST = 40
"""Lengths from here on share the last bar."""

INK = "#1c2024"
SOFT = "#59616b"
LINE = "#d9d8d2"
COLOURS = ("#2b6cb0", "#b4570a", "#0f766e", "#7b4bab")
SEED = 3

KINDS = {"question": "questions", "answer": "answers (first reference)"}


@dataclass(frozen=True, slots=True)
class Words:
    """Words that a figure draws, with counts, and how many it leaves out and why."""

    drawn: Mapping[str, int]
    stopped: int
    undrawable: tuple[str, ...]
    face: Face


@dataclass
class Drawn:
    """What was written: files, the words in each kind of figure, and remarks for the user."""

    files: list[Path] = field(default_factory=list)
    words: dict[str, Words] = field(default_factory=dict)
    remarks: list[str] = field(default_factory=list)


def choose_words(counts: Mapping[str, int]) -> Words:
    """Words for a figure, most frequent first: no stop words, none that no font here can draw."""
    stopped = stop_words()
    kept = {word: count for word, count in counts.items() if word not in stopped}
    face = choose_face(kept)
    undrawable = tuple(word for word in kept if not face.covers(word))
    drawn = {word: count for word, count in kept.items() if word not in set(undrawable)}
    return Words(drawn, len(counts) - len(kept), undrawable, face)


def draw(statistics: Mapping[str, Any], folder: Path, formats: Sequence[str]) -> Drawn:
    """Write all figures into a folder. DTVQAError if one cannot be written."""
    import matplotlib as mpl

    overall = statistics["parts"][OVERALL]
    done = Drawn(words={kind: choose_words(overall[f"{kind}_words"]["counts"]) for kind in KINDS})
    for kind, words in done.words.items():
        if words.undrawable:
            done.remarks.append(
                f"{counted(len(words.undrawable), 'word')} of the {KINDS[kind]} left out of the "
                "figures: no installed font has all their characters (for Chinese, install Noto "
                "Sans "
                "CJK); stats.json has all words"
            )
    settings = {**_style(), "font.family": _families(done.words.values())}
    with mpl.rc_context(settings):
        for name, figure in _figures(statistics, done):
            for style in sorted(set(formats)):  # an earlier one moves the layout of a later
                done.files.append(_save(figure, folder / f"{name}.{style}"))
    return done


def _families(chosen: Iterable[Words]) -> list[str]:
    return list(dict.fromkeys([*(words.face.family for words in chosen), FALLBACK]))


def _style() -> dict[str, Any]:
    return {
        "font.size": 10,
        "text.color": INK,
        "axes.labelcolor": SOFT,
        "axes.edgecolor": LINE,
        "axes.titlesize": 11,
        "axes.titleweight": "bold",
        "axes.titlelocation": "left",
        "axes.spines.top": False,
        "axes.spines.right": False,
        "xtick.color": SOFT,
        "ytick.color": SOFT,
        "legend.frameon": False,
        "figure.dpi": 150,
        "svg.fonttype": "path",
        "svg.hashsalt": "dtvqa",
    }


def _figures(statistics: Mapping[str, Any], done: Drawn) -> Iterator[tuple[str, Figure]]:
    yield "overview", _overview(statistics, done.words)
    for kind in KINDS:
        yield f"{kind}-words", _words_figure(statistics, kind, done.words[kind])
    yield "lengths", _lengths_figure(statistics)
    sizes = statistics["parts"][OVERALL]["image_sizes"]
    if sizes["measured"]:
        yield "image-sizes", _sizes_figure(statistics)
    lacking = sizes["missing"] + sizes["unreadable"]
    if lacking:
        done.remarks.append(
            f"{counted(lacking, 'image')} left out of the sizes: {sizes['missing']} not in the "
            f"store, {sizes['unreadable']} not readable; sizes are of {sizes['measured']}"
        )


# --- figures ----------------------------------------------------------------------------------


def _overview(statistics: Mapping[str, Any], words: Mapping[str, Words]) -> Figure:
    figure = _figure(11, 7.5)
    axes = figure.subplots(2, 2, height_ratios=(1.15, 1))
    for place, kind in enumerate(KINDS):
        _draw_cloud(axes[0, place], words[kind], 900, 480)
        axes[0, place].set_title(f"Words of {KINDS[kind]}")
        _draw_lengths(axes[1, place], statistics, kind)
    _head(figure, statistics)
    return figure


def _words_figure(statistics: Mapping[str, Any], kind: str, words: Words) -> Figure:
    figure = _figure(11, 5.6)
    cloud, bars = figure.subplots(1, 2, width_ratios=(1.5, 1))
    _draw_cloud(cloud, words, 960, 720)
    cloud.set_title(f"Words of {KINDS[kind]}")
    _draw_bars(bars, words)
    note = f"{words.stopped} stop words left out"
    if words.undrawable:
        note += f"; {counted(len(words.undrawable), 'word')} left out that the font cannot draw"
    _head(figure, statistics, note)
    return figure


def _lengths_figure(statistics: Mapping[str, Any]) -> Figure:
    figure = _figure(11, 4.2)
    for axes, kind in zip(figure.subplots(1, 2), KINDS, strict=True):
        _draw_lengths(axes, statistics, kind)
    _head(figure, statistics)
    return figure


def _sizes_figure(statistics: Mapping[str, Any]) -> Figure:
    from matplotlib.ticker import ScalarFormatter

    figure = _figure(7, 5.6)
    axes = figure.subplots()
    for colour, (name, part) in zip(cycle(COLOURS), _subsets(statistics), strict=False):
        sizes = part["image_sizes"].get("sizes", [])
        if sizes:
            axes.scatter(
                [width for width, _, _ in sizes],
                [height for _, height, _ in sizes],
                s=[14 + 6 * (count - 1) for *_, count in sizes],
                color=colour,
                alpha=0.55,
                linewidths=0,
                label=f"{name} ({part['image_sizes']['measured']} images)",
            )
    for axis, scale in ((axes.xaxis, axes.set_xscale), (axes.yaxis, axes.set_yscale)):
        scale("log", base=2)
        axis.set_major_formatter(ScalarFormatter())
    axes.set_title("Image sizes")
    axes.set_xlabel("width in pixels")
    axes.set_ylabel("height in pixels")
    axes.grid(color=LINE, linewidth=0.6)
    axes.set_axisbelow(True)
    axes.legend(fontsize=9)
    overall = statistics["parts"][OVERALL]
    _head(figure, statistics, f"{overall['image_sizes']['measured']:,} measured")
    return figure


# --- parts of figures -------------------------------------------------------------------------


def _figure(width: float, height: float) -> Figure:
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


def _head(figure: Figure, statistics: Mapping[str, Any], note: str = "") -> None:
    overall = statistics["parts"][OVERALL]
    title = get_split(statistics["split"]).caption
    text = f"{title}: {overall['questions']:,} questions on {overall['images']:,} images"
    figure.suptitle(
        text + (f"; {note}" if note else ""), x=0.01, ha="left", fontsize=10, color=SOFT
    )


def _draw_cloud(axes: Axes, words: Words, width: int, height: int) -> None:
    from wordcloud import WordCloud

    axes.set_axis_off()
    if not words.drawn:
        axes.text(0.5, 0.5, "no words to draw", ha="center", color=SOFT)
        return
    cloud = WordCloud(
        font_path=words.face.path,
        width=width,
        height=height,
        max_words=CLOUD_WORDS,
        background_color="white",
        color_func=_colour,
        prefer_horizontal=1.0,
        relative_scaling=0.45,
        random_state=SEED,
        margin=4,
    ).generate_from_frequencies(dict(words.drawn))
    axes.imshow(cloud.to_array(), interpolation="bilinear")


def _colour(word: str, font_size: int, position: Any, orientation: Any, **more: Any) -> str:
    return COLOURS[sum(map(ord, word)) % len(COLOURS)]


def _draw_bars(axes: Axes, words: Words) -> None:
    top = list(words.drawn.items())[:BAR_WORDS]
    axes.barh([word for word, _ in top], [count for _, count in top], color=COLOURS[0], height=0.72)
    axes.invert_yaxis()
    axes.tick_params(axis="y", length=0, labelsize=9, labelcolor=INK)
    axes.spines["left"].set_visible(False)
    axes.set_title(f"{len(top)} most frequent")
    axes.set_xlabel("occurrences")


def _draw_lengths(axes: Axes, statistics: Mapping[str, Any], kind: str) -> None:
    """Stacked bars by subset; the mean as a line."""
    key = f"{kind}_length"
    overall = statistics["parts"][OVERALL][key]
    last = min(LONGEST, overall["max"])
    places = range(last + 1)
    below = [0] * (last + 1)
    for colour, (name, part) in zip(cycle(COLOURS), _subsets(statistics), strict=False):
        heights = [0] * (last + 1)
        for length, count in part[key]["histogram"].items():
            heights[min(int(length), last)] += count
        axes.bar(places, heights, bottom=below, color=colour, width=0.85, label=name)
        below = [a + b for a, b in zip(below, heights, strict=True)]
    axes.set_xlim(min(overall["min"], 1) - 0.6, last + 0.6)
    axes.axvline(overall["mean"], color=INK, linewidth=1, linestyle=(0, (4, 3)))
    axes.set_title(
        f"Length of {KINDS[kind]}: mean {overall['mean']:.1f}, median {overall['median']:g}"
    )
    axes.set_xlabel("words" + (f" (last bar: {last} and more)" if overall["max"] > last else ""))
    axes.set_ylabel(f"{kind}s")
    axes.legend(fontsize=9)


def _subsets(statistics: Mapping[str, Any]) -> list[tuple[str, Mapping[str, Any]]]:
    return [(name, part) for name, part in statistics["parts"].items() if name != OVERALL]


# --- files ------------------------------------------------------------------------------------


def _save(figure: Figure, path: Path) -> Path:
    metadata = {"Date": None} if path.suffix == ".svg" else {"Software": None}
    with written(path, make_folder=True) as partial:
        figure.savefig(partial, format=path.suffix[1:], metadata=metadata)
    return path
