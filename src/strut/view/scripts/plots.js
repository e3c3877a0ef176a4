/* A plot: axes, legend, marks, what the pointer is at, zoom, and a cursor at the time that the page shows. Colours of text and grid are
   those of the page's sheet, so that day and night need no script. */
const strutPlot = (() => {
  const pencil = document.createElement("canvas").getContext("2d");
  const FONT = "13px system-ui, -apple-system, 'Segoe UI', sans-serif";
  const measure = text => { pencil.font = FONT; return pencil.measureText(text).width; };
  const digits = (value, count = 6) => {
    if (!Number.isFinite(value)) return "–";
    const text = Math.abs(value) >= 1e5 || (value !== 0 && Math.abs(value) < 1e-4) ? value.toExponential(Math.min(count - 1, 4)) : value.toPrecision(count);
    return text.includes("e") ? text.replace(/\.?0+e\+?/, "e") : text.includes(".") ? text.replace(/\.?0+$/, "") : text;
  };
  const ticks = (low, high, most, whole) => {
    const raw = (high - low) / Math.max(1, most), power = 10 ** Math.floor(Math.log10(raw));
    let step = power * ([1, 2, 5, 10].find(m => m * power >= raw * 0.999) ?? 10);
    if (whole) step = Math.max(1, Math.round(step));
    const first = Math.ceil(low / step - 1e-9), list = [];
    for (let k = first; k * step <= high + 1e-9 * step && list.length < 60; k++) list.push(k * step);
    return { list, step };
  };
  const label = (value, step, fine) => {
    if (Math.abs(value) < 1e-9 * step) return "0";
    const size = Math.max(Math.abs(value), step);
    if (fine || size >= 1e5 || size < 1e-3) return digits(Number(value.toPrecision(6)), 4).includes("e") ? digits(Number(value.toPrecision(6)), 4) : Number(value.toPrecision(6)).toExponential().replace("e+", "e");
    return value.toFixed(Math.max(0, -Math.floor(Math.log10(step) + 1e-9))).replace("-", "−");
  };
  const extent = (figure, axis) => {
    let low = Infinity, high = -Infinity;
    const take = values => { for (const v of values) if (Number.isFinite(v)) { if (v < low) low = v; if (v > high) high = v; } };
    for (const trace of figure.traces) {
      if (trace.hidden) continue;
      if (trace.kind === "areas") {
        if (axis === "x") take(trace.x);
        else { take([0]); take(trace.x.map((_, k) => trace.layers.reduce((sum, layer) => sum + layer.y[k], 0))); }
      } else if (trace.kind === "band") { take(axis === "x" ? trace.x : trace.lower); if (axis === "y" && !trace.full) take(trace.upper); }
      else if (trace.kind === "cells") {
        const list = trace[axis], half = list.length > 1 ? (list[1] - list[0]) / 2 : 0.5;
        take([list[0] - half, list[list.length - 1] + half]);
      } else if (trace.kind !== "flow") take(trace[axis]);
    }
    if (low > high) return [0, 1];
    if (low === high) { const room = Math.abs(low) * 0.05 || 1; return [low - room, high + room]; }
    const tight = figure.traces.some(t => t.kind === "cells") || (axis === "x" && figure.traces.every(t => t.kind !== "points"));
    const room = (high - low) * (tight ? 0 : 0.05);
    return [low - room, high + room];
  };
  const entries = figure => [
    ...figure.traces.flatMap(trace => trace.kind === "areas" ? trace.layers.map(layer => ({ name: layer.name, color: layer.color, of: layer, box: true }))
      : (trace.kind === "line" || trace.kind === "points") && trace.name ? [{ name: trace.name, color: trace.color, dash: trace.dash, symbol: trace.symbol, of: trace }] : []),
    ...figure.shades.map(([name, color]) => ({ name, color, box: true })),
    ...(figure.markNames ? figure.marks.map(([name], k) => ({ name, color: "#808080", dash: ["", "dash", "dot", "dashdot"][k % 4] })) : []),
  ];
  const legend = (figure, width) => {  /* rows of entries that fit; those of one name only once */
    const seen = new Set(), rows = [[]];
    let used = 0;
    for (const entry of entries(figure)) {
      if (seen.has(entry.name)) continue;
      seen.add(entry.name);
      const wide = 38 + measure(entry.name);
      if (used + wide > width && rows[rows.length - 1].length) { rows.push([]); used = 0; }
      rows[rows.length - 1].push({ ...entry, at: used }); used += wide;
    }
    return rows[0].length ? rows : [];
  };
  const valueAt = (trace, x) => {  /* of a curve over x that does not go back, by interpolation; held ones by their last point */
    const list = trace.x;
    let low = 0, high = list.length - 1;
    if (!(x >= list[0] && x <= list[high])) return NaN;
    while (low < high) { const middle = (low + high + 1) >> 1; if (list[middle] <= x) low = middle; else high = middle - 1; }
    if (trace.step || low === list.length - 1 || list[low + 1] === list[low]) return trace.y[low];
    return trace.y[low] + (x - list[low]) / (list[low + 1] - list[low]) * (trace.y[low + 1] - trace.y[low]);
  };
  return (place, figure, page) => {
    const state = { x: null, y: null };  /* what was zoomed into */
    const all = figure.legend ? entries(figure) : [];
    const flow = figure.traces.some(t => t.kind === "flow");
    let axes = null, svg = null, cursor = null, dots = [], hover = null;
    const draw = () => {
      const width = Math.max(200, place.clientWidth);
      const cells = figure.traces.find(t => t.kind === "cells"), scaleWide = cells ? 24 + Math.max(...(cells.names.length ? cells.names.map(n => measure(n[1])) : [measure("−0.0000")])) : 0;
      let [x0, x1] = state.x ?? figure.span ?? extent(figure, "x"), [y0, y1] = state.y ?? figure.ySpan ?? extent(figure, "y");
      const guess = ticks(y0, y1, 7, false);  /* the legend begins where the box does, right of about these */
      const rows = figure.legend ? legend(figure, width - 40 - Math.max(14, ...guess.list.map(v => measure(label(v, guess.step, figure.fine))))) : [];
      const top = 8 + 19 * rows.length, height = figure.height + 19 * Math.max(0, rows.length - 1);
      const room = Math.max(2, Math.min(figure.fine ? 4 : 7, (height - top) / 42));
      let yTicks = ticks(y0, y1, room, false), yLabels = yTicks.list.map(v => label(v, yTicks.step, figure.fine));
      const left = flow ? 4 : 30 + Math.max(14, ...yLabels.map(measure)), right = flow ? 4 : 16 + scaleWide + (cells ? 14 : 0);
      const box = { left, top: top + (flow ? 26 : 0), width: Math.max(60, width - left - right), height: Math.max(40, height - top - (flow ? 56 : 46)) };
      if (figure.equal) {  /* a unit is as long on both axes: the tighter one decides */
        const unit = Math.max((x1 - x0) / box.width, (y1 - y0) / box.height), cx = (x0 + x1) / 2, cy = (y0 + y1) / 2;
        [x0, x1, y0, y1] = [cx - unit * box.width / 2, cx + unit * box.width / 2, cy - unit * box.height / 2, cy + unit * box.height / 2];
        yTicks = ticks(y0, y1, room, false); yLabels = yTicks.list.map(v => label(v, yTicks.step, figure.fine));
      }
      axes = { box, span: [x0, x1], ySpan: [y0, y1], u: x => box.left + (x - x0) / (x1 - x0) * box.width, v: y => box.top + (y1 - y) / (y1 - y0) * box.height,
        x: u => x0 + (u - box.left) / box.width * (x1 - x0), y: v => y1 - (v - box.top) / box.height * (y1 - y0) };
      const fresh = strutSvg("svg", { width, height, viewBox: `0 0 ${width} ${height}`, class: "plot", role: "img", "aria-label": figure.alt });
      const clipName = `clip-${page.number(place)}`, clip = strutSvg("clipPath", { id: clipName });
      clip.append(strutSvg("rect", { x: box.left, y: box.top, width: box.width, height: box.height }));
      fresh.append(clip);
      if (!flow) {
        const xTicks = ticks(x0, x1, box.width / 90, figure.counted);
        for (const v of xTicks.list) {
          fresh.append(strutSvg("line", { x1: axes.u(v), x2: axes.u(v), y1: box.top, y2: box.top + box.height, class: "grid" }));
          const text = label(v, xTicks.step), half = measure(text) / 2 + 1;  /* within the plot, also at its ends */
          fresh.append(strutSvg("text", { x: Math.min(axes.u(v), width - half), y: box.top + box.height + 17, "text-anchor": "middle", class: "tick" }, text));
        }
        yTicks.list.forEach((v, k) => {
          fresh.append(strutSvg("line", { x1: box.left, x2: box.left + box.width, y1: axes.v(v), y2: axes.v(v), class: "grid" }));
          fresh.append(strutSvg("text", { x: box.left - 7, y: axes.v(v) + 4, "text-anchor": "end", class: "tick ytick" }, yLabels[k]));
        });
        fresh.append(strutSvg("text", { x: box.left + box.width / 2, y: height - 8, "text-anchor": "middle", class: "axis" }, figure.x));
        fresh.append(strutSvg("text", { transform: `translate(13 ${box.top + box.height / 2}) rotate(-90)`, "text-anchor": "middle", class: "axis ytitle" }, figure.y));
      }
      const inside = strutSvg("g", flow ? {} : { "clip-path": `url(#${clipName})` });
      for (const [, color, parts] of figure.shades) for (const [a, b] of parts) {
        inside.append(strutSvg("rect", { x: axes.u(a), y: box.top, width: Math.max(0, axes.u(b) - axes.u(a)), height: box.height, fill: color, "fill-opacity": 0.12 }));
      }
      for (const [name, times] of figure.marks) {
        const k = figure.marks.findIndex(m => m[0] === name), d = times.map(t => `M${axes.u(t).toFixed(1)} ${box.top}v${box.height}`).join("");
        inside.append(strutSvg("path", { d, class: "mark", ...(k % 4 ? { "stroke-dasharray": strutMarks.DASHES[["", "dash", "dot", "dashdot"][k % 4]] } : {}) }));
      }
      for (const trace of figure.traces) if (!trace.hidden) inside.append(...strutMarks.kinds[trace.kind](axes, trace));
      fresh.append(inside);
      if (cells) colourBar(fresh, cells, box);
      rows.forEach((row, n) => row.forEach(entry => fresh.append(legendEntry(entry, box.left, 13 + 19 * n))));
      cursor = strutSvg("line", { y1: box.top, y2: box.top + box.height, class: "cursor", visibility: "hidden" });
      dots = figure.traces.filter(t => t.t?.length && !t.hidden).map(trace => ({ trace, dot: strutSvg("circle", { r: 5, class: "cursor-dot", fill: trace.color, visibility: "hidden" }) }));
      hover = strutSvg("g", { class: "hover", visibility: "hidden" });
      fresh.append(cursor, ...dots.map(d => d.dot), hover);
      if (svg) svg.replaceWith(fresh); else place.prepend(fresh);
      svg = fresh;
      listen();
      follow(strutTime.now);
    };
    const colourBar = (into, cells, box) => {
      const x = box.left + box.width + 12;
      if (cells.names.length) cells.names.forEach(([, word, color], k) => {
        into.append(strutSvg("rect", { x, y: box.top + 20 * k, width: 13, height: 13, fill: color }));
        into.append(strutSvg("text", { x: x + 18, y: box.top + 20 * k + 11, class: "tick scale" }, word));
      });
      else {
        const [low, high] = cells.range, count = 40, part = box.height / count;
        for (let k = 0; k < count; k++) into.append(strutSvg("rect", { x, y: box.top + k * part, width: 13, height: part + 0.5, fill: `rgb(${strutMarks.mix(1 - (k + 0.5) / count)})` }));
        const { list, step } = ticks(low, high, 5, false);
        for (const v of high > low ? list : []) into.append(strutSvg("text", { x: x + 18, y: box.top + (high - v) / (high - low) * box.height + 4, class: "tick scale" }, label(v, step)));
      }
    };
    const legendEntry = (entry, left, y) => {
      const x = left + entry.at, group = strutSvg("g", { class: "entry" + (entry.of?.hidden ? " off" : ""), ...(entry.of ? { tabindex: 0, role: "button", "aria-pressed": !entry.of.hidden, "aria-label": entry.name } : {}) });
      if (entry.box) group.append(strutSvg("rect", { x, y: y - 9, width: 18, height: 10, fill: entry.color, "fill-opacity": 0.7 }));
      else if (entry.symbol) group.append(strutSvg("path", { d: strutMarks.symbol(entry.symbol, x + 9, y - 4, 5), ...(entry.symbol.endsWith("-open") ? { fill: "none", stroke: entry.color, "stroke-width": 1.6 } : { fill: entry.color }) }));
      else group.append(strutSvg("line", { x1: x, x2: x + 18, y1: y - 4, y2: y - 4, stroke: entry.color, "stroke-width": 2, ...(strutMarks.DASHES[entry.dash] ? { "stroke-dasharray": strutMarks.DASHES[entry.dash] } : {}) }));
      group.append(strutSvg("text", { x: x + 23, y, class: "name" }, entry.name));
      if (entry.of) {
        const toggle = () => { const off = !entry.of.hidden; all.filter(e => e.name === entry.name).forEach(e => { e.of.hidden = off; }); draw(); };
        group.addEventListener("click", toggle);
        group.addEventListener("keydown", event => { if (event.key === "Enter" || event.key === " ") { toggle(); event.preventDefault(); } });
      }
      return group;
    };
    const follow = t => {  /* the cursor, and of curves against each other the point of that time */
      if (!axes || t === null) return;
      const seen = figure.time && t >= axes.span[0] && t <= axes.span[1];
      if (figure.time) { cursor.setAttribute("visibility", seen ? "visible" : "hidden"); cursor.setAttribute("x1", axes.u(t)); cursor.setAttribute("x2", axes.u(t)); }
      for (const { trace, dot } of dots) {
        const x = valueAt({ x: trace.t, y: trace.x, step: true }, t), y = valueAt({ x: trace.t, y: trace.y, step: true }, t);
        dot.setAttribute("visibility", Number.isFinite(x) && Number.isFinite(y) ? "visible" : "hidden");
        if (Number.isFinite(x) && Number.isFinite(y)) { dot.setAttribute("cx", axes.u(x)); dot.setAttribute("cy", axes.v(y)); }
      }
    };
    const nearestPoint = (u, v, reach = 18, among = figure.traces) => {
      let best = null;
      for (const trace of among) if (!trace.hidden && (trace.kind === "points" || (trace.kind === "line" && !figure.time))) trace.x.forEach((x, k) => {
        const far = Math.hypot(axes.u(x) - u, axes.v(trace.y[k]) - v) - (trace.kind === "points" ? 4 : 0);
        if (far < (best?.far ?? reach)) best = { trace, k, far };
      });
      return best;
    };
    const lines = (u, v) => {  /* what there is to say of a place */
      const x = axes.x(u), y = axes.y(v), cells = figure.traces.find(t => t.kind === "cells");
      if (figure.time) return [`${figure.x.split(" [")[0]} ${digits(x, 5)}`, ...figure.traces.flatMap(t => t.hidden ? [] : t.kind === "line" ? [`${t.name} ${digits(valueAt(t, x), 6)}`]
        : t.kind === "areas" ? t.layers.map(layer => `${layer.name} ${digits(valueAt({ x: t.x, y: layer.y }, x), 6)}`) : [])].slice(0, 14);
      const near = nearestPoint(u, v);
      if (near) return [near.trace.name, ...(near.trace.labels?.[near.k] ? [near.trace.labels[near.k]] : []), `${digits(near.trace.x[near.k])}, ${digits(near.trace.y[near.k])}`].filter(Boolean);
      if (cells) {
        const [i, j] = axes.cell(x, y), value = i < 0 || j < 0 ? NaN : cells.values[j][i];
        return Number.isFinite(value) ? [`${digits(cells.x[i])}, ${digits(cells.y[j])}: ${cells.names.find(n => n[0] === value)?.[1] ?? digits(value)}`] : [];
      }
      return [];
    };
    const show = (u, v) => {
      const { box } = axes, texts = u < box.left || u > box.left + box.width || v < box.top || v > box.top + box.height || flow ? [] : lines(u, v);
      hover.replaceChildren();
      hover.setAttribute("visibility", texts.length ? "visible" : "hidden");
      if (!texts.length) return;
      const wide = 16 + Math.max(...texts.map(measure)), high = 8 + 17 * texts.length, x = u + 14 + wide > box.left + box.width ? Math.max(2, u - 14 - wide) : u + 14;
      const y = Math.min(Math.max(2, v - high / 2), box.top + box.height - high);
      if (figure.time) hover.append(strutSvg("line", { x1: u, x2: u, y1: box.top, y2: box.top + box.height, class: "mark" }));
      hover.append(strutSvg("rect", { x, y, width: wide, height: high, rx: 4, class: "tip" }));
      texts.forEach((text, k) => hover.append(strutSvg("text", { x: x + 8, y: y + 17 + 17 * k, class: "name" }, text)));
    };
    const listen = () => {
      if (flow) return;
      let begun = null, band = null;
      const place = event => { const r = svg.getBoundingClientRect(); return [event.clientX - r.left, event.clientY - r.top]; };
      svg.addEventListener("pointermove", event => {
        const [u, v] = place(event);
        if (begun === null) { show(u, v); return; }
        const { box } = axes, whole = figure.time;
        const [a, b] = [begun[0], u].sort((p, q) => p - q), [c, d] = whole ? [box.top, box.top + box.height] : [begun[1], v].sort((p, q) => p - q);
        band ??= svg.appendChild(strutSvg("rect", { class: "zoom" }));
        for (const [name, value] of Object.entries({ x: a, y: c, width: b - a, height: d - c })) band.setAttribute(name, Math.max(0, value));
      });
      svg.addEventListener("pointerdown", event => {
        if (event.button !== 0 || event.pointerType === "touch" || event.target.closest(".entry")) return;  /* a finger scrolls the page */
        const [u, v] = place(event), { box } = axes;
        if (u >= box.left && u <= box.left + box.width && v >= box.top && v <= box.top + box.height) { begun = [u, v]; svg.setPointerCapture(event.pointerId); }
      });
      svg.addEventListener("pointerup", event => {
        if (begun === null) return;
        const [u, v] = place(event), [a, b] = [begun[0], u].sort((p, q) => p - q), [c, d] = [begun[1], v].sort((p, q) => p - q);
        begun = null; band?.remove(); band = null;
        if (b - a < 5) return;
        const span = [axes.x(a), axes.x(b)];
        if (figure.time) { page.zoom(span); return; }
        state.x = span;
        if (d - c > 5) state.y = [axes.y(d), axes.y(c)];
        draw();
      });
      svg.addEventListener("pointerleave", () => { hover.setAttribute("visibility", "hidden"); });
      svg.addEventListener("dblclick", () => { if (figure.time) page.zoom(null); else { state.x = state.y = null; draw(); } });
      svg.addEventListener("click", event => {
        if (event.target.closest(".entry")) return;
        const [u, v] = place(event), { box } = axes;
        if (u < box.left || u > box.left + box.width || v < box.top || v > box.top + box.height) return;
        const near = nearestPoint(u, v, 14), walk = nearestPoint(u, v, 14, figure.traces.filter(t => t.walks));  /* squares lie on other points */
        if (figure.time) strutTime.seek(axes.x(u));
        else if (near?.trace.t?.length) strutTime.seek(near.trace.t[near.k]);
        else if (walk) page.showWalk(walk.trace.walks[walk.k]);
      });
    };
    draw();
    strutTime.listen(follow);
    return { draw, figure, zoom: span => { if (!figure.time) return; state.x = span; draw(); }, axes: () => axes, svg: () => svg };
  };
})();
