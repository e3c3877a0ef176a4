"""Pictures of branches and basins, each one HTML file that opens anywhere."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from strut.errors import MissingExtraError
from strut.gait import Basin, Branch

COLOURS = ("#1b7837", "#d6604d", "#4393c3", "#fdb863", "#8073ac", "#878787")


def _plotly() -> Any:
    try:
        import plotly.graph_objects as go
    except ImportError as error:
        raise MissingExtraError("plotly", "a picture", "view") from error
    return go


def bifurcation_diagram(branch: Branch, path: Path) -> Path:
    """The period over the parameter: stable parts drawn through, unstable ones dashed, bifurcations marked; doubled gaits beside."""
    go = _plotly()
    figure = go.Figure(layout={"template": "simple_white", "xaxis_title": branch.name, "yaxis_title": "first free state after each step"})
    for line, colour in ((branch, COLOURS[0]), *((d, COLOURS[1]) for d in _doubled(branch))):
        values = line.values(line.names[0])
        rows = [values] if line.steps == branch.steps else [values, _second(line)]
        for row in rows:
            for stable, dash in ((True, "solid"), (False, "dot")):
                shown = np.where(line.stable == stable, row, np.nan)
                name = f"{line.steps} step{'s' * (line.steps > 1)}, {'stable' if stable else 'unstable'}"
                figure.add_scatter(x=line.parameter, y=shown, mode="lines", name=name, line={"color": colour, "dash": dash})
    for b in branch.bifurcations:
        figure.add_scatter(
            x=[b.at], y=[b.point.y[0]], mode="markers+text", text=[b.kind], textposition="top center", name=f"{b.kind} {b.at:.8g}"
        )
    figure.update_yaxes(title=f"{branch.names[0]} just after {branch.section}")
    figure.write_html(str(path), include_plotlyjs=True)
    return path


def _doubled(branch: Branch) -> list[Branch]:
    end = float(branch.parameter[-1])
    return [b.doubled(to=end, points=40) for b in branch.bifurcations if b.kind == "doubling" and abs(end - b.at) > 1e-9]


def _second(line: Branch) -> np.ndarray:
    """The same state one step later."""
    from strut.gait import ReturnMap

    step = ReturnMap(line.system, line.section, (line.name,), line.steps // 2, z0=line.z0)
    done = step.many(np.array([p.y for p in line.points]), line.parameter[:, None])
    return np.asarray(done.y[:, 0])


def basin_picture(basin: Basin, path: Path) -> Path:
    """Outcomes as colours over the two states; the gait is the cross."""
    go = _plotly()
    kinds = sorted(basin.outcomes, key=lambda n: n != "walks")
    number = np.vectorize(kinds.index)(basin.label.astype(str))
    top = max(len(kinds) - 1, 1)
    scale = [[i / len(kinds) + e / len(kinds), COLOURS[i % len(COLOURS)]] for i in range(len(kinds)) for e in (0, 1)]
    bar = {"tickvals": [(i + 0.5) * top / len(kinds) for i in range(len(kinds))], "ticktext": kinds}
    figure = go.Figure(
        go.Heatmap(x=basin.first, y=basin.second, z=number.T, zmin=0, zmax=top, colorscale=scale, colorbar=bar),
        layout={"template": "simple_white", "xaxis_title": basin.names[0], "yaxis_title": basin.names[1]},
    )
    x, y = (basin.gait.x0[name] for name in basin.names)
    figure.add_scatter(x=[x], y=[y], mode="markers", marker={"symbol": "x", "size": 10, "color": "black"}, showlegend=False)
    figure.write_html(str(path), include_plotlyjs=True)
    return path
