"""How alike two pictures are once they lie on each other: the decision behind "looks like".

The other picture is placed on the test image with SIFT features and a RANSAC affine transform,
and both are brought to the coarser resolution. Then every window of the test image that holds
text-like detail (edges of more than one direction, so no ruled lines) is looked at: do the test
image's edges stand in the other picture too, with the same direction? The score is the share of
windows where they do. A copy keeps its windows whatever was done to it as a whole; another page
of the same template loses those with other words and numbers. What is drawn over a copy costs
the windows that it hides.

The constants were set on drawn labels, tables and scenes that no test or benchmark set holds.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from PIL import Image

from dtvqa_plugin.errors import DTVQAError

Grey: TypeAlias = npt.NDArray[np.uint8]
Field: TypeAlias = npt.NDArray[np.float32]

LONGEST_SIDE = 1024
"""Pictures are compared at no more pixels than this on the longest side."""

_SHORTEST_FEATURE_SIDE = 256
_FEATURES = 1200
_RATIO = 0.85
_LEAST_INLIERS = 6
_FEW_INLIERS = 60
_FRAME_SHIFT = 0.2
"""How far a point of a copy may be from its place in the frame, as a share of width and height."""

_SURE = 0.99
"""From this likeness on, no other way to place the pictures is tried."""

_LEAST_COVER = 0.5
"""Least share of the test image that the other picture must show."""

_WINDOW = 16
_LEAST_WINDOWS = 12
_EDGE = 80.0
"""Least Scharr gradient (grey levels, 0-255) of an edge pixel."""

_MOST_COVERED = 0.3
"""Most of the text-like windows that something drawn over the copy may cover."""

_LEAST_EDGES = 0.08
_LEAST_DIRECTIONS = 0.15
_KEPT = 0.7
"""A window is kept where its agreement is at least this share of the median window's."""


def opencv() -> Any:
    """OpenCV. Raises `DTVQAError` saying how to install it."""
    try:
        import cv2
    except ImportError as error:
        raise DTVQAError(
            f"comparing images with the test images needs OpenCV ({error}); "
            "pip install 'dtvqa-plugin[leakage]', or compare names alone"
        ) from None
    return cv2


@dataclass(slots=True)
class Picture:
    """A grey picture and its features, which are computed when they are first asked for."""

    grey: Grey
    _features: tuple[Field, Field] | None = field(default=None, repr=False)

    @classmethod
    def of(cls, image: Image.Image) -> Picture:
        """The picture of an upright image, at most `LONGEST_SIDE` pixels long."""
        image = image.convert("L")
        image.thumbnail((LONGEST_SIDE, LONGEST_SIDE), Image.Resampling.LANCZOS)
        return cls(np.asarray(image, dtype=np.uint8))

    def changed(self, *, mirrored: bool, inverted: bool) -> Picture:
        """The picture mirrored left to right, with light and dark exchanged, or both."""
        grey = self.grey[:, ::-1] if mirrored else self.grey
        return Picture(np.ascontiguousarray(255 - grey if inverted else grey))

    def stretched(self, width: int, height: int) -> Picture:
        """The picture resized to another shape."""
        cv2 = opencv()
        return Picture(cv2.resize(self.grey, (width, height), interpolation=cv2.INTER_AREA))

    def features(self) -> tuple[Field, Field]:
        """Positions (n, 2) in pixels and RootSIFT descriptors (n, 128)."""
        if self._features is None:
            self._features = _features(self.grey)
        return self._features


def likeness(test: Picture, other: Picture) -> float:
    """The share (0-1) of the test image's text-like windows that the other picture holds.

    Args:
        test: The test image.
        other: The picture that may be a copy of it, neither mirrored nor inverted.

    Returns:
        0 where the pictures cannot be placed on each other, or share too little of the page.
    """
    found = _placed_score(test, other)
    height, width = test.grey.shape
    other_height, other_width = other.grey.shape
    ratio = (width / height) / (other_width / other_height)
    if found < _SURE and not 0.8 < ratio < 1.25:  # squashed: features match in the same shape only
        found = max(found, _placed_score(test, other.stretched(width, height)))
    if not found and (other_width < width or other_height < height):
        # Of a dense page the strongest features at two sizes may be others: compare at one size.
        size = (min(width, other_width), min(height, other_height))
        found = _placed_score(test.stretched(*size), other.stretched(*size))
    return found


def _placed_score(test: Picture, other: Picture) -> float:
    placing = _placing(test, other)
    if placing is None:
        return 0.0
    seen, placed, inside = _laid_over(test.grey, other.grey, placing)
    if inside.mean() < _LEAST_COVER:
        return 0.0
    return _share_kept(seen, placed, inside)


# --- placing one picture on the other --------------------------------------------------------


def _features(grey: Grey) -> tuple[Field, Field]:
    cv2 = opencv()
    factor = max(1.0, _SHORTEST_FEATURE_SIDE / min(grey.shape))
    if factor > 1:
        grey = cv2.resize(grey, None, fx=factor, fy=factor, interpolation=cv2.INTER_CUBIC)
    points, described = cv2.SIFT_create(nfeatures=_FEATURES).detectAndCompute(grey, None)
    if described is None:
        return np.zeros((0, 2), np.float32), np.zeros((0, 128), np.float32)
    places = np.array([point.pt for point in points], np.float32)
    # Pixel centres, not corners, are what both sizes have in common.
    places = (places + 0.5) / np.float32(factor) - 0.5
    total = described.sum(axis=1, keepdims=True) + 1e-7
    return places, np.sqrt(described / total).astype(np.float32)


def _placing(test: Picture, other: Picture) -> npt.NDArray[np.float64] | None:
    """The affine transform (2 x 3) from the test image's pixels to the other's, if there is one.

    Pages repeat letters and lines. Matches that are clearly the best come first; where they are
    few, mutual ones that are near in the frame as well.
    """
    places, described = test.features()
    other_places, other_described = other.features()
    if min(len(places), len(other_places)) < _LEAST_INLIERS:
        return None
    alike = described @ other_described.T  # unit vectors: the cosine
    order = np.argpartition(-alike, 1, axis=1)[:, :2]
    rows = np.arange(len(places))
    first, second = np.sqrt(np.maximum(0, 2 - 2 * alike[rows[:, None], order])).T
    swap = first > second
    best = np.where(swap, order[:, 1], order[:, 0])
    clear = np.minimum(first, second) < _RATIO * np.maximum(first, second)
    placing, inliers = _affine(places[clear], other_places[best[clear]])
    if inliers < _FEW_INLIERS:
        frames = (test.grey.shape[::-1], other.grey.shape[::-1])
        apart = places / np.asarray(frames[0], np.float32) - other_places[best] / np.asarray(
            frames[1], np.float32
        )
        mutual = (alike.argmax(axis=0)[best] == rows) & (np.abs(apart) < _FRAME_SHIFT).all(axis=1)
        again, more = _affine(places[mutual], other_places[best[mutual]])
        if more > inliers:
            return again
    return placing


def _affine(source: Field, target: Field) -> tuple[npt.NDArray[np.float64] | None, int]:
    """The affine transform that most points agree on, and how many do; None for no good one."""
    if len(source) < _LEAST_INLIERS:
        return None, 0
    cv2 = opencv()
    cv2.setRNGSeed(0)
    affine, agreeing = cv2.estimateAffine2D(
        source,
        target,
        method=cv2.RANSAC,
        ransacReprojThreshold=3.0,
        maxIters=4000,
        confidence=0.999,
    )
    if affine is None or not _plausible(affine[:, :2]):
        return None, 0
    inliers = int(agreeing.sum())
    return (affine, inliers) if inliers >= _LEAST_INLIERS else (None, 0)


def _plausible(turn: npt.NDArray[np.float64]) -> bool:
    """No reflection, and no stretching of one direction to three times the other."""
    large, small = np.linalg.svd(turn, compute_uv=False)
    return bool(np.linalg.det(turn) > 0 and small > 0.05 and large < 20 and large < 3 * small)


def _laid_over(
    test: Grey, other: Grey, placing: npt.NDArray[np.float64]
) -> tuple[Grey, Grey, npt.NDArray[np.uint8]]:
    """Both pictures in the test image's frame, and where the other one has pixels (1, else 0).

    The finer of the two is reduced first, so that both have the same detail.
    """
    cv2 = opencv()
    scale = float(np.sqrt(np.linalg.det(placing[:, :2])))
    whole = np.vstack([placing, [0, 0, 1]])
    if scale < 1:
        test, back = _reduced(test, scale)
        whole = whole @ np.linalg.inv(back)
    elif scale > 1:
        other, back = _reduced(other, 1 / scale)
        whole = back @ whole
    size = (test.shape[1], test.shape[0])
    how = cv2.WARP_INVERSE_MAP
    placed = cv2.warpAffine(
        other, whole[:2], size, flags=cv2.INTER_CUBIC | how, borderMode=cv2.BORDER_REPLICATE
    )
    inside = cv2.warpAffine(np.ones_like(other), whole[:2], size, flags=cv2.INTER_NEAREST | how)
    return test, placed, inside


def _reduced(grey: Grey, factor: float) -> tuple[Grey, npt.NDArray[np.float64]]:
    """The picture reduced, and the transform from its old pixels to the new ones."""
    cv2 = opencv()
    height, width = grey.shape
    size = (max(_WINDOW, round(width * factor)), max(_WINDOW, round(height * factor)))
    across, down = size[0] / width, size[1] / height
    moved = [[across, 0, (across - 1) / 2], [0, down, (down - 1) / 2], [0, 0, 1]]
    return cv2.resize(grey, size, interpolation=cv2.INTER_AREA), np.array(moved)


# --- comparing windows -----------------------------------------------------------------------


def _share_kept(test: Grey, other: Grey, inside: npt.NDArray[np.uint8]) -> float:
    x, y = _edges(test)
    other_x, other_y = _edges(other)
    weight, other_weight = _weight(x, y, inside), _weight(other_x, other_y, inside)
    agreement = _on_grid(_agreement(x, y, weight, other_x, other_y))
    seen = _on_grid(_summed(inside.astype(np.float32))) > 0.98 * _WINDOW**2
    chosen = seen & _has_edges(weight)
    text = chosen & _is_text(x, y, weight)
    if text.sum() >= _LEAST_WINDOWS:
        chosen = text
    elif chosen.sum() < _LEAST_WINDOWS:
        return 0.0
    typical = float(np.median(agreement[chosen]))
    if typical < 0.5:
        return 0.0
    lost = chosen & (agreement < _KEPT * typical)
    # Where the other picture has no text either, something covers it: that is no other text.
    covered = lost & ~(_has_edges(other_weight) & _is_text(other_x, other_y, other_weight))
    if covered.sum() > _MOST_COVERED * chosen.sum():
        return 0.0
    return 1 - float((lost & ~covered).sum()) / float((chosen & ~covered).sum())


def _weight(x: Field, y: Field, inside: npt.NDArray[np.uint8]) -> Field:
    """The strength of edge pixels, 0 elsewhere."""
    strength = np.hypot(x, y)
    return np.where((strength > _EDGE) & (inside > 0), strength, np.float32(0))


def _has_edges(weight: Field) -> npt.NDArray[np.bool_]:
    found: npt.NDArray[np.bool_] = (
        _on_grid(_summed((weight > 0).astype(np.float32))) > _LEAST_EDGES * _WINDOW**2
    )
    return found


def _is_text(x: Field, y: Field, weight: Field) -> npt.NDArray[np.bool_]:
    """Whether a window's edges run in more than one direction, as those of ruled lines do not."""
    norm = np.hypot(x, y) + np.float32(1e-3)
    x, y = x / norm, y / norm
    xx, yy, xy = _summed(weight * x * x), _summed(weight * y * y), _summed(weight * x * y)
    smaller = (xx + yy) / 2 - np.sqrt(((xx - yy) / 2) ** 2 + xy**2)
    found: npt.NDArray[np.bool_] = _on_grid(smaller) > _LEAST_DIRECTIONS * _on_grid(_summed(weight))
    return found


def _edges(grey: Grey) -> tuple[Field, Field]:
    cv2 = opencv()
    smooth = cv2.GaussianBlur(grey.astype(np.float32), (0, 0), 0.8)
    return cv2.Scharr(smooth, cv2.CV_32F, 1, 0), cv2.Scharr(smooth, cv2.CV_32F, 0, 1)


def _agreement(x: Field, y: Field, weight: Field, other_x: Field, other_y: Field) -> Field:
    """How far the test image's edges are in the other picture, by window: -1 to 1.

    The cosine of both gradients, weighted by the test image's; the best of shifts by one pixel.
    """
    # The second term keeps noise on flat ground from having a direction.
    length = np.hypot(other_x, other_y) + np.float32(_EDGE / 10)
    other_x, other_y = other_x / length, other_y / length
    share = weight / (np.hypot(x, y) + np.float32(1e-3))
    x, y = x * share, y * share
    total = _summed(weight) + np.float32(1e-3)
    best: Field = np.full_like(total, -1)
    for shift in ((down, across) for down in (-1, 0, 1) for across in (-1, 0, 1)):
        moved_x, moved_y = np.roll(other_x, shift, (0, 1)), np.roll(other_y, shift, (0, 1))
        best = np.maximum(best, _summed(x * moved_x + y * moved_y) / total)
    return best


def _summed(values: Field) -> Field:
    """The sum of each window around a pixel."""
    cv2 = opencv()
    found: Field = cv2.boxFilter(
        np.ascontiguousarray(values, np.float32), -1, (_WINDOW, _WINDOW), normalize=False
    )
    return found


def _on_grid(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The windows that are looked at: they overlap by half."""
    step = _WINDOW // 2
    return values[
        step : values.shape[0] - step + 1 : step, step : values.shape[1] - step + 1 : step
    ]
