"""`svg`: a bond graph as it is drawn in books, with half arrows and causal strokes, and the power that flows
through it over time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from html import escape

import casadi as ca
import numpy as np

from strut.checks import checked
from strut.errors import ShapeError
from strut.ports.causality import Causality, causality
from strut.ports.elements import JUNCTIONS, Element, Kind
from strut.ports.graph import BondGraph
from strut.ports.layout import place_nodes
from strut.system import Param, known_symbol

PIXELS_PER_BOND = 105.0
"""[px] Between neighbours."""
PICTURE_MARGIN = 40.0
"""[px] Around the picture."""
CHARACTER_WIDTH = 7.2
"""[px] Of a character, about."""
ARROW_LENGTH = 9.0
"""[px] Length of a half arrow."""
HALF_STROKE = 7.0
"""[px] Half the length of a causal stroke."""
MAX_WIDTH = 9.0
"""[px] Of the line that the largest power makes."""
MAX_DASH_SPEED = 60.0
"""[px/s] The speed of dashes on a bond with the largest power."""
MAX_RADIUS = 26.0
"""[px] Of the disc of the largest energy."""
GRAPH_COLOUR, POWER_COLOUR, ENERGY_COLOUR = "#1c2b38", "#c2571a", "#8fc1e3"
"""Colours of the graph, of power and of stored energy."""


@checked
@dataclass(frozen=True, eq=False)
class PowerSamples:
    """What flows through a graph over time: times [s], evenly spaced; by bond, its power [W]; by storage, its
    energy [J], each an array over the times."""

    times: np.ndarray
    powers: Mapping[str, np.ndarray]
    energies: Mapping[str, np.ndarray]

    @property
    def duration(self) -> float:
        """[s]"""
        return float(self.times[-1] - self.times[0])


@checked
def svg(graph: BondGraph, samples: PowerSamples | None = None) -> str:
    """Draw a graph, as the text of an SVG file: half arrows say where power is counted to, causal strokes
    which end is told the effort, double lines are vectors. With samples it moves: lines as wide as the power,
    dashes that run where it goes, discs as large as what is stored. No script is needed."""
    assigned = causality(graph)
    names = list(graph.elements)
    index = {name: k for k, name in enumerate(names)}
    edges = [(index[b.tail[0]], index[b.head[0]]) for b in graph.bonds]
    places = PIXELS_PER_BOND * place_nodes(len(names), edges)
    halves = [_half_size(graph.elements[name]) for name in names]
    low = (places - halves).min(axis=0) - PICTURE_MARGIN
    high = (places + halves).max(axis=0) + PICTURE_MARGIN
    parts = []
    for name in names:
        if samples is not None and name in samples.energies:
            parts.append(_disc(places[index[name]], samples, name))
    for k, (tail, head) in enumerate(edges):
        ends = _trim_ends(places[tail], places[head], halves[tail], halves[head])
        if samples is not None and str(graph.bonds[k]) in samples.powers:
            parts.append(_flow(ends, samples, str(graph.bonds[k])))
        parts.append(_bond(ends, assigned, k))
    parts += [_label(graph.elements[name], places[index[name]]) for name in names]
    width, height = high - low
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" '
        f'viewBox="{low[0]:.1f} {low[1]:.1f} {width:.1f} {height:.1f}" '
        f'width="{width:.0f}" height="{height:.0f}" font-family="sans-serif" font-size="13">\n'
        f"<title>{escape(graph.name)}</title>\n" + "\n".join(parts) + "\n</svg>\n"
    )


def _caption(element: Element) -> tuple[str, str]:
    """What is written for an element: its letters, and its name below."""
    letters = element.kind.value if element.kind is not Kind.MACHINE else "system"
    return (f"M{letters}" if "ratio" in element.laws and _is_modulated(element) else letters), element.name


def _is_modulated(element: Element) -> bool:
    """Does a ratio depend on more than parameters?"""
    return any(not isinstance(known_symbol(s), Param) for s in ca.symvar(element.laws["ratio"]))


def _half_size(element: Element) -> tuple[float, float]:
    """Half the width and height of what is written [px]."""
    letters, name = _caption(element)
    longest = max(len(letters), len(name) if element.kind not in JUNCTIONS else 1)
    return max(12.0, CHARACTER_WIDTH * longest / 2 + 3), 12.0 if element.kind in JUNCTIONS else 18.0


def _label(element: Element, at: np.ndarray) -> str:
    letters, name = _caption(element)
    if element.kind in JUNCTIONS:
        return (
            f'<g text-anchor="middle" fill="{GRAPH_COLOUR}"><title>{escape(name)}</title>'
            f'<text x="{at[0]:.1f}" y="{at[1] + 5:.1f}" font-weight="bold" font-size="15">{letters}</text>'
            f"</g>"
        )
    return (
        f'<g text-anchor="middle" fill="{GRAPH_COLOUR}">'
        f'<text x="{at[0]:.1f}" y="{at[1] - 2:.1f}" font-weight="bold">'
        f'{escape(letters)}</text><text x="{at[0]:.1f}" y="{at[1] + 13:.1f}" font-size="11">'
        f"{escape(name)}</text></g>"
    )


def _trim_ends(
    tail: np.ndarray, head: np.ndarray, tail_half: tuple[float, float], head_half: tuple[float, float]
) -> tuple[np.ndarray, np.ndarray]:
    """A line between two labels, as far as it is outside of both."""
    along = head - tail
    length = float(np.linalg.norm(along)) or 1.0
    unit = along / length

    def reach(half: tuple[float, float]) -> float:
        sides = half[0] / max(abs(unit[0]), 1e-9), half[1] / max(abs(unit[1]), 1e-9)
        return float(min(sides)) + 3.0

    first, last = reach(tail_half), length - reach(head_half)
    if last < first + 4:  # labels that nearly touch
        first = last = length / 2
        first, last = first - 2, last + 2
    return tail + first * unit, tail + last * unit


def _bond(ends: tuple[np.ndarray, np.ndarray], assigned: Causality, k: int) -> str:
    """The line of a bond, its half arrow at the head, its stroke at the end that is told the effort."""
    start, end = ends
    unit = (end - start) / (float(np.linalg.norm(end - start)) or 1.0)
    across = np.array([-unit[1], unit[0]])
    barb = end - ARROW_LENGTH * unit - 0.6 * ARROW_LENGTH * across
    at = end if assigned.effort_to_head[k] else start
    a, b = at - HALF_STROKE * across, at + HALF_STROKE * across
    lines = [_line(start, end), _line(barb, end), _line(a, b, 2.2)]
    if assigned.wiring.sizes[k] > 1:
        lines.append(_line(start + 3 * across, end + 3 * across))
    power = escape(str(assigned.wiring.bonds[k]))
    return f"<g><title>{power}</title>{''.join(lines)}</g>"


def _line(a: np.ndarray, b: np.ndarray, width: float = 1.3) -> str:
    return (
        f'<line x1="{a[0]:.1f}" y1="{a[1]:.1f}" x2="{b[0]:.1f}" y2="{b[1]:.1f}" stroke="{GRAPH_COLOUR}" '
        f'stroke-width="{width}"/>'
    )


def _flow(ends: tuple[np.ndarray, np.ndarray], samples: PowerSamples, bond: str) -> str:
    """Dashes on a bond: as wide as its power, and running where it goes."""
    power = np.asarray(samples.powers[bond], dtype=float)
    if power.shape != samples.times.shape:
        raise ShapeError(
            f"bond {bond} has {power.size} powers: {samples.times.size} are needed, one for each time"
        )
    largest = max(float(np.abs(p).max()) for p in samples.powers.values()) or 1.0
    share = power / largest
    width = MAX_WIDTH * np.sqrt(np.abs(share))
    # a dash moves by the integral of its speed; towards the head the offset falls
    steps = np.diff(samples.times) * (share[1:] + share[:-1]) / 2
    offset = -MAX_DASH_SPEED * np.concatenate([[0.0], np.cumsum(steps)])
    (x1, y1), (x2, y2) = ends
    return (
        f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{POWER_COLOUR}" '
        f'stroke-opacity="0.75" stroke-dasharray="7 4" stroke-width="{width[0]:.2f}">'
        f"{_animate('stroke-width', width, samples)}{_animate('stroke-dashoffset', offset, samples)}</line>"
    )


def _disc(at: np.ndarray, samples: PowerSamples, name: str) -> str:
    """A disc behind a storage, as large as its energy above the least it has."""
    lows = {key: float(np.min(e)) for key, e in samples.energies.items()}
    largest = max(float(np.max(e)) - lows[key] for key, e in samples.energies.items()) or 1.0
    radius = MAX_RADIUS * np.sqrt((np.asarray(samples.energies[name]) - lows[name]) / largest)
    return (
        f'<circle cx="{at[0]:.1f}" cy="{at[1]:.1f}" r="{radius[0]:.1f}" '
        f'fill="{ENERGY_COLOUR}" fill-opacity="0.6">'
        f"{_animate('r', radius, samples)}</circle>"
    )


def _animate(attribute: str, values: np.ndarray, samples: PowerSamples) -> str:
    text = ";".join(f"{v:.2f}" for v in values)
    return (
        f'<animate attributeName="{attribute}" values="{text}" dur="{samples.duration:.3f}s" '
        f'repeatCount="indefinite"/>'
    )


__all__ = ["PowerSamples", "svg"]
