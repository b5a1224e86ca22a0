"""The fonts the sample is drawn with: where they come from and how they are found."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from PIL import ImageFont

Font = ImageFont.FreeTypeFont


class Package(NamedTuple):
    """A Debian package of fonts: what it is called and the licence of its fonts."""

    name: str
    family: str
    licence: str


PACKAGES: tuple[Package, ...] = (
    Package("fonts-bebas-neue", "Bebas Neue", "OFL-1.1"),
    Package("fonts-cabin", "Cabin", "OFL-1.1"),
    Package("fonts-dejavu-core", "DejaVu", "Bitstream Vera / public domain"),
    Package("fonts-ebgaramond", "EB Garamond", "OFL-1.1"),
    Package("fonts-hack-ttf", "Hack", "MIT / Bitstream Vera"),
    Package("fonts-lato", "Lato", "OFL-1.1"),
    Package("fonts-liberation2", "Liberation", "OFL-1.1"),
    Package("fonts-lobster", "Lobster", "OFL-1.1"),
    Package("fonts-lxgw-wenkai", "LXGW WenKai", "OFL-1.1"),
    Package("fonts-noto-cjk", "Noto Sans CJK and Noto Serif CJK", "OFL-1.1"),
    Package("fonts-open-sans", "Open Sans", "Apache-2.0"),
    Package("fonts-roboto-slab", "Roboto Slab", "Apache-2.0"),
    Package("fonts-roboto-unhinted", "Roboto and Roboto Condensed", "Apache-2.0"),
    Package("fonts-smiley-sans", "Smiley Sans", "OFL-1.1"),
    Package("fonts-yanone-kaffeesatz", "Yanone Kaffeesatz", "OFL-1.1"),
)


@dataclass(frozen=True)
class Face:
    """One font file, its index inside a collection, and the package that holds it."""

    file: str
    package: str
    index: int = 0


_SIMPLIFIED_CHINESE = 2

FACES: dict[str, Face] = {
    "bebas": Face("BebasNeue-Bold.otf", "fonts-bebas-neue"),
    "cabin": Face("Cabin-Regular.otf", "fonts-cabin"),
    "cabin-bold": Face("Cabin-Bold.otf", "fonts-cabin"),
    "dejavu": Face("DejaVuSans.ttf", "fonts-dejavu-core"),
    "dejavu-bold": Face("DejaVuSans-Bold.ttf", "fonts-dejavu-core"),
    "garamond": Face("EBGaramond12-Regular.otf", "fonts-ebgaramond"),
    "garamond-bold": Face("EBGaramond12-Bold.otf", "fonts-ebgaramond"),
    "garamond-italic": Face("EBGaramond12-Italic.otf", "fonts-ebgaramond"),
    "hack": Face("Hack-Regular.ttf", "fonts-hack-ttf"),
    "hack-bold": Face("Hack-Bold.ttf", "fonts-hack-ttf"),
    "lato": Face("Lato-Regular.ttf", "fonts-lato"),
    "lato-bold": Face("Lato-Bold.ttf", "fonts-lato"),
    "lato-black": Face("Lato-Black.ttf", "fonts-lato"),
    "sans": Face("LiberationSans-Regular.ttf", "fonts-liberation2"),
    "sans-bold": Face("LiberationSans-Bold.ttf", "fonts-liberation2"),
    "sans-italic": Face("LiberationSans-Italic.ttf", "fonts-liberation2"),
    "serif": Face("LiberationSerif-Regular.ttf", "fonts-liberation2"),
    "serif-bold": Face("LiberationSerif-Bold.ttf", "fonts-liberation2"),
    "serif-italic": Face("LiberationSerif-Italic.ttf", "fonts-liberation2"),
    "lobster": Face("lobster.otf", "fonts-lobster"),
    "kai": Face("LXGWWenKai-Regular.ttf", "fonts-lxgw-wenkai"),
    "kai-bold": Face("LXGWWenKai-Bold.ttf", "fonts-lxgw-wenkai"),
    "hei": Face("NotoSansCJK-Regular.ttc", "fonts-noto-cjk", _SIMPLIFIED_CHINESE),
    "hei-bold": Face("NotoSansCJK-Bold.ttc", "fonts-noto-cjk", _SIMPLIFIED_CHINESE),
    "song": Face("NotoSerifCJK-Regular.ttc", "fonts-noto-cjk", _SIMPLIFIED_CHINESE),
    "song-bold": Face("NotoSerifCJK-Bold.ttc", "fonts-noto-cjk", _SIMPLIFIED_CHINESE),
    "open": Face("OpenSans-Regular.ttf", "fonts-open-sans"),
    "open-semibold": Face("OpenSans-Semibold.ttf", "fonts-open-sans"),
    "open-bold": Face("OpenSans-Bold.ttf", "fonts-open-sans"),
    "open-condensed": Face("OpenSans-CondBold.ttf", "fonts-open-sans"),
    "slab": Face("RobotoSlab-Regular.otf", "fonts-roboto-slab"),
    "slab-bold": Face("RobotoSlab-Bold.otf", "fonts-roboto-slab"),
    "roboto": Face("Roboto-Regular.ttf", "fonts-roboto-unhinted"),
    "roboto-medium": Face("Roboto-Medium.ttf", "fonts-roboto-unhinted"),
    "roboto-bold": Face("Roboto-Bold.ttf", "fonts-roboto-unhinted"),
    "roboto-black": Face("Roboto-Black.ttf", "fonts-roboto-unhinted"),
    "condensed": Face("RobotoCondensed-Regular.ttf", "fonts-roboto-unhinted"),
    "condensed-bold": Face("RobotoCondensed-Bold.ttf", "fonts-roboto-unhinted"),
    "smiley": Face("SmileySans-Oblique.ttf", "fonts-smiley-sans"),
    "kaffeesatz": Face("YanoneKaffeesatz-Regular.otf", "fonts-yanone-kaffeesatz"),
    "kaffeesatz-bold": Face("YanoneKaffeesatz-Bold.otf", "fonts-yanone-kaffeesatz"),
}


class MissingFontsError(Exception):
    """Fonts the sample needs are not installed; the message names the packages."""


@dataclass
class FontBook:
    """Loads the sample's faces from the font files below ``root``.

    Raises:
        MissingFontsError: one or more font files are not below ``root``.
    """

    root: Path
    _files: dict[str, Path] = field(init=False)
    _loaded: dict[tuple[str, int], Font] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        wanted = {face.file for face in FACES.values()}
        self._files = {p.name: p for p in sorted(self.root.rglob("*")) if p.name in wanted}
        missing = sorted({f.package for f in FACES.values() if f.file not in self._files})
        if missing:
            raise MissingFontsError(
                f"no font files of {', '.join(missing)} below {self.root}. "
                f"On Debian or Ubuntu: apt-get install {' '.join(missing)}; "
                "elsewhere install these fonts and pass their folder with --fonts."
            )

    def __call__(self, name: str, size: float) -> Font:
        """Return the face ``name`` at ``size`` pixels (rounded)."""
        key = (name, round(size))
        if key not in self._loaded:
            face = FACES[name]
            # Raqm depends on a system library: the basic layout draws alike everywhere.
            self._loaded[key] = ImageFont.truetype(
                str(self._files[face.file]),
                key[1],
                index=face.index,
                layout_engine=ImageFont.Layout.BASIC,
            )
        return self._loaded[key]
