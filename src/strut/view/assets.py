"""The look of a page, and the script that draws its figures. Nothing here is filled in: data travels beside it, as JSON."""

STYLE = """
:root { color-scheme: light dark; --paper: #fff; --ink: #1b1f24; --soft: #5b6470; --line: #e3e6ea; --tint: #f6f7f9;
  --good: #00684c; --bad: #a84300; --accent: #0072B2; }
@media (prefers-color-scheme: dark) {
  :root { --paper: #14171b; --ink: #e8eaed; --soft: #a0a8b3; --line: #2d333b; --tint: #1c2127; --good: #4fd0a5; --bad: #ff9a57;
    --accent: #56B4E9; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 16px/1.5 system-ui, -apple-system, "Segoe UI", sans-serif; }
main { max-width: 1080px; margin: 0 auto; padding: 2rem 1.25rem 4rem; }
h1 { font-size: 1.9rem; line-height: 1.2; margin: 0 0 .3rem; overflow-wrap: anywhere; }
h2 { font-size: 1.2rem; margin: 2.6rem 0 .6rem; padding-top: .9rem; border-top: 1px solid var(--line); }
h3 { font-size: 1rem; margin: 1.4rem 0 .3rem; }
p { margin: .4rem 0; max-width: 46rem; }
.verdict { font-size: 1.05rem; }
.ok { color: var(--good); font-weight: 600; }
.stopped { color: var(--bad); font-weight: 600; }
.note { color: var(--soft); font-size: .9rem; }
.remarks { white-space: pre-line; }
.facts { display: grid; grid-template-columns: repeat(auto-fit, minmax(8.5rem, 1fr)); gap: .6rem; margin: 1.2rem 0 0; }
.facts div { background: var(--tint); border-radius: 8px; padding: .55rem .8rem; }
.facts dt { color: var(--soft); font-size: .82rem; }
.facts dd { margin: 0; font-size: 1.1rem; font-variant-numeric: tabular-nums; overflow-wrap: anywhere; }
.pair { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 24rem), 1fr)); gap: 0 1.5rem; }
.side { display: flex; flex-wrap: wrap; gap: 0 3.5rem; }
.pair > *, .side > * { min-width: 0; }
.figure { width: 100%; margin: .4rem 0; }
.box { overflow: auto; }
.long { max-height: 26rem; }
.long td:last-child { min-width: 9rem; }
table { border-collapse: collapse; font-size: .92rem; font-variant-numeric: tabular-nums; }
th, td { text-align: left; padding: .28rem 1.4rem .28rem 0; border-bottom: 1px solid var(--line); vertical-align: top; }
thead th { position: sticky; top: 0; background: var(--paper); color: var(--soft); font-weight: 500; }
td.number, th.number { text-align: right; } td.number { white-space: nowrap; }
pre { background: var(--tint); border-radius: 8px; padding: .8rem 1rem; overflow-x: auto; font-size: .85rem; line-height: 1.45; }
canvas { width: 100%; height: min(46vw, 360px); min-height: 240px; background: var(--tint); border-radius: 8px; display: block; }
.controls { display: flex; align-items: center; gap: .8rem; margin: .6rem 0; }
.controls button { font: inherit; min-width: 5rem; padding: .35rem .9rem; border: 0; border-radius: 6px; background: var(--accent);
  color: var(--paper); cursor: pointer; }
.controls + .controls { flex-wrap: wrap; font-size: .92rem; }
.controls label { display: inline-flex; gap: .35rem; align-items: center; white-space: nowrap; }
.controls select { font: inherit; padding: .2rem; background: var(--tint); color: var(--ink); border: 1px solid var(--line);
  border-radius: 6px; }
.controls #frame { flex: 1; min-width: 0; accent-color: var(--accent); }
.controls output { min-width: 4.5rem; text-align: right; font-variant-numeric: tabular-nums; }
@media (max-width: 600px) { main { padding: 1.2rem .9rem 3rem; } h1 { font-size: 1.5rem; } .facts { grid-template-columns: 1fr 1fr; }
  th, td { padding-right: .9rem; } }
"""

DRAW = """
(() => {
  const [figures, columns] = ["figures", "columns"].map(id => JSON.parse(document.getElementById(id).textContent));
  const places = [...document.querySelectorAll(".figure")];
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const touch = !matchMedia("(hover: hover)").matches;  // there a drag scrolls the page, and nothing hovers
  const config = { responsive: true, displaylogo: false, displayModeBar: touch ? false : "hover",
    modeBarButtons: [["toImage", "zoom2d", "pan2d", "resetScale2d"]] };
  const look = kind => {
    const style = getComputedStyle(document.documentElement), color = name => style.getPropertyValue(name).trim();
    const wanted = { "font.color": color("--ink"), "font.family": getComputedStyle(document.body).fontFamily, "font.size": 13,
      paper_bgcolor: color("--paper"), plot_bgcolor: color("--paper"), "xaxis.spikecolor": color("--soft"), "xaxis.spikethickness": 1,
      "hoverlabel.bgcolor": color("--tint"), "hoverlabel.bordercolor": color("--line"), "hoverlabel.font.color": color("--ink"),
      "modebar.color": color("--soft"), "modebar.activecolor": color("--accent"), "modebar.bgcolor": "rgba(0,0,0,0)" };
    if (kind === "flow") return Object.fromEntries(Object.entries(wanted).filter(([key]) => !key.startsWith("xaxis")));
    for (const axis of ["xaxis", "yaxis"]) {
      wanted[axis + ".gridcolor"] = color("--line");
      wanted[axis + ".linecolor"] = color("--line");
      wanted[axis + ".title.font.color"] = color("--soft");
    }
    return wanted;
  };
  const put = (layout, key, value) => {
    const parts = key.split("."), end = parts.pop();
    parts.reduce((at, part) => at[part] ??= {}, layout)[end] = value;
  };
  const timed = [];
  let following = false;
  places.forEach((place, k) => {
    const { data, layout } = figures[k];
    for (const curve of data) if (curve.type === "scatter") curve.x = columns[curve.x];
    for (const [key, value] of Object.entries(look(layout.meta))) put(layout, key, value);
    if (touch) layout.dragmode = false;
    Plotly.newPlot(place, data, layout, config);
    if (layout.meta !== "time") return;
    timed.push(place);
    place.on("plotly_relayout", change => {
      const from = change["xaxis.range[0]"] ?? change["xaxis.range"]?.[0], to = change["xaxis.range[1]"] ?? change["xaxis.range"]?.[1];
      if (following || from === undefined) return;
      following = true;
      Promise.all(timed.filter(other => other !== place).map(other => Plotly.relayout(other, { "xaxis.range": [from, to] })))
        .finally(() => { following = false; });
    });
  });
  dark.addEventListener("change", () => places.forEach((place, k) => Plotly.relayout(place, look(figures[k].layout.meta))));
})();
"""
