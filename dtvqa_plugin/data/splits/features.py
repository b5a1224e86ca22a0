"""The image column of `load_split`: decoded lazily, always upright RGB, errors name the file."""

from __future__ import annotations

import io
from collections.abc import Mapping
from typing import Any

import datasets
from PIL import Image

from dtvqa_plugin.utils.images import load_rgb


class RGBImage(datasets.Image):  # type: ignore[misc]  # datasets ships no types
    """`datasets.Image` whose decoding is `load_rgb`; stored and saved as the plain feature."""

    def decode_example(
        self, value: Any, token_per_repo_id: Mapping[str, Any] | None = None
    ) -> Image.Image:
        """Decode one ``{"path", "bytes"}`` cell. Raises `DataError` naming the file."""
        if isinstance(value, Mapping):
            content, path = value.get("bytes"), value.get("path")
            if content is not None:
                return load_rgb(Image.open(io.BytesIO(content)))
            if path is not None:
                return load_rgb(path)
        elif isinstance(value, Image.Image):
            return load_rgb(value)
        decoded: Image.Image = super().decode_example(value, token_per_repo_id)
        return decoded
