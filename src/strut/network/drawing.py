"""`svg`: draws a network, nodes as boxes and edges as arrows between them, without any other program.

Nodes that the file gives no place get one by a force-directed layout.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

import numpy as np

from strut.network.model import Edge, Node

PIXELS_PER_UNIT = 110.0
"""Pixels per unit of a layout."""
HALF_SIZE = (36.0, 18.0)
"""Half the size of a node without nodes in it [pixels]."""
PICTURE_MARGIN = 26.0
"""Around the picture, and between boxes that are packed in rows [pixels]."""
BOX_MARGIN = 24.0
"""Around each box that is placed here, for the arrows between it and others [pixels]."""
MAX_FORCED_NODES = 300
"""How many nodes are placed by the force-directed layout; more are put on a grid."""
FORCE_ROUNDS = 120
"""Iterations of the force-directed layout."""
MAX_SIDE = 1600
"""The longest side of a picture [pixels]; larger networks are drawn smaller, down to `MIN_SCALE`."""
MIN_SCALE = 0.75
"""The smallest scale of a picture [1]: its names stay legible."""
MAX_PUSHES = 400
"""Rounds in which boxes that overlap are pushed apart."""
CENTRE_PULL = 0.5
"""Force towards the middle per distance from it, where nodes one unit apart repel each other with 1: what no
edge holds would drift away."""
MIN_DISTANCE = 0.05
"""Nodes that are nearer repel each other as at this distance [units of a layout]."""
MAX_FIRST_MOVE = 0.4
"""How far a node moves in the first iteration, at most; ever less in those after it [units of a layout]."""
TINY = 1e-9
"""What keeps a division by a force or a size of zero from happening [its unit]."""
NO_OVERLAP = 0.5
"""Boxes that overlap by less are apart [pixels]."""
PUSH_PART = 0.9
"""[1] The part of an overlap that a round of pushing takes away."""
ROW_ASPECT = 1.15
"""[1] Width of rows of loose boxes, in sides of a square of their area."""
SPARE_HEIGHT = 1.6
"""[1] A box that is up to so many times as high as a plain one needs no more room: units of a layout are
as high as they are wide, and plain boxes half as high."""
FONT_SIZE = 12
"""Height of names [pixels]."""
LETTER_WIDTH = 7
"""Mean width of a letter [pixels]: a name that needs more than its box is squeezed into it."""
NAME_PADDING = 4
"""Between a name and the sides of its box [pixels]; by as much it hangs below the line through the middle."""
GROUP_NAME_DEPTH = 14
"""From the upper side of a box with nodes in it to the foot of its name [pixels]."""
MAX_CORNER = 14
"""The largest radius of the corners of a box [pixels]."""
LOOP_SIZE, LOOP_STEP, LOOP_FOOT = 14.0, 5, 8
"""Of an edge from a node to itself: half its width and height, how much larger each further one is, and how
far from the middle of the box it begins and ends [pixels]."""
BEND_ANSWERED, BEND_BESIDE = 0.14, 0.1
"""[1] By how much more each next edge between two nodes bends, in parts of its length: where others go back,
the first one too, else those beside the first."""


@dataclass
class DrawnBox:
    """A node in the picture: centre, half sizes, and the boxes in it."""

    node: Node
    x: float = 0.0
    y: float = 0.0
    half: tuple[float, float] = HALF_SIZE
    inside: tuple[DrawnBox, ...] = ()

    def move(self, dx: float, dy: float) -> None:
        """Move the box, and all that is in it [pixels]."""
        self.x, self.y = self.x + dx, self.y + dy
        for box in self.inside:
            box.move(dx, dy)


def svg(root: Node, title: str = "") -> str:
    """Draw what is in a node, as the text of an SVG file.

    Nodes stand where the file lays them out; the others are placed here. title: that of the picture.
    """
    boxes = _arrange(root)
    at: dict[Node, DrawnBox] = {}
    _collect(boxes, at)
    left, top, right, bottom = _extent(boxes)
    lines = []  # of edges; nodes are drawn over them, so that names stay legible
    edges = [
        (e, e.input, e.output)
        for e in root.descendants()
        if isinstance(e, Edge) and e.input in at and e.output in at
    ]
    pairs = {(a, b) for _, a, b in edges}
    bends: dict[tuple[Node | None, Node | None], int] = {}
    for edge, a, b in edges:
        assert a is not None
        assert b is not None
        bends[a, b] = bends.get((a, b), 0) + 1
        lines.append(_arrow(edge, at[a], at[b], count=bends[a, b], answered=(b, a) in pairs))
    lines += [_box(box) for box in _outer_first(boxes)]
    width, height = right - left + 2 * PICTURE_MARGIN, bottom - top + 2 * PICTURE_MARGIN
    view = f"{left - PICTURE_MARGIN:.1f} {top - PICTURE_MARGIN:.1f} {width:.1f} {height:.1f}"
    scale = min(1.0, max(MAX_SIDE / max(width, height), MIN_SCALE))
    size = f'width="{scale * width:.0f}" height="{scale * height:.0f}"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{view}" {size} font-family="sans-serif">\n'
        f"<title>{escape(title or root.name)}</title>\n{STYLE}" + "\n".join(lines) + "\n</svg>\n"
    )


STYLE = f"""<style>
.node {{ fill: #eef3f8; stroke: #33506b; stroke-width: 1.4 }}
.group {{ fill: none; stroke: #8aa0b3; stroke-width: 1; stroke-dasharray: 4 3 }}
.edge {{ fill: none; stroke: #9a4a2c; stroke-width: 1.2 }}
text {{ font-size: {FONT_SIZE}px; fill: #1c2b38; paint-order: stroke; stroke: #fff; stroke-width: 2.5px }}
</style>
<defs><marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">\
<path d="M0 0 L8 4 L0 8 z" fill="#9a4a2c"/></marker></defs>
"""
"""The style sheet of a picture, and the head of its arrows."""


# ---- where things are ----


def _arrange(parent: Node) -> tuple[DrawnBox, ...]:
    """The boxes of the nodes in a node, each in its place."""
    boxes = []
    for child in parent.children.values():
        if isinstance(child, Node) and not child.walk_fact:
            box = DrawnBox(child, inside=_arrange(child))
            if box.inside:
                left, top, right, bottom = _extent(box.inside)
                for each in box.inside:
                    each.move(-(left + right) / 2, -(top + bottom) / 2)
                box.half = ((right - left) / 2 + PICTURE_MARGIN / 2, (bottom - top) / 2 + PICTURE_MARGIN)
            boxes.append(box)
    if not boxes:
        return ()
    # Three kinds: those with a place in the file, those that edges hold, and loose ones beside large boxes.
    placed = [b for b in boxes if b.node.place is not None]
    joined = {
        end
        for e in parent.children.values()
        if isinstance(e, Edge) and e.input is not e.output
        for end in (e.input, e.output)
    }
    free = [b for b in boxes if b.node.place is None]
    loose = [b for b in free if b.node not in joined] if any(b.inside for b in free) else []
    free = [b for b in free if b not in loose]
    for box in placed:
        x, y = box.node.place or (0.0, 0.0)
        scale = PIXELS_PER_UNIT * _largest(placed)
        box.move(scale * x, scale * y)
    _place_free(parent, free)
    if placed and free:
        top, low = min(b.y - b.half[1] for b in free), max(b.y + b.half[1] for b in placed)
        for box in free:
            box.move(0.0, low - top + 2 * PICTURE_MARGIN)
    _pack_rows(loose, [*placed, *free])
    return tuple(boxes)


def _largest(boxes: Sequence[DrawnBox]) -> float:
    """How many times the size of a plain box the largest one has, at least 1."""
    return max(
        [1.0, *(max(b.half[0] / HALF_SIZE[0], b.half[1] / HALF_SIZE[1] / SPARE_HEIGHT) for b in boxes)]
    )


def _place_free(parent: Node, boxes: Sequence[DrawnBox]) -> None:
    """Place boxes without a place in the file: by forces, in units of a plain box, and then pushed apart
    where large ones overlap. So a large box makes room for itself, and not between all others."""
    nodes = [b.node for b in boxes]
    layout = PIXELS_PER_UNIT * _force_directed_layout(parent, nodes)
    half = np.array([b.half for b in boxes]).reshape(-1, 2) + BOX_MARGIN
    for box, (x, y) in zip(boxes, _push_apart(layout, half), strict=True):
        box.move(float(x), float(y))


def _push_apart(at: np.ndarray, half: np.ndarray) -> np.ndarray:
    """Move boxes until none overlaps another, each pair along the axis on which they overlap least.

    at: centres. half: half sizes with half of the room between boxes.
    """
    at, count = at.copy(), len(at)
    if not 1 < count <= MAX_FORCED_NODES:  # a grid: cells as large as the largest box
        at *= np.maximum(1.0, 2 * half.max(axis=0, initial=0.0) / PIXELS_PER_UNIT)
        return at
    for _ in range(MAX_PUSHES):
        away = at[:, None] - at[None]
        overlap = half[:, None] + half[None] - np.abs(away)
        overlap[np.arange(count), np.arange(count)] = -1.0
        meets = (overlap > NO_OVERLAP).all(axis=2)
        if not meets.any():
            break
        # of two at one place the first goes back
        order = np.sign(np.subtract.outer(np.arange(count), np.arange(count)))[..., None]
        sign = np.where(away == 0, order, np.sign(away))
        least = overlap[..., 0] <= overlap[..., 1]
        push = np.stack([least, ~least], axis=2) * meets[..., None] * sign * overlap / 2
        at += PUSH_PART * push.sum(axis=1) / np.maximum(1, meets.sum(axis=1))[:, None]
    return at


def _pack_rows(loose: Sequence[DrawnBox], others: Sequence[DrawnBox]) -> None:
    """Put boxes that no edge holds in rows below the others, the small ones first."""
    left, _, right, bottom = _extent(others)
    wide = max(right - left, ROW_ASPECT * math.sqrt(sum(4 * b.half[0] * b.half[1] for b in loose)))
    x, y, tall = left, bottom + (PICTURE_MARGIN if others else 0.0), 0.0
    for box in sorted(loose, key=lambda b: b.half[1]):
        if x > left and x + 2 * box.half[0] > left + wide:
            x, y, tall = left, y + tall + PICTURE_MARGIN, 0.0
        box.move(x + box.half[0] - box.x, y + box.half[1] - box.y)
        x, tall = x + 2 * box.half[0] + PICTURE_MARGIN, max(tall, 2 * box.half[1])


def _force_directed_layout(parent: Node, nodes: Sequence[Node]) -> np.ndarray:
    """Places for nodes that have none, in units of a layout, by a force-directed layout.

    Nodes repel each other, edges pull, and a weak force holds all in the middle; they start on a circle. Many
    nodes are put on a grid instead, and stay on the circle where nothing or everything is connected.
    """
    n = len(nodes)
    if n < 2:
        return np.zeros((n, 2))
    if n > MAX_FORCED_NODES:
        columns = math.ceil(math.sqrt(n))
        return np.array([(k % columns, k // columns) for k in range(n)], dtype=float)
    place = {node: k for k, node in enumerate(nodes)}
    ends = [
        (place[e.input], place[e.output])
        for e in parent.children.values()
        if isinstance(e, Edge) and e.input in place and e.output in place
    ]
    pulled = np.array([(a, b) for a, b in ends if a != b], dtype=int).reshape(-1, 2)
    angle = 2 * math.pi * np.arange(n) / n
    at = 0.5 / math.sin(math.pi / n) * np.column_stack([np.cos(angle), np.sin(angle)])  # one unit apart
    if not len(pulled) or len(pulled) >= n * (n - 1) / 2:
        return at
    for k in range(FORCE_ROUNDS):
        # Fruchterman and Reingold: repulsion 1 / d, attraction d², steps limited by a falling temperature.
        away = at[:, None] - at[None]
        distance = np.maximum(np.hypot(away[..., 0], away[..., 1]), MIN_DISTANCE)
        force = (away / distance[..., None] ** 2).sum(axis=1)
        along = at[pulled[:, 1]] - at[pulled[:, 0]]
        length = np.hypot(along[:, 0], along[:, 1])[:, None]
        np.add.at(force, pulled[:, 0], along * length)
        np.add.at(force, pulled[:, 1], -along * length)
        force -= CENTRE_PULL * (at - at.mean(axis=0))
        size = np.maximum(np.hypot(force[:, 0], force[:, 1]), TINY)[:, None]
        at = at + force / size * np.minimum(size, MAX_FIRST_MOVE * (1 - k / FORCE_ROUNDS))
    nearest = np.median((distance + np.diag(np.full(n, np.inf))).min(axis=1))
    return at / float(nearest)


def _collect(boxes: Sequence[DrawnBox], into: dict[Node, DrawnBox]) -> None:
    """Add boxes, and those in them, to a dictionary by node."""
    for box in boxes:
        into[box.node] = box
        _collect(box.inside, into)


def _outer_first(boxes: Sequence[DrawnBox]) -> list[DrawnBox]:
    """All boxes, each before those in it, so that these are drawn on top."""
    return [each for box in boxes for each in (box, *_outer_first(box.inside))]


def _extent(boxes: Sequence[DrawnBox]) -> tuple[float, float, float, float]:
    """Left, top, right and bottom of boxes together [pixels]."""
    if not boxes:
        return 0.0, 0.0, 0.0, 0.0
    return (
        min(b.x - b.half[0] for b in boxes),
        min(b.y - b.half[1] for b in boxes),
        max(b.x + b.half[0] for b in boxes),
        max(b.y + b.half[1] for b in boxes),
    )


# ---- how they look ----


def _box(box: DrawnBox) -> str:
    """A box as SVG."""
    (w, h), name = box.half, escape(box.node.name)
    variables = ", ".join(box.node.variables) or "no variables"
    shape = (
        f'x="{box.x - w:.1f}" y="{box.y - h:.1f}" width="{2 * w:.1f}" height="{2 * h:.1f}" '
        f'rx="{min(h, MAX_CORNER):.0f}"'
    )
    kind, y = ("group", box.y - h + GROUP_NAME_DEPTH) if box.inside else ("node", box.y + NAME_PADDING)
    room = 2 * (w - NAME_PADDING)
    fits = (
        f' textLength="{room:.0f}" lengthAdjust="spacingAndGlyphs"'
        if LETTER_WIDTH * len(box.node.name) > room
        else ""
    )
    return (
        f'<g id="{escape(box.node.path, quote=True)}"><title>{escape(box.node.path)}: '
        f'{escape(variables)}</title><rect class="{kind}" {shape}/>'
        f'<text x="{box.x:.1f}" y="{y:.1f}" text-anchor="middle"{fits}>{name}</text></g>'
    )


def _border(box: DrawnBox, towards: tuple[float, float]) -> tuple[float, float]:
    """Where a line from the centre leaves a box."""
    dx, dy = towards[0] - box.x, towards[1] - box.y
    reach = max(abs(dx) / box.half[0], abs(dy) / box.half[1], TINY)
    return box.x + dx / reach, box.y + dy / reach


def _arrow(edge: Edge, source: DrawnBox, target: DrawnBox, *, count: int, answered: bool) -> str:
    """An edge as SVG. count: which it is of those between these nodes. answered: whether one goes back."""
    actions = ", ".join(
        f"{a.name}{chr(39) if a.rate else ''} {'+=' if a.adds else '<='} {a.text}"
        for a in edge.actions.values()
    )
    title = f"<title>{escape(edge.path)}: {escape(actions or 'no actions')}</title>"
    if source is target:
        x, y, r = source.x, source.y - source.half[1], LOOP_SIZE + LOOP_STEP * (count - 1)
        path = (
            f"M{x - LOOP_FOOT:.1f} {y:.1f} C{x - 2 * r:.1f} {y - 2 * r:.1f} {x + 2 * r:.1f} {y - 2 * r:.1f} "
            f"{x + LOOP_FOOT:.1f} {y:.1f}"
        )
    else:
        dx, dy = target.x - source.x, target.y - source.y
        bend = BEND_ANSWERED * count if answered else BEND_BESIDE * (count - 1)
        middle = ((source.x + target.x) / 2 - bend * dy, (source.y + target.y) / 2 + bend * dx)
        (x1, y1), (x2, y2) = _border(source, middle), _border(target, middle)
        path = f"M{x1:.1f} {y1:.1f} Q{middle[0]:.1f} {middle[1]:.1f} {x2:.1f} {y2:.1f}"
    return f'<path class="edge" d="{path}" marker-end="url(#arrow)">{title}</path>'
