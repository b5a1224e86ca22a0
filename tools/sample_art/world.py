"""A small pinhole camera: flat sheets are set up in a street and photographed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from . import effects
from .effects import RGB, Pixels, Quad
from .sheet import Sheet

Place = tuple[float, float, float]
Array = NDArray[np.float32]


@dataclass(frozen=True)
class Camera:
    """A camera in a world of metres: x to the right, y up, z ahead.

    Attributes:
        width: of the picture in pixels.
        height: of the picture in pixels.
        focal: focal length in pixels.
        at: where the camera stands.
        yaw: degrees turned to the right.
        pitch: degrees raised.
        roll: degrees the picture is tilted clockwise.
    """

    width: int
    height: int
    focal: float
    at: Place = (0.0, 1.65, 0.0)
    yaw: float = 0.0
    pitch: float = 0.0
    roll: float = 0.0

    def _turn(self) -> NDArray[np.float64]:
        yaw, pitch, roll = np.deg2rad([self.yaw, self.pitch, self.roll])
        around_y = np.array(
            [[np.cos(yaw), 0, -np.sin(yaw)], [0, 1, 0], [np.sin(yaw), 0, np.cos(yaw)]]
        )
        around_x = np.array(
            [[1, 0, 0], [0, np.cos(pitch), -np.sin(pitch)], [0, np.sin(pitch), np.cos(pitch)]]
        )
        around_z = np.array(
            [[np.cos(roll), np.sin(roll), 0], [-np.sin(roll), np.cos(roll), 0], [0, 0, 1]]
        )
        turned: NDArray[np.float64] = around_z @ around_x @ around_y
        return turned

    def see(self, place: Place) -> tuple[float, float, float]:
        """Pixel (u, v) of a place and its depth in metres.

        Raises:
            ValueError: the place is behind the camera.
        """
        x, y, z = self._turn() @ (np.array(place) - np.array(self.at))
        if z <= 0.05:
            raise ValueError(f"{place} is behind the camera")
        u = self.width / 2 + self.focal * x / z
        v = self.height / 2 - self.focal * y / z
        return float(u), float(v), float(z)

    def ground(self) -> tuple[Array, Array, Array]:
        """World x, z and distance seen by each pixel on the plane y = 0 (NaN: not on it)."""
        v, u = np.mgrid[0 : self.height, 0 : self.width].astype(np.float32)
        rays = np.stack(
            [
                (u - self.width / 2) / self.focal,
                -(v - self.height / 2) / self.focal,
                np.ones_like(u),
            ],
            axis=-1,
        ) @ self._turn().astype(np.float32)
        down = np.where(rays[..., 1] < -1e-4, rays[..., 1], np.nan)
        reach = -self.at[1] / down
        x = self.at[0] + rays[..., 0] * reach
        z = self.at[2] + rays[..., 2] * reach
        return x.astype(np.float32), z.astype(np.float32), reach.astype(np.float32)


@dataclass
class World:
    """The picture under way: things are placed from far to near.

    A ``mirrored`` world is what a wet road shows of the things above it. Sheets put with
    ``shine`` are drawn on ``glow`` too, for the halo of lamps and neon.
    """

    camera: Camera
    air: RGB = (206, 214, 222)
    clear: float = 140.0
    mirrored: bool = False
    picture: Sheet = field(init=False)
    glow: Sheet = field(init=False)

    def __post_init__(self) -> None:
        self.picture = Sheet(self.camera.width, self.camera.height, self.air)
        self.glow = Sheet(self.camera.width, self.camera.height)

    def backdrop(self, image: Image.Image) -> None:
        self.picture.replace(image.resize((self.camera.width, self.camera.height)))

    def paint_ground(self, material: Callable[[Array, Array], Pixels]) -> None:
        """Colour the ground; ``material`` maps world x and z to RGB, shape (..., 3)."""
        x, z, reach = self.camera.ground()
        seen = np.isfinite(reach) & (reach < 400)
        colors = material(x[seen], z[seen])
        fade = np.clip(reach[seen] / self.clear, 0, 1)[..., None] * 0.85
        pixels = effects.to_pixels(self.picture.image)
        pixels[seen] = colors * (1 - fade) + np.array(self.air, np.float32) * fade
        self.picture.replace(effects.to_image(pixels))

    def quad(self, corners: Sequence[Place]) -> tuple[Quad, float]:
        """Corners in the picture and their mean depth."""
        side = -1 if self.mirrored else 1
        a, b, c, d = (self.camera.see((x, side * y, z)) for x, y, z in corners)
        depth = (a[2] + b[2] + c[2] + d[2]) / 4
        return ((a[0], a[1]), (b[0], b[1]), (c[0], c[1]), (d[0], d[1])), depth

    def put(
        self,
        sheet: Sheet,
        corners: Sequence[Place],
        light: float = 1.0,
        *,
        read: bool = True,
        shine: bool = False,
    ) -> None:
        """Place a sheet, its corners clockwise from its top left one, under ``light``.

        ``read`` says whether its texts can be read in the picture.
        """
        quad, depth = self.quad(corners)
        lit = effects.shade(sheet.image, light) if light != 1.0 else sheet.image
        fade = min(0.8, depth / self.clear)
        if fade > 0.02:
            lit = effects.haze(lit, self.air, fade)
        effects.warp_onto(self.picture.image, lit, quad)
        if shine:
            effects.warp_onto(self.glow.image, lit, quad)
        if read:
            self.picture.texts.extend(sheet.texts)

    def stand(
        self,
        sheet: Sheet,
        start: tuple[float, float],
        end: tuple[float, float],
        low: float,
        high: float,
        light: float = 1.0,
        *,
        read: bool = True,
        shine: bool = False,
    ) -> None:
        """Stand a sheet upright on the ground line from ``start`` to ``end`` (x, z)."""
        (x0, z0), (x1, z1) = start, end
        corners = ((x0, high, z0), (x1, high, z1), (x1, low, z1), (x0, low, z0))
        self.put(sheet, corners, light, read=read, shine=shine)

    def post(
        self, x: float, z: float, high: float, wide: float, color: RGB, low: float = 0.0
    ) -> None:
        """A round post, lit from the left."""
        pixels = np.full((8, 24, 3), color, np.float32)
        tone = 1.15 - 0.7 * np.linspace(0, 1, 24, dtype=np.float32) ** 1.4
        sheet = Sheet(24, 8)
        sheet.replace(effects.to_image((pixels * tone[None, :, None]).astype(np.float32)))
        yaw = np.deg2rad(self.camera.yaw)
        dx, dz = wide / 2 * float(np.cos(yaw)), -wide / 2 * float(np.sin(yaw))
        self.stand(sheet, (x - dx, z - dz), (x + dx, z + dz), low, high, read=False)

    def board(
        self,
        sheet: Sheet,
        center: Place,
        wide: float,
        tall: float,
        facing: float = 0.0,
        light: float = 1.0,
        *,
        shine: bool = False,
    ) -> None:
        """A sign with its middle at ``center``.

        ``facing`` is in degrees: 0 faces a camera that looks along z, as the camera's own yaw
        faces that camera.
        """
        angle = np.deg2rad(-facing)
        dx, dz = wide / 2 * float(np.cos(angle)), wide / 2 * float(np.sin(angle))
        x, y, z = center
        self.stand(
            sheet,
            (x - dx, z - dz),
            (x + dx, z + dz),
            y - tall / 2,
            y + tall / 2,
            light,
            shine=shine,
        )

    def shadow(self, corners: Sequence[Place], blur: float, strength: float) -> None:
        """A soft shadow on the place that ``corners`` enclose."""
        quad, _ = self.quad(corners)
        effects.soft_shadow(self.picture.image, quad, blur, strength)


def sky(
    width: int, height: int, rng: np.random.Generator, top: RGB, bottom: RGB, clouds: float
) -> Image.Image:
    """A sky that fades to the horizon at mid height; ``clouds`` 0-1 says how much is covered."""
    base = effects.to_pixels(effects.gradient(width, height, top, bottom))
    field_ = effects.cloud_noise(width, height * 2, width / 3, rng)[::2][:height]
    cover = np.clip((field_ - 0.55 + clouds) * 1.6, 0, 1)[..., None]
    shadow = np.clip(field_ * 0.6, 0, 1)[..., None]
    cloud = np.array((250, 249, 247), np.float32) - 34 * shadow
    return effects.to_image((base * (1 - cover) + cloud * cover).astype(np.float32))


def sample(texture: Array, x: Array, z: Array, per_metre: float) -> Array:
    """Look up a square texture, repeated over the ground."""
    size = texture.shape[0]
    found: Array = texture[(z * per_metre).astype(int) % size, (x * per_metre).astype(int) % size]
    return found
