/* Draws the figures of a page once they are unpacked: those that can be seen at once, folded ones when they are opened. Each has its data,
   its picture and the code that makes it by a button. */
strutUnpack(["figures", "columns"], (...texts) => {
  let drawn = new Map(), zoomed = null;
  const page = {
    number: place => [...document.querySelectorAll(".figure")].indexOf(place),
    zoom: span => { zoomed = span; drawn.forEach(plot => plot.zoom(span)); },
    showWalk: name => {
      const film = [...document.querySelectorAll("[data-walk]")].find(each => each.dataset.walk === name);
      if (!film) return;
      strutShowWalk(film);
      for (let above = film.parentElement; above; above = above.parentElement) if (above.tagName === "DETAILS") above.open = true;
      film.scrollIntoView({ block: "center", behavior: matchMedia("(prefers-reduced-motion: reduce)").matches ? "auto" : "smooth" });
    },
  };
  const save = (name, kind, text) => {
    const link = Object.assign(document.createElement("a"), { download: name, href: URL.createObjectURL(new Blob([text], { type: kind })) });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  };
  const table = figure => {  /* all curves one below the other, as CSV */
    const cell = v => v === null || Number.isNaN(v) ? "" : typeof v === "string" ? `"${v.replaceAll('"', '""')}"` : v, rows = [["curve", figure.x || "x", figure.y || "y"]];
    for (const trace of figure.traces) {
      if (trace.kind === "line" || trace.kind === "points") trace.x.forEach((x, k) => rows.push([trace.name, x, trace.y[k]]));
      else if (trace.kind === "band") trace.x.forEach((x, k) => rows.push(["lower edge", x, trace.lower[k]], ["upper edge", x, trace.upper[k]]));
      else if (trace.kind === "areas") trace.layers.forEach(layer => trace.x.forEach((x, k) => rows.push([layer.name, x, layer.y[k]])));
      else if (trace.kind === "cells") trace.y.forEach((y, j) => trace.x.forEach((x, i) => rows.push([trace.names.find(n => n[0] === trace.values[j][i])?.[1] ?? trace.values[j][i], x, y])));
      else for (const side of ["sources", "sinks"]) trace[side].forEach(([name, amount]) => rows.push([name, side, amount]));
    }
    return rows.map(row => row.map(cell).join(",")).join("\n") + "\n";
  };
  const picture = svg => {  /* with the colours that the page's sheet gives it */
    const copy = svg.cloneNode(true), style = getComputedStyle(document.documentElement), color = name => style.getPropertyValue(name).trim();
    copy.querySelectorAll(".hover, .cursor, .cursor-dot").forEach(e => e.remove());
    copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
    copy.prepend(strutSvg("style", {}, `text { font: 13px sans-serif; fill: ${color("--ink")}; } .axis, .tick { fill: ${color("--soft")}; } .grid { stroke: ${color("--line")}; } .mark { stroke: #808080; stroke-width: .7; fill: none; }`));
    return new XMLSerializer().serializeToString(copy);
  };
  const tools = (place, figure, number) => {
    const bar = document.createElement("div"), word = (text, does, about) => {
      const button = Object.assign(document.createElement("button"), { type: "button", textContent: text, title: about, onclick: does });
      bar.append(button);
      return button;
    };
    bar.className = "tools";
    word("data", () => save(`figure-${number + 1}.csv`, "text/csv", table(figure)), "the numbers of this figure as CSV");
    word("SVG", () => save(`figure-${number + 1}.svg`, "image/svg+xml", picture(drawn.get(place).svg())), "this figure as SVG");
    if (figure.code) {
      const text = Object.assign(document.createElement("pre"), { className: "how", textContent: figure.code, hidden: true });
      const button = word("code", () => { text.hidden = !text.hidden; button.setAttribute("aria-expanded", !text.hidden); }, "the command and the Python that make this figure");
      button.setAttribute("aria-expanded", "false");
      bar.append(text);
    }
    place.append(bar);
  };
  let figures = [], places = [];
  const open = place => {
    if (drawn.has(place) || !place.clientWidth) return;
    const figure = figures[places.indexOf(place)];
    place.replaceChildren();
    drawn.set(place, strutPlot(place, figure, page));
    if (zoomed) drawn.get(place).zoom(zoomed);
    tools(place, figure, places.indexOf(place));
  };
  const openAll = () => { places.forEach(open); };
  const gaps = list => Array.isArray(list) ? list.map(v => v === null ? NaN : v) : [];
  const fill = (all, columns) => {  /* numbers of columns in place of their places */
    for (const figure of all) for (const trace of figure.traces) {
      for (const name of ["x", "y", "t", "lower", "upper"]) if (typeof trace[name] === "number") trace[name] = gaps(columns[trace[name]]);
      for (const layer of trace.layers ?? []) layer.y = gaps(columns[layer.y]);
      if (trace.values) trace.values = trace.values.map(gaps);
    }
    return all;
  };
  const draw = (all, columns) => {  /* again with other figures, on a page that is live */
    figures = fill(all, columns);
    places = [...document.querySelectorAll(".figure")];
    drawn = new Map();
    let k = 0;
    const some = () => {  /* a few at a time, so that the page answers meanwhile */
      const until = performance.now() + 30;
      while (k < places.length && performance.now() < until) open(places[k++]);
      if (k < places.length) setTimeout(some); else document.body.dataset.figures = "drawn";
    };
    some();
  };
  const [first, shared] = texts.map(text => JSON.parse(text));
  draw(first, shared);
  window.strutDraw = draw;
  window.strutFigures = () => places.map(place => drawn.get(place));
  document.addEventListener("toggle", openAll, true);
  let width = innerWidth;
  addEventListener("resize", () => { if (innerWidth === width) return; width = innerWidth; drawn.forEach(plot => { if (plot.svg().parentElement?.clientWidth) plot.draw(); }); openAll(); });
  addEventListener("beforeprint", () => { document.querySelectorAll("details").forEach(part => { part.open = true; }); openAll(); });
});
