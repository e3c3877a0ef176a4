"""A moving picture of a planar machine: its points, by the outputs NAME_x and NAME_z, and what plays them in a page.

Points are joined in the order of the outputs. Points called foot... leave a trace, which stands for the ground.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from strut.view.plots import PALETTE, planar_points

if TYPE_CHECKING:
    from strut.simulate.trajectory import Trajectory

RATE = 30
"""Frames per second."""

MOST_FRAMES = 3000
"""A longer run has fewer frames per second, not a larger page."""


def film(trajectory: Trajectory) -> dict[str, Any] | None:
    """Frames, camera and scale for `PLAYER`; nothing for a run without points, or loaded without its system."""
    names = planar_points(trajectory.names.outputs)
    if not names or trajectory.model is None:
        return None
    frames = int(np.clip(math.ceil((trajectory.t1 - trajectory.t0) * RATE), 0, MOST_FRAMES))
    t = np.linspace(trajectory.t0, trajectory.t1, frames + 1)
    moments = trajectory.at(t)
    places = np.array([[moments[label] for label in pair] for pair in names.values()])  # point, coordinate, frame
    whole = np.isfinite(places).all(axis=(0, 1))
    t, places = t[whole], places[:, :, whole]
    if not len(t):
        return None
    camera, window = _camera(t, places)
    still = bool((camera == camera[:, :1]).all())
    return {
        "t": _short(t),
        "camera": [_short(c) for c in camera],
        "still": still,
        "window": _short(window),
        "tick": _tick(float(window.max())),
        "points": [
            {
                "name": name,
                "x": _short(x),
                "z": _short(z),
                "ground": name.split(".")[-1].startswith("foot"),
                "color": PALETTE[k % len(PALETTE)],
            }
            for k, (name, (x, z)) in enumerate(zip(names, places, strict=True))
        ],
    }


def _camera(t: np.ndarray, places: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Where to look in every frame, and how much to see: all of the motion if it stays near, or else along with it."""
    machine = float(np.ptp(places, axis=0).max())  # its size, in its widest frame
    low, high = places.min(axis=(0, 2)), places.max(axis=(0, 2))
    if machine == 0 or (high - low).max() < 3 * machine:
        size = 1.2 * (high - low)
        least = 0.2 * size.max() or 1.0
        return np.repeat((low + high)[:, None] / 2, len(t), axis=1), np.maximum(size, least)
    centre = (places.min(axis=0) + places.max(axis=0)) / 2
    width = int(min(RATE, len(t)))  # a second: smooth over the change of feet
    padded = np.pad(centre, ((0, 0), (width // 2, width - 1 - width // 2)), mode="edge")
    return np.array([np.convolve(c, np.full(width, 1 / width), mode="valid") for c in padded]), np.full(2, 1.6 * machine)


def _tick(window: float) -> float:
    """A round distance, a few of which fit in the window."""
    power = 10.0 ** math.floor(math.log10(window / 2))
    return float(max(m for m in (1, 2, 5) if m * power <= window / 2) * power)


def _short(values: np.ndarray) -> list[float]:
    return [float(f"{v:.6g}") for v in values]


PLAYER = """
(() => {
  const holder = document.getElementById("film");
  if (!holder) return;
  const film = JSON.parse(holder.textContent), t = film.t, last = t.length - 1;
  const canvas = document.getElementById("screen"), pen = canvas.getContext("2d");
  const button = document.getElementById("play"), slider = document.getElementById("frame"), clock = document.getElementById("clock");
  let playing = false, now = t[0], before = 0;

  const frameAt = time => {
    let low = 0, high = last;
    while (low < high) { const middle = (low + high + 1) >> 1; if (t[middle] <= time) low = middle; else high = middle - 1; }
    return low;
  };
  const draw = () => {
    const style = getComputedStyle(document.documentElement), color = name => style.getPropertyValue(name).trim();
    const ratio = window.devicePixelRatio || 1, width = canvas.clientWidth, height = canvas.clientHeight;
    canvas.width = width * ratio; canvas.height = height * ratio;
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    const k = frameAt(now), cx = film.camera[0][k], cz = film.camera[1][k];
    const scale = Math.min(width / film.window[0], height / film.window[1]);
    const X = x => width / 2 + (x - cx) * scale, Z = z => height / 2 - (z - cz) * scale;
    const line = (xs, zs, from, to, stroke, thick) => {
      pen.beginPath(); pen.strokeStyle = stroke; pen.lineWidth = thick; pen.lineJoin = "round";
      for (let i = from; i <= to; i++) pen.lineTo(X(xs[i]), Z(zs[i]));
      pen.stroke();
    };
    pen.font = "12px system-ui, sans-serif"; pen.textAlign = "center"; pen.lineCap = "round";
    for (let n = Math.ceil((cx - width / 2 / scale) / film.tick); n * film.tick <= cx + width / 2 / scale; n++) {
      const x = X(n * film.tick);
      pen.beginPath(); pen.strokeStyle = color("--line"); pen.lineWidth = 1; pen.moveTo(x, 0); pen.lineTo(x, height - 20); pen.stroke();
      pen.fillStyle = color("--soft"); pen.fillText(Number((n * film.tick).toPrecision(6)), x, height - 6);
    }
    for (const p of film.points) {
      if (p.ground) line(p.x, p.z, 0, last, color("--soft"), 2);
      else line(p.x, p.z, film.still ? 0 : frameAt(now - 2), film.still ? last : k, p.color + "80", 1.5);
    }
    line(film.points.map(p => p.x[k]), film.points.map(p => p.z[k]), 0, film.points.length - 1, color("--ink"), 3);
    for (const p of film.points) {
      pen.beginPath(); pen.fillStyle = p.color; pen.arc(X(p.x[k]), Z(p.z[k]), 6, 0, 2 * Math.PI); pen.fill();
    }
    slider.value = k; clock.textContent = t[k].toFixed(2) + " s";
  };
  const tell = () => { button.textContent = playing ? "Pause" : "Play"; };
  const tick = stamp => {
    if (!playing) return;
    now += before ? (stamp - before) / 1000 : 0; before = stamp;
    if (now >= t[last]) { now = t[last]; playing = false; tell(); }
    draw();
    requestAnimationFrame(tick);
  };
  button.onclick = () => {
    playing = !playing; before = 0;
    if (playing && now >= t[last]) now = t[0];
    tell(); requestAnimationFrame(tick);
  };
  slider.max = last;
  slider.oninput = () => { playing = false; tell(); now = t[+slider.value]; draw(); };
  addEventListener("resize", draw);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
  draw();
})();
"""
