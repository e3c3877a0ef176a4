"""Pictures of pixels: frames drawn by Pillow, films as GIF, as PNG files, and as MP4 by ffmpeg. Needs the
extras `view` and `film`."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from strut.errors import StorageError, UnknownNameError, ValueRangeError, did_you_mean
from strut.extras import optional_module
from strut.files import write_whole
from strut.simulate.scene_samples import SceneSamples
from strut.view.motion.flat import PAPER, SOFT, VIEW_ANGLES, Eye, FlatFigure, Look, eye, frame, window
from strut.view.motion.frames import require_frames

if TYPE_CHECKING:
    from PIL.Image import Image

    from strut.simulate.trajectory import Trajectory

OVERSAMPLING = 2
"""Factor by which pixels are drawn finer before they are averaged."""


def picture(
    figures: Iterable[FlatFigure], box: tuple[np.ndarray, np.ndarray], width: int, height: int | None = None
) -> Image:
    """Figures as an image, of what lies in `box`."""
    image_module, draw_module = _pillow()
    low, high = box
    scale = OVERSAMPLING * width / float(high[0] - low[0])
    size = (
        OVERSAMPLING * width,
        OVERSAMPLING * (height or round(float(high[1] - low[1]) * scale / OVERSAMPLING)),
    )
    image = image_module.new("RGB", size, PAPER)
    solid, blended = draw_module.Draw(image), draw_module.Draw(image, "RGBA")
    for f in figures:
        places = np.column_stack([f.points[:, 0] - low[0], high[1] - f.points[:, 1]]) * scale
        pen = solid if f.opacity >= 1 else blended
        points = [(float(u), float(v)) for u, v in np.clip(places, -1e4, 1e4)]
        thick = max(1, round(f.width * OVERSAMPLING))
        if f.fill and len(points) > 2:
            pen.polygon(points, fill=_rgba(f.fill, f.opacity))
        if f.edge and len(points) > 1:
            pen.line(
                points + (points[:1] if f.fill else []),
                fill=_rgba(f.edge, f.opacity),
                width=thick,
                joint="curve",
            )
    return image.reduce(OVERSAMPLING)


def gif(trajectory: Trajectory, path: Path, fps: float = 25.0, **options: Any) -> Path:
    """A film as GIF. Its times are whole hundredths of a second, so that 25, 20 or 50 frames a second are
    kept exactly."""
    rate = 100 / max(2, round(100 / fps))
    images = [image.quantize(64, method=2, dither=0) for image in shots(trajectory, fps=rate, **options)]
    again = {"save_all": True, "append_images": images[1:], "duration": round(1000 / rate), "loop": 0}
    return write_whole(path, lambda scratch: images[0].save(scratch, format="GIF", **again))


def mp4(trajectory: Trajectory, path: Path, fps: float = 30.0, **options: Any) -> Path:
    """A film as MP4 (H.264), which every browser and slide program plays."""
    imageio_ffmpeg = optional_module("imageio_ffmpeg", "an MP4")
    images = shots(trajectory, fps=fps, **options)
    first = next(images)

    def write(scratch: Path) -> None:
        with tempfile.TemporaryDirectory() as directory:
            film = Path(directory) / "film.mp4"
            out = imageio_ffmpeg.write_frames(str(film), first.size, fps=fps, macro_block_size=2, quality=7)
            try:
                out.send(None)
                out.send(np.asarray(first).tobytes())
                for image in images:
                    out.send(np.asarray(image).tobytes())
            except (OSError, subprocess.SubprocessError) as error:
                raise StorageError(f"cannot write {path}: ffmpeg stopped ({error})") from error
            finally:
                out.close()
            scratch.write_bytes(film.read_bytes())

    return write_whole(path, write)


def frames(trajectory: Trajectory, path: Path, fps: float = 30.0, **options: Any) -> list[Path]:
    """A file per frame: in the name, %d or %04d becomes the number, from 0 on."""
    try:
        names = [path.name % 0, path.name % 1]
    except (TypeError, ValueError):
        names = ["", ""]
    if names[0] == names[1] or "/" in names[0]:
        raise StorageError(
            f"frames need a number in their name: write '{path.stem}%04d.png', not '{path.name}'"
        )

    def save_shot(k: int, image: Image) -> Path:
        return write_whole(path.with_name(path.name % k), lambda scratch: image.save(scratch, format="PNG"))

    return [save_shot(k, image) for k, image in enumerate(shots(trajectory, fps=fps, **options))]


def shots(  # noqa: PLR0913 as many as a film has options
    trajectory: Trajectory,
    *,
    fps: float,
    width: int = 640,
    height: int = 400,
    speed: float = 1.0,
    ghosts: int = 0,
    title: str | None = None,
    look: Look | None = None,
    view: str = "",
    progress: Callable[[float], None] | None = None,
) -> Iterator[Image]:
    """The frames of a film, one after the other. view: where one looks from, see `flat.VIEW_ANGLES`.
    progress: called with the fraction of them that are drawn."""
    _pillow()
    if view and view not in VIEW_ANGLES:
        raise UnknownNameError(f"a film has no view '{view}': {did_you_mean(view, list(VIEW_ANGLES))}")
    if not (0 < fps <= 240 and speed > 0 and 16 <= width <= 8192 and 16 <= height <= 8192):
        raise ValueRangeError(
            f"a film of {width} x {height} pixels, {fps:g} frames a second and speed {speed:g} cannot be made"
        )
    stage = require_frames(trajectory)
    look, seen = look or Look(ghosts=ghosts), eye(stage, view)
    count = max(1, round((stage.t[-1] - stage.t[0]) / speed * fps))
    times = stage.t[0] + np.arange(count + 1) * speed / fps
    words = ("" if trajectory.dimensionless else " s") + (f"   {title}" if title else "")
    chosen = np.searchsorted(stage.t, times + 1e-9, side="right") - 1
    size = (width - width % 2, height - height % 2)

    def draw_all() -> Iterator[Image]:
        for n, k in enumerate(np.clip(chosen, 0, len(stage.t) - 1)):
            if progress is not None:
                progress(n / len(chosen))
            yield _shot(stage, int(k), look, seen, size=size, title=words)

    return draw_all()


def _shot(stage: SceneSamples, k: int, look: Look, seen: Eye, *, size: tuple[int, int], title: str) -> Image:
    """Draw frame k, seen from somewhere. size: width and height [px]. title: what stands above it after the
    time."""
    width, height = size
    low, high = box = window(stage, k, width / height, seen)
    image = picture(frame(stage, k, look, seen, (float(low[0]), float(high[0]))), box, width, height)
    _, draw_module = _pillow()
    words = f"{stage.t[k]:.2f}{title}"
    draw_module.Draw(image).text((10, 8), words, fill=SOFT, font=_font(max(10, height // 26)))
    return image


def _font(size: int) -> Any:
    """Pillow's own, in a size that can be read where Pillow can scale it."""
    ImageFont = optional_module("PIL.ImageFont", "a picture of pixels")
    try:
        return ImageFont.load_default(size)
    except (TypeError, OSError, ImportError):
        return ImageFont.load_default()


def _rgba(shade: str, opacity: float) -> tuple[int, int, int, int]:
    red, green, blue = (int(shade[k : k + 2], 16) for k in (1, 3, 5))
    return red, green, blue, round(255 * opacity)


def _pillow() -> tuple[Any, Any]:
    purpose = "a picture of pixels"
    return optional_module("PIL.Image", purpose), optional_module("PIL.ImageDraw", purpose)
