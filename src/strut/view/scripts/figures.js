/* Draws the figures of a page: plotly's script and their data are unpacked first. */
strutUnpack(["plotly", "figures", "columns"], (plotly, ...data) => {
  /* Plotly styles maps, of which there are none here, unless an element has the id of that style: the page's policy would object. */
  for (const [, id] of plotly.matchAll(/getElementById\("([0-9a-f]{64})"\)/g)) {
    if (!document.getElementById(id)) document.head.append(Object.assign(document.createElement("meta"), { id }));
  }
  const script = document.createElement("script");
  script.textContent = plotly;
  document.head.append(script);
  const [first, shared] = data.map(text => JSON.parse(text));
  let figures = [], places = [];
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
  let timed = [];
  let following = false;
  const follow = place => place.on("plotly_relayout", change => {
    const from = change["xaxis.range[0]"] ?? change["xaxis.range"]?.[0], to = change["xaxis.range[1]"] ?? change["xaxis.range"]?.[1];
    if (following || from === undefined) return;
    following = true;
    Promise.all(timed.filter(other => other !== place).map(other => Plotly.relayout(other, { "xaxis.range": [from, to] })))
      .finally(() => { following = false; });
  });
  const draw = (all, columns) => {  /* again with other figures, on a page that is live */
    figures = all;
    places = [...document.querySelectorAll(".figure")];
    timed = [];
    places.forEach((place, k) => {
      const { data, layout } = figures[k], begun = place.classList.contains("js-plotly-plot");
      for (const curve of data) if (curve.type === "scatter") curve.x = columns[curve.x];
      for (const [key, value] of Object.entries(look(layout.meta))) put(layout, key, value);
      if (touch) layout.dragmode = false;
      layout.uirevision = "kept";  /* what a reader has zoomed into stays */
      if (begun) Plotly.react(place, data, layout, config);
      else Plotly.newPlot(place, data, layout, config);
      if (layout.meta !== "time") return;
      timed.push(place);
      if (!begun) follow(place);
    });
  };
  draw(first, shared);
  window.strutDraw = draw;
  dark.addEventListener("change", () => places.forEach((place, k) => Plotly.relayout(place, look(figures[k].layout.meta))));
});
