"""Pictures of linkages, as SVG: the graph of a topology, and the linkage itself to scale."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np

from strut.checks import checked
from strut.html import safe
from strut.linkage.labels import Labels, text_at
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
MARGIN = 12.0
"""[px] Around a picture with its names."""
LAYOUT_STEPS = 400
"""Steps in which the nodes of a graph find their places."""
NODE_RADIUS = 12.0
"""[px] Of the disc of a link in a graph."""
SEGMENT_WIDTH, BAR_WIDTH = 13.0, 4.0
"""[px] Of segments of the limb and of bars in a picture to scale."""
PIVOT_RADIUS, PIN_RADIUS, ACTUATOR_RADIUS = 5.0, 4.0, 6.0
"""[px] Of joints of the limb, of pins, and of pins with an actuator."""
RIM_WIDTH = 1.5
"""[px] Of the rims of discs."""
PIN_GAP = 3.0
"""[px] Between a pin and its name."""
JOINT_SIZE, LINK_SIZE = 10, 12
"""[px] Of the type in which names of joints and of links are."""
NAMED_SHARES = (0.5, 0.4, 0.6, 0.3, 0.7)
"""[1] Of a line's length, where its name may be, those that are liked best first."""


@checked
def draw_graph(topology: Topology, title: str = "", actuators: Sequence[str] = ()) -> str:
    """Draw the graph of a topology, as the text of an SVG file: bodies of the limb as boxes in a column,
    links as discs, joints as lines; those with an actuator are marked. actuators: joints of the linkage."""
    check_actuators(topology, actuators)
    places = _place_nodes(topology)
    lines, names, joints = [], Labels(), {}
    for name, (a, b) in {**topology.limb.joints, **topology.joints}.items():
        begin, end = places[a], places[b]
        own = name in topology.joints
        colour = ACTUATOR_COLOUR if name in actuators else LINK_COLOUR if own else LIMB_COLOUR
        width = 2.2 if own else 4.0
        lines.append(_line(begin, end, colour, width, name))
        names.avoid_line(begin, end, width, name)
        joints[name] = (begin, end, ACTUATOR_COLOUR if name in actuators else LINK_COLOUR)
    for part, (x, y) in places.items():
        if part in topology.links:
            lines.append(_disc((x, y), NODE_RADIUS, "#fff", LINK_COLOUR))
            names.avoid_disc((x, y), NODE_RADIUS)
        else:
            half = max(24.0, LETTER_WIDTH * len(part) / 2 + 4)
            lines.append(
                f'<rect x="{x - half:.1f}" y="{y - 11:.1f}" width="{2 * half:.0f}" height="22" rx="4" '
                f'fill="#e8edf1" stroke="{LIMB_COLOUR}"/>'
            )
            names.avoid_box((x, y), (half, 11.0))
        lines.append(text_at((x, y), part, LINK_COLOUR, LINK_SIZE))
    # names of joints come last, once everything is there that they keep away from
    for name, (begin, end, colour) in joints.items():
        lines.append(names.place(name, _points_between(begin, end), colour, JOINT_SIZE))
    return _svg(lines, names.corners, title)


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
    # what is behind is drawn first: the limb, bars, then joints
    lines, names = [], Labels()
    for a, b in segments:
        lines.append(
            f'<line x1="{a[0]:.1f}" y1="{a[1]:.1f}" x2="{b[0]:.1f}" y2="{b[1]:.1f}" stroke="{LIMB_COLOUR}" '
            f'stroke-width="{SEGMENT_WIDTH:.0f}" stroke-linecap="round" opacity="0.6"/>'
        )
        names.avoid_line(a, b, SEGMENT_WIDTH)
    named_points: dict[str, list[np.ndarray]] = {}
    for link, ends in bars.items():
        own = [np.asarray(end) * (1, -1) * scale for end in ends]
        # the middle of a triangle before its sides
        named_points[link] = [np.mean(own, axis=0)] if own and len(own) != 2 else []
        for a, b in combinations(own, 2):
            lines.append(_line(a, b, LINK_COLOUR, BAR_WIDTH, link))
            names.avoid_line(a, b, BAR_WIDTH, link)
            named_points[link] += _points_between(a, b)
    for joint, (_, below) in limb.joints.items():
        if below in limb.segments:
            centre = np.array(limb.pivot(joint)) * (1, -1) * scale
            lines.append(_disc(centre, PIVOT_RADIUS, LIMB_COLOUR, name=joint))
            names.avoid_disc(centre, PIVOT_RADIUS)
    discs = {
        name: (centre, ACTUATOR_RADIUS if name in actuators else PIN_RADIUS)
        for name, centre in zip(pins, placed_pins * (1, -1) * scale, strict=True)
    }
    for name, (centre, radius) in discs.items():
        colour = ACTUATOR_COLOUR if name in actuators else "#fff"
        lines.append(_disc(centre, radius, colour, LINK_COLOUR, name))
        names.avoid_disc(centre, radius)
    # names of pins come first: a bar may have its name anywhere along it
    for name, (centre, radius) in discs.items():
        lines.append(names.place(name, [centre], LINK_COLOUR, JOINT_SIZE, gap=radius + PIN_GAP))
    for link, points in named_points.items():
        if points:
            lines.append(names.place(link, points, LINK_COLOUR, LINK_SIZE))
    return _svg(lines, np.vstack([*segments, names.corners]), title)


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


def _points_between(begin: np.ndarray, end: np.ndarray) -> list[np.ndarray]:
    """Return points of a line beside which its name may be, those that are liked best first."""
    return [begin + share * (end - begin) for share in NAMED_SHARES]


def _line(begin: np.ndarray, end: np.ndarray, colour: str, width: float, name: str) -> str:
    return (
        f'<line x1="{begin[0]:.1f}" y1="{begin[1]:.1f}" x2="{end[0]:.1f}" y2="{end[1]:.1f}" '
        f'stroke="{colour}" stroke-width="{width:g}" stroke-linecap="round">'
        f"<title>{safe(name)}</title></line>"
    )


def _disc(
    centre: Sequence[float] | np.ndarray, radius: float, fill: str, stroke: str = "", name: str = ""
) -> str:
    rim = f' stroke="{stroke}" stroke-width="{RIM_WIDTH}"' if stroke else ""
    tip = f"<title>{safe(name)}</title>" if name else ""
    return (
        f'<circle cx="{centre[0]:.1f}" cy="{centre[1]:.1f}" r="{radius:g}" fill="{fill}"{rim}>{tip}</circle>'
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
