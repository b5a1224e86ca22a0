"""Materials, light, lens and camera effects that turn flat drawings into photographs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageFilter

Pixels = NDArray[np.float32]
RGB = tuple[int, int, int]
Corner = tuple[float, float]
Quad = tuple[Corner, Corner, Corner, Corner]


def to_pixels(image: Image.Image) -> Pixels:
    """RGB values 0-255, shape (height, width, 3)."""
    return np.asarray(image.convert("RGB"), dtype=np.float32)


def to_image(pixels: Pixels) -> Image.Image:
    return Image.fromarray(np.clip(pixels, 0, 255).round().astype(np.uint8), "RGB")


def smooth_noise(width: int, height: int, cell: float, rng: np.random.Generator) -> Pixels:
    """Smooth noise of about unit range around 0, shape (height, width)."""
    grid = (max(2, int(width / cell) + 2), max(2, int(height / cell) + 2))
    coarse = rng.normal(0, 0.4, (grid[1], grid[0])).astype(np.float32)
    image = Image.fromarray(coarse, "F").resize((width, height), Image.Resampling.BICUBIC)
    return np.asarray(image, dtype=np.float32)


def cloud_noise(width: int, height: int, cell: float, rng: np.random.Generator) -> Pixels:
    """Four octaves of smooth noise, shape (height, width)."""
    total = np.zeros((height, width), np.float32)
    for octave in range(4):
        total += smooth_noise(width, height, max(2.0, cell / 2**octave), rng) / 1.8**octave
    return total


def flat(width: int, height: int, color: RGB) -> Pixels:
    return np.full((height, width, 3), color, np.float32)


def grain(pixels: Pixels, amount: float, cell: float, rng: np.random.Generator) -> Pixels:
    """Add smooth brightness variation of about ``amount`` grey levels."""
    height, width = pixels.shape[:2]
    return pixels + amount * cloud_noise(width, height, cell, rng)[..., None]


def plaster(width: int, height: int, color: RGB, rng: np.random.Generator) -> Image.Image:
    pixels = grain(flat(width, height, color), 9, width / 3, rng)
    pixels += rng.normal(0, 2.5, (height, width, 1)).astype(np.float32)
    streaks = smooth_noise(width, 4, 14, rng).mean(axis=0)
    pixels += (5 * streaks[None, :, None]) * np.linspace(1, 0, height)[:, None, None]
    return to_image(pixels.astype(np.float32))


def brick(
    width: int,
    height: int,
    color: RGB,
    rng: np.random.Generator,
    size: tuple[int, int] = (34, 12),
    mortar: RGB = (178, 168, 156),
) -> Image.Image:
    """A running-bond brick wall; ``size`` is one brick with its joint, in pixels."""
    across, down = size
    pixels = flat(width, height, mortar)
    for row, y in enumerate(range(0, height, down)):
        for x in range(-(row % 2) * across // 2, width, across):
            shade = rng.normal(0, 11)
            tint = np.array(color) + shade + rng.normal(0, 4, 3)
            pixels[y : y + down - 2, max(0, x) : max(0, x + across - 2)] = tint
    pixels = grain(pixels, 7, width / 4, rng)
    pixels += rng.normal(0, 3, (height, width, 1)).astype(np.float32)
    return to_image(pixels)


def planks(
    width: int, height: int, color: RGB, rng: np.random.Generator, board: int = 150
) -> Image.Image:
    """A table top of horizontal boards with wood grain."""
    pixels = flat(width, height, color)
    fibres = np.stack([smooth_noise(width, height, cell, rng) for cell in (3, 9)], axis=0).mean(
        axis=0
    )
    stretched = Image.fromarray(fibres.astype(np.float32)).resize(
        (width * 14, height), Image.Resampling.BICUBIC
    )
    wave = np.asarray(stretched, dtype=np.float32)[:, :width]
    pixels += 26 * wave[..., None]
    for y in range(0, height, board):
        pixels[y : y + board] += rng.normal(0, 7)
        pixels[y : y + 3] *= 0.55
    pixels[..., 2] *= 0.97
    return to_image(pixels)


def gradient(width: int, height: int, top: RGB, bottom: RGB) -> Image.Image:
    mix = np.linspace(0, 1, height, dtype=np.float32)[:, None, None]
    pixels = np.array(top, np.float32) * (1 - mix) + np.array(bottom, np.float32) * mix
    return to_image(np.broadcast_to(pixels, (height, width, 3)).astype(np.float32))


def shade(image: Image.Image, factor: float | Pixels) -> Image.Image:
    """Multiply the colours of an RGBA image, keeping its transparency."""
    scale = factor if isinstance(factor, float) else factor[..., None]
    lit = to_image((to_pixels(image) * scale).astype(np.float32)).convert("RGBA")
    lit.putalpha(image.convert("RGBA").getchannel("A"))
    return lit


def haze(image: Image.Image, color: RGB, amount: float) -> Image.Image:
    """Mix ``amount`` (0-1) of ``color`` into an RGBA image, keeping its transparency."""
    mixed = Image.blend(image.convert("RGB"), Image.new("RGB", image.size, color), amount)
    result = mixed.convert("RGBA")
    result.putalpha(image.convert("RGBA").getchannel("A"))
    return result


def homography(source: Quad, target: Quad) -> tuple[float, ...]:
    """The 8 coefficients that take points of ``target`` back to ``source`` (PIL's order)."""
    rows: list[list[float]] = []
    values: list[float] = []
    for (x, y), (u, v) in zip(source, target, strict=True):
        rows.append([u, v, 1, 0, 0, 0, -x * u, -x * v])
        rows.append([0, 0, 0, u, v, 1, -y * u, -y * v])
        values += [x, y]
    solved = np.linalg.solve(np.array(rows, float), np.array(values, float))
    return tuple(float(c) for c in solved)


def _distance(a: Corner, b: Corner) -> float:
    return float(np.hypot(a[0] - b[0], a[1] - b[1]))


def warp_onto(canvas: Image.Image, texture: Image.Image, quad: Quad) -> None:
    """Lay ``texture`` on the RGBA ``canvas`` so that its corners fall on ``quad``.

    Corners go clockwise from the top left one. Parts outside the canvas are cut.
    """
    left = max(0, int(min(x for x, _ in quad)) - 1)
    top = max(0, int(min(y for _, y in quad)) - 1)
    right = min(canvas.width, int(max(x for x, _ in quad)) + 2)
    bottom = min(canvas.height, int(max(y for _, y in quad)) + 2)
    if right <= left or bottom <= top:
        return
    texture = _shrunk_for(texture, quad)
    # A clear rim keeps the edges of the laid texture smooth.
    framed = Image.new("RGBA", (texture.width + 4, texture.height + 4))
    framed.paste(texture, (2, 2))
    w, h = texture.size
    source: Quad = ((2, 2), (w + 2, 2), (w + 2, h + 2), (2, h + 2))
    a, b, c, d = ((x - left, y - top) for x, y in quad)
    warped = framed.transform(
        (right - left, bottom - top),
        Image.Transform.PERSPECTIVE,
        homography(source, (a, b, c, d)),
        Image.Resampling.BICUBIC,
    )
    canvas.alpha_composite(warped, (left, top))


def _shrunk_for(texture: Image.Image, quad: Quad) -> Image.Image:
    a, b, c, d = quad
    wide = max(_distance(a, b), _distance(d, c))
    high = max(_distance(a, d), _distance(b, c))
    width = min(texture.width, max(8, round(wide * 1.15)))
    height = min(texture.height, max(8, round(high * 1.15)))
    texture = texture.convert("RGBA")
    if (width, height) == texture.size:
        return texture
    return texture.resize((width, height), Image.Resampling.BOX)


def soft_shadow(
    canvas: Image.Image, quad: Quad, blur: float, strength: float, offset: Corner = (0, 0)
) -> None:
    """Darken ``canvas`` where a shape of corners ``quad`` throws its shadow."""
    mask = Image.new("RGBA", (8, 8), (0, 0, 0, round(255 * strength)))
    layer = Image.new("RGBA", canvas.size)
    a, b, c, d = ((x + offset[0], y + offset[1]) for x, y in quad)
    warp_onto(layer, mask, (a, b, c, d))
    canvas.alpha_composite(layer.filter(ImageFilter.GaussianBlur(blur)))


def bent(
    sheet: Image.Image, degrees: float, bow: float, light: float = 0.35, edge: float = 0.45
) -> Image.Image:
    """Wrap a flat RGBA sheet on an upright cylinder seen from the front.

    Args:
        sheet: the flat label.
        degrees: half of the angle that the sheet covers on the cylinder.
        bow: how far, in pixels, the middle hangs below the edges (camera above the cylinder).
        light: position of the highlight, -1 (left edge) to 1 (right edge).
        edge: brightness at the darkest edge, 0-1.
    """
    half = np.deg2rad(degrees)
    flat_w, flat_h = sheet.size
    radius = flat_w / (2 * half)
    out_w, out_h = round(2 * radius * np.sin(half)), round(flat_h + abs(bow))
    strips: list[tuple[tuple[int, int, int, int], tuple[float, ...]]] = []
    step = 6

    def place(u: float) -> tuple[float, float]:
        offset = (u - out_w / 2) / radius
        angle = np.arcsin(np.clip(offset, -1, 1))
        drop = bow * (np.cos(angle) - np.cos(half)) / (1 - np.cos(half))
        return flat_w / 2 + radius * angle, drop if bow > 0 else drop - bow

    for x in range(0, out_w, step):
        end = min(x + step, out_w)
        (sx0, dy0), (sx1, dy1) = place(x), place(end)
        corners = (sx0, -dy0, sx0, out_h - dy0, sx1, out_h - dy1, sx1, -dy1)
        strips.append(((x, 0, end, out_h), corners))
    out = sheet.transform((out_w, out_h), Image.Transform.MESH, strips, Image.Resampling.BICUBIC)
    u = np.linspace(-1, 1, out_w, dtype=np.float32) * np.sin(half)
    glow = np.exp(-(((u - light) / 0.4) ** 2))
    tone = (edge + (1 - edge) * np.sqrt(np.clip(1 - u**2, 0, 1)) + 0.1 * glow).astype(np.float32)
    return shade(out, np.broadcast_to(tone, (out_h, out_w)).astype(np.float32))


def lit_from(
    image: Image.Image, where: Corner, spread: float, low: float, high: float
) -> Image.Image:
    """Uneven light: brightest (``high``) at ``where`` (0-1 of width and height), else ``low``."""
    height, width = image.height, image.width
    y, x = np.mgrid[0:height, 0:width].astype(np.float32)
    away = np.hypot(x / width - where[0], (y / height - where[1]) * height / width)
    return shade(image, (low + (high - low) * np.exp(-((away / spread) ** 2))).astype(np.float32))


@dataclass(frozen=True)
class Lens:
    """How a finished drawing is photographed.

    Attributes:
        blur: Gaussian blur in pixels of the final image.
        noise: sensor noise, standard deviation in grey levels.
        vignette: darkening of the corners, 0-1.
        warmth: -1 (blue) to 1 (orange).
        contrast: 1 leaves the contrast as it is.
        motion: length of a horizontal motion blur in pixels, 0 for none.
    """

    blur: float = 0.5
    noise: float = 3.0
    vignette: float = 0.25
    warmth: float = 0.0
    contrast: float = 1.0
    motion: int = 0


def photograph(
    image: Image.Image, size: tuple[int, int], lens: Lens, rng: np.random.Generator
) -> Image.Image:
    """Reduce a drawing to ``size`` and give it the faults of a photograph; returns RGB."""
    photo = image.convert("RGB").resize(size, Image.Resampling.LANCZOS)
    if lens.motion > 1:
        photo = _motion_blur(photo, lens.motion)
    photo = photo.filter(ImageFilter.GaussianBlur(lens.blur))
    pixels = to_pixels(photo)
    pixels = (pixels - 128) * lens.contrast + 128
    pixels *= np.array([1 + 0.09 * lens.warmth, 1.0, 1 - 0.11 * lens.warmth], np.float32)
    y, x = np.mgrid[-1 : 1 : size[1] * 1j, -1 : 1 : size[0] * 1j].astype(np.float32)
    pixels *= (1 - lens.vignette * ((x**2 + y**2) / 2) ** 1.3)[..., None]
    fine = rng.normal(0, lens.noise, (size[1], size[0], 1)) + rng.normal(
        0, lens.noise / 3, (size[1], size[0], 3)
    )
    soft = Image.fromarray(np.clip(fine.mean(axis=2) * 8 + 128, 0, 255).astype(np.uint8), "L")
    coarse = np.asarray(soft.filter(ImageFilter.GaussianBlur(0.7)), np.float32) - 128
    return to_image((pixels + coarse[..., None] / 8 * 1.6).astype(np.float32))


def _motion_blur(image: Image.Image, length: int) -> Image.Image:
    pixels = to_pixels(image)
    shifts = range(-(length // 2), length - length // 2)
    return to_image(np.mean([np.roll(pixels, s, axis=1) for s in shifts], axis=0, dtype=np.float32))


def crumpled(
    image: Image.Image, rng: np.random.Generator, cell: float, shift: float, relief: float
) -> Image.Image:
    """Give a flat RGBA sheet the soft folds of a bag.

    Args:
        image: the printed side of the bag.
        rng: source of the folds.
        cell: size of the largest fold in pixels.
        shift: how far, in pixels, folds move the print.
        relief: how strongly folds catch the light.
    """
    width, height = image.size
    folds = cloud_noise(width, height, cell, rng)
    step = 24
    mesh: list[tuple[tuple[int, int, int, int], tuple[float, ...]]] = []
    dx, dy = (shift * smooth_noise(width + 1, height + 1, cell, rng) for _ in range(2))

    def moved(x: int, y: int) -> tuple[float, float]:
        return x + float(dx[y, x]), y + float(dy[y, x])

    for y in range(0, height, step):
        for x in range(0, width, step):
            right, bottom = min(x + step, width), min(y + step, height)
            corners = (*moved(x, y), *moved(x, bottom), *moved(right, bottom), *moved(right, y))
            mesh.append(((x, y, right, bottom), corners))
    out = image.transform((width, height), Image.Transform.MESH, mesh, Image.Resampling.BICUBIC)
    slope = np.gradient(folds, axis=1) + 0.6 * np.gradient(folds, axis=0)
    slope = slope / (np.abs(slope).max() + 1e-6)
    return shade(out, (1 + relief * slope).astype(np.float32))


def rotated_quad(center: Corner, width: float, height: float, degrees: float, tilt: float) -> Quad:
    """Corners of a sheet lying on a table.

    Args:
        center: of the sheet, in pixels.
        width: of the sheet at its middle, in pixels.
        height: of the sheet, in pixels.
        degrees: rotation, clockwise.
        tilt: share of the width by which the far (upper) edge is shorter and the near one longer.
    """
    angle = np.deg2rad(degrees)
    cos, sin = float(np.cos(angle)), float(np.sin(angle))

    def at(u: float, v: float) -> Corner:
        x = u * width / 2 * (1 + tilt * v)
        y = v * height / 2
        return center[0] + x * cos - y * sin, center[1] + x * sin + y * cos

    return at(-1, -1), at(1, -1), at(1, 1), at(-1, 1)
