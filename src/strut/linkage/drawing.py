"""Pictures of linkages, as SVG: the graph of a topology, and the linkage itself to scale."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np

from strut.checks import checked
from strut.html import safe
from strut.linkage.limb import Limb
from strut.linkage.pins import pin_positions, sketch_values
from strut.linkage.topology import Topology, check_actuators

LIMB_COLOUR, LINK_COLOUR, ACTUATOR_COLOUR = "#9aa7b1", "#1c2b38", "#c2571a"
"""Colours of the limb, of links and of joints with an actuator."""
LINKAGE_SIZE = 210.0
"""[px] The larger of width and height of a limb's segments in the picture of a linkage to scale."""
LETTER_WIDTH = 7.0
"""[px] Of a name in a box."""
GRAPH_SIZE = 240.0
"""[px] Width and height of a graph."""
MARGIN = 26.0
"""[px] Around a picture."""
LAYOUT_STEPS = 400
"""Steps in which the nodes of a graph find their places."""


@checked
def draw_graph(topology: Topology, title: str = "", actuators: Sequence[str] = ()) -> str:
    """Draw the graph of a topology, as the text of an SVG file: bodies of the limb as boxes in a column,
    links as discs, joints as lines; those with an actuator are marked. actuators: joints of the linkage."""
    check_actuators(topology, actuators)
    places = _place_nodes(topology)
    lines, corners = [], []
    for name, (a, b) in {**topology.limb.joints, **topology.joints}.items():
        (x1, y1), (x2, y2) = places[a], places[b]
        own = name in topology.joints
        colour = ACTUATOR_COLOUR if name in actuators else LINK_COLOUR if own else LIMB_COLOUR
        lines.append(
            f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}" '
            f'stroke-width="{2.2 if own else 4}"><title>{safe(name)}</title></line>'
        )
        lines.append(_text((x1 + x2) / 2, (y1 + y2) / 2 - 4, name, colour, 10))
    for part, (x, y) in places.items():
        if part in topology.links:
            lines.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="12" fill="#fff" stroke="{LINK_COLOUR}"/>')
        else:
            half = max(24.0, LETTER_WIDTH * len(part) / 2 + 4)
            corners += [(x - half, y), (x + half, y)]
            lines.append(
                f'<rect x="{x - half:.1f}" y="{y - 11:.1f}" width="{2 * half:.0f}" height="22" rx="4" '
                f'fill="#e8edf1" stroke="{LIMB_COLOUR}"/>'
            )
        lines.append(_text(x, y + 4, part, LINK_COLOUR, 12))
    return _svg(lines, np.array([*places.values(), *corners]), title)


@checked
def draw_linkage(
    topology: Topology, values: np.ndarray | None = None, title: str = "", actuators: Sequence[str] = ()
) -> str:
    """Draw a linkage in its reference posture, to scale, as the text of an SVG file: the limb in grey, links
    as bars (with three pins: triangles), joints as circles, actuators filled.

    values: of `pin_parameters`; without them the topology is drawn with pins where they are seen well.
    actuators: joints of the linkage.
    """
    check_actuators(topology, actuators)
    drawn_values = sketch_values(topology) if values is None else np.reshape(values, (1, -1))
    pins = dict(zip(topology.joints, pin_positions(topology, drawn_values)[0], strict=True))
    bars = {
        link: [pin for name, pin in pins.items() if link in topology.joints[name]] for link in topology.links
    }
    return draw_bars(topology.limb, bars, pins, title, actuators)


@checked
def draw_bars(
    limb: Limb,
    bars: Mapping[str, Sequence[np.ndarray]],
    pins: Mapping[str, np.ndarray],
    title: str = "",
    actuators: Sequence[str] = (),
) -> str:
    """Draw bars along a limb in its reference posture, to scale, as the text of an SVG file.

    bars: by name, the points between which a bar is, each with each [m]. pins: by name, where joints are [m].
    actuators: of these, which are filled.
    """
    drawn_ends = [np.array(ends) for ends in limb.segments.values()]
    placed_pins = np.array(list(pins.values())).reshape(-1, 2)
    extent = float(np.ptp(np.vstack(drawn_ends or [placed_pins]), axis=0).max())  # [m]
    scale = LINKAGE_SIZE / extent if extent > 0 else LINKAGE_SIZE  # [px/m]
    segments = [ends * (1, -1) * scale for ends in drawn_ends]
    lines = [
        f'<line x1="{a[0]:.1f}" y1="{a[1]:.1f}" x2="{b[0]:.1f}" y2="{b[1]:.1f}" stroke="{LIMB_COLOUR}" '
        f'stroke-width="13" stroke-linecap="round" opacity="0.6"/>'
        for a, b in segments
    ]
    for link, ends in bars.items():
        own = [np.asarray(end) * (1, -1) * scale for end in ends]
        lines += [
            f'<line x1="{a[0]:.1f}" y1="{a[1]:.1f}" x2="{b[0]:.1f}" y2="{b[1]:.1f}" stroke="{LINK_COLOUR}" '
            f'stroke-width="4" stroke-linecap="round"><title>{safe(link)}</title></line>'
            for a, b in combinations(own, 2)
        ]
        if own:
            centre = np.mean(own, axis=0)
            lines.append(_text(centre[0] + 9, centre[1] + 4, link, LINK_COLOUR, 12))
    for joint, (_, below) in limb.joints.items():
        if below in limb.segments:
            x, z = limb.pivot(joint)
            lines.append(
                f'<circle cx="{x * scale:.1f}" cy="{-z * scale:.1f}" r="5" '
                f'fill="{LIMB_COLOUR}"><title>{safe(joint)}</title></circle>'
            )
    for name, (x, y) in zip(pins, placed_pins * (1, -1) * scale, strict=True):
        fill, radius = (ACTUATOR_COLOUR, 6) if name in actuators else ("#fff", 4)
        lines.append(
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius}" fill="{fill}" stroke="{LINK_COLOUR}" '
            f'stroke-width="1.5"><title>{safe(name)}</title></circle>'
        )
        lines.append(_text(x - 9, y - 6, name, LINK_COLOUR, 10))
    return _svg(lines, np.vstack([placed_pins * (1, -1) * scale, *segments]), title)


def _place_nodes(topology: Topology) -> dict[str, np.ndarray]:
    """Return places of nodes [px]: bodies in a column, links where springs along joints and a push between
    all of them leave them."""
    bodies = topology.limb.bodies
    count = len(topology.parts)
    at = np.empty((count, 2))
    rng = np.random.default_rng(0)
    for k, part in enumerate(topology.parts):
        at[k] = (0.0, k / max(1, len(bodies) - 1)) if part in bodies else rng.uniform(0.3, 1.0, 2)
    index = {part: k for k, part in enumerate(topology.parts)}
    ends = np.array([(index[a], index[b]) for a, b in topology.pins], dtype=int).reshape(-1, 2)
    for step in range(LAYOUT_STEPS):
        apart = at[:, None] - at
        square = (apart**2).sum(axis=2) + 1e-3
        push = 0.035 * (apart / square[:, :, None]).sum(axis=1)
        along = at[ends[:, 1]] - at[ends[:, 0]]
        np.add.at(push, ends[:, 0], 0.5 * along)
        np.add.at(push, ends[:, 1], -0.5 * along)
        push[: len(bodies)] = 0.0
        at += 0.3 * (1 - step / LAYOUT_STEPS) * push
    return {part: GRAPH_SIZE * at[index[part]] for part in topology.parts}


def _text(x: float, y: float, text: str, colour: str, size: int) -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" fill="{colour}" font-size="{size}" text-anchor="middle">'
        f"{safe(text)}</text>"
    )


def _svg(lines: Sequence[str], points: np.ndarray, title: str) -> str:
    low, high = points.min(axis=0) - MARGIN, points.max(axis=0) + MARGIN
    width, height = high - low
    heading = f"<title>{safe(title)}</title>\n" if title else ""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{low[0]:.1f} {low[1]:.1f} {width:.1f} '
        f'{height:.1f}" width="{width:.0f}" height="{height:.0f}" font-family="sans-serif">\n'
        f"{heading}" + "\n".join(lines) + "\n</svg>\n"
    )


__all__ = ["draw_bars", "draw_graph", "draw_linkage"]
