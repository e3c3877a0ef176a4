/* Draws the marks of a plot into an SVG: curves, points, bands, layers, cells and flows. Names are set as text and never as HTML. */
const strutSvg = (tag, attributes = {}, text = "") => {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  if (text) element.textContent = text;
  return element;
};
const strutMarks = (() => {
  const DASHES = { dash: "7 4", dot: "2 3", dashdot: "7 3 2 3" };
  const CIVIDIS = ["#00224e", "#123570", "#3b496c", "#575d6d", "#707173", "#8a8678", "#a59c74", "#c3b369", "#e1cc55", "#fee838"];
  const mix = part => {  /* a colour of the scale, from 0 to 1 */
    const at = Math.min(1, Math.max(0, part)) * (CIVIDIS.length - 1), k = Math.min(CIVIDIS.length - 2, Math.floor(at));
    const channel = (color, n) => parseInt(color.slice(1 + 2 * n, 3 + 2 * n), 16);
    return [0, 1, 2].map(n => Math.round(channel(CIVIDIS[k], n) + (at - k) * (channel(CIVIDIS[k + 1], n) - channel(CIVIDIS[k], n))));
  };
  const number = value => value.toFixed(1);
  /* Points of a curve that can be seen: of many in a column of pixels the first, the least, the greatest and the last. */
  const thin = (u, v) => {
    if (u.length < 2000) return [...u.keys()];
    const kept = [];
    let k = 0;
    while (k < u.length) {
      const column = Math.floor(u[k]);
      let end = k, low = k, high = k;
      while (end < u.length && Math.floor(u[end]) === column && !Number.isNaN(v[end])) {
        if (v[end] < v[low]) low = end;
        if (v[end] > v[high]) high = end;
        end++;
      }
      if (end === k) { kept.push(k); k++; continue; }
      kept.push(...[...new Set([k, low, high, end - 1])].sort((a, b) => a - b));
      k = end;
    }
    return kept;
  };
  const path = (u, v, step = false) => {
    let text = "", pen = false, last = 0;
    for (const k of thin(u, v)) {
      if (Number.isNaN(u[k]) || Number.isNaN(v[k])) { pen = false; continue; }
      if (!pen) text += `M${number(u[k])} ${number(v[k])}`;
      else text += (step ? `L${number(u[k])} ${number(v[last])}` : "") + `L${number(u[k])} ${number(v[k])}`;
      pen = true; last = k;
    }
    return text;
  };
  const symbol = (kind, u, v, r) => {
    if (kind === "diamond") return `M${number(u)} ${number(v - r)}L${number(u + r)} ${number(v)}L${number(u)} ${number(v + r)}L${number(u - r)} ${number(v)}Z`;
    if (kind === "square") return `M${number(u - r)} ${number(v - r)}h${2 * r}v${2 * r}h${-2 * r}Z`;
    if (kind === "cross") {
      const s = 0.35 * r;
      return `M${number(u - r)} ${number(v - s)}h${r - s}v${s - r}h${2 * s}v${r - s}h${r - s}v${2 * s}h${s - r}v${r - s}h${-2 * s}v${s - r}h${s - r}Z`;
    }
    return `M${number(u - r)} ${number(v)}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0Z`;
  };
  const pixels = (axes, trace) => [trace.x.map(axes.u), trace.y.map(axes.v)];
  const kinds = {
    line: (axes, trace) => {
      const [u, v] = pixels(axes, trace);
      return [strutSvg("path", { d: path(u, v, trace.step), fill: "none", stroke: trace.color, "stroke-width": trace.width,
        "stroke-linejoin": "round", ...(DASHES[trace.dash] ? { "stroke-dasharray": DASHES[trace.dash] } : {}), class: "curve" })];
    },
    points: (axes, trace) => {
      const [u, v] = pixels(axes, trace), open = trace.symbol.endsWith("-open");
      const d = u.map((a, k) => Number.isFinite(a) && Number.isFinite(v[k]) ? symbol(trace.symbol, a, v[k], trace.size / 2) : "").join("");
      return [strutSvg("path", { d, class: "points", ...(open ? { fill: "none", stroke: trace.color, "stroke-width": 1.6 } : { fill: trace.color }) })];
    },
    band: (axes, trace) => {
      const has = trace.x.map((_, k) => Number.isFinite(trace.lower[k]) && Number.isFinite(trace.upper[k]));
      const at = [...trace.x.keys()].filter(k => has[k]);
      const corner = (k, side) => `${number(axes.u(trace.x[k]))} ${number(axes.v(trace[side][k]))}`;
      const d = [...at.map(k => corner(k, "upper")), ...at.reverse().map(k => corner(k, "lower"))].join("L");
      return d ? [strutSvg("path", { d: `M${d}Z`, fill: trace.color, "fill-opacity": trace.opacity })] : [];
    },
    areas: (axes, trace) => {
      const u = trace.x.map(axes.u);
      let below = trace.x.map(() => 0);
      return trace.layers.flatMap(layer => {
        const top = below.map((value, k) => value + layer.y[k]), edge = top.map(axes.v), floor = below.map(axes.v);
        const kept = [...new Set([...thin(u, edge), ...thin(u, floor)])].sort((a, b) => a - b);
        const d = [...kept.map(k => `${number(u[k])} ${number(edge[k])}`), ...kept.slice().reverse().map(k => `${number(u[k])} ${number(floor[k])}`)];
        below = top;
        return layer.hidden ? [] : [strutSvg("path", { d: `M${d.join("L")}Z`, fill: layer.color, "fill-opacity": 0.7 })];
      });
    },
    cells: (axes, trace) => {
      const { left, top, width, height } = axes.box, canvas = document.createElement("canvas");
      canvas.width = Math.max(1, Math.round(width)); canvas.height = Math.max(1, Math.round(height));
      const pen = canvas.getContext("2d"), image = pen.createImageData(canvas.width, canvas.height);
      const nearest = (list, value) => {
        const step = list.length > 1 ? Math.abs(list[1] - list[0]) : 1, last = list.length - 1;
        if (value < list[0] - step / 2 || value > list[last] + Math.abs(list[last] - list[Math.max(0, last - 1)] || step) / 2) return -1;
        let low = 0, high = last;
        while (low < high) { const middle = (low + high) >> 1; if ((list[middle] + list[middle + 1]) / 2 < value) low = middle + 1; else high = middle; }
        return low;
      };
      axes.cell = (x, y) => [nearest(trace.x, x), nearest(trace.y, y)];
      const columns = Array.from({ length: canvas.width }, (_, k) => nearest(trace.x, axes.x(left + (k + 0.5) / canvas.width * width)));
      const rows = Array.from({ length: canvas.height }, (_, k) => nearest(trace.y, axes.y(top + (k + 0.5) / canvas.height * height)));
      const shade = value => {
        if (!Number.isFinite(value)) return null;
        const word = trace.names.find(([key]) => key === value);
        if (trace.names.length) return word ? [0, 1, 2].map(n => parseInt(word[2].slice(1 + 2 * n, 3 + 2 * n), 16)) : null;
        const [low, high] = trace.range;
        return mix(high > low ? (value - low) / (high - low) : 0.5);
      };
      const shades = trace.values.map(row => row.map(shade));
      rows.forEach((j, y) => columns.forEach((i, x) => {
        const color = i < 0 || j < 0 ? null : shades[j][i];
        if (color) image.data.set([...color, 255], 4 * (y * canvas.width + x));
      }));
      pen.putImageData(image, 0, 0);
      return [strutSvg("image", { x: left, y: top, width, height, href: canvas.toDataURL(), preserveAspectRatio: "none", class: "cells" })];
    },
    flow: (axes, trace) => {
      const { left, top, width, height } = axes.box, gap = 26, thick = 12, label = Math.min(0.32 * width, 190);
      const total = Math.max(...["sources", "sinks"].map(side => trace[side].reduce((sum, [, amount]) => sum + amount, 0))) || 1;
      const most = Math.max(trace.sources.length, trace.sinks.length), scale = (height - gap * (most - 1)) / total, pieces = [];
      const middle = left + width / 2;
      for (const [side, x] of [["sources", left + label], ["sinks", left + width - label]]) {
        const sum = trace[side].reduce((all, [, amount]) => all + amount, 0), labels = [];
        let at = top + (height - sum * scale - gap * (trace[side].length - 1)) / 2, inner = top + (height - sum * scale) / 2;
        for (const [name, amount, color] of trace[side]) {
          const high = amount * scale, to = side === "sources" ? middle - thick / 2 : middle + thick / 2, bend = (x + to) / 2;
          pieces.push(strutSvg("path", { d: `M${x} ${at}C${bend} ${at} ${bend} ${inner} ${to} ${inner}v${high}C${bend} ${inner + high} ${bend} ${at + high} ${x} ${at + high}Z`,
            fill: color, "fill-opacity": 0.45 }));
          pieces.push(strutSvg("rect", { x: side === "sources" ? x - thick : x, y: at, width: thick, height: Math.max(1, high), fill: color }));
          labels.push({ at: at + high / 2, words: [...name.replace(" (", "\n(").split("\n"), `${amount.toPrecision(4).replace(/\.?0+$/, "")} ${trace.unit}`] });
          at += high + gap; inner += high;
        }
        const need = k => 7.5 * (labels[k].words.length + labels[k + 1].words.length) + 3;  /* so that none lies on the next: first down, then up again */
        for (let k = 0; k + 1 < labels.length; k++) labels[k + 1].at = Math.max(labels[k + 1].at, labels[k].at + need(k));
        if (labels.length) labels[labels.length - 1].at = Math.min(labels[labels.length - 1].at, top + height + 12);
        for (let k = labels.length - 2; k >= 0; k--) labels[k].at = Math.min(labels[k].at, labels[k + 1].at - need(k));
        const edge = side === "sources" ? x - thick - 8 : x + thick + 8;
        for (const { at: y, words } of labels) {
          const text = strutSvg("text", { class: "flow-label", "text-anchor": side === "sources" ? "end" : "start" });
          words.forEach((word, k) => text.append(strutSvg("tspan", { x: edge, y: y + 15 * (k - (words.length - 1) / 2) + 4 }, word)));
          pieces.push(text);
        }
      }
      const tall = Math.max(...["sources", "sinks"].map(side => trace[side].reduce((all, [, amount]) => all + amount, 0))) * scale;
      pieces.push(strutSvg("rect", { x: middle - thick / 2, y: top + (height - tall) / 2, width: thick, height: tall, fill: "#808080" }));
      return pieces;
    },
  };
  return { kinds, mix, DASHES, symbol };
})();
