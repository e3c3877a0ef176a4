/* Plots on plain canvases: axes with round numbers, points, lines, cells; in words for those who do not see them, and as numbers. */
const strutDescribe = (canvas, words, rows = null) => {  /* rows: a function of what the button "data" saves, head first */
  canvas.dataset.what ??= canvas.getAttribute("aria-label");
  const text = `${canvas.dataset.what}: ${words}`;
  if (canvas.getAttribute("aria-label") !== text) canvas.setAttribute("aria-label", text);
  canvas.strutRows = rows;
};
document.addEventListener("click", event => {
  const button = event.target.closest?.("button[data-of]"), canvas = button && document.getElementById(button.dataset.of);
  if (!canvas?.strutRows) return;
  const text = canvas.strutRows().map(row => row.map(v => typeof v === "string" ? `"${v.replaceAll('"', '""')}"` : v).join(",")).join("\n") + "\n";
  const link = Object.assign(document.createElement("a"), { download: `${canvas.id}.csv`, href: URL.createObjectURL(new Blob([text], { type: "text/csv" })) });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
});
const strutPlot = (canvas, { x, y, titles, square = false, note = "" }) => {
  const ratio = Math.min(2, devicePixelRatio || 1), width = canvas.clientWidth, height = canvas.clientHeight;
  if (canvas.width !== Math.floor(width * ratio) || canvas.height !== Math.floor(height * ratio)) { canvas.width = Math.floor(width * ratio); canvas.height = Math.floor(height * ratio); }
  const pen = canvas.getContext("2d"), color = key => getComputedStyle(document.documentElement).getPropertyValue(key).trim();
  pen.setTransform(ratio, 0, 0, ratio, 0, 0); pen.clearRect(0, 0, width, height);
  const box = { left: 52, right: width - 12, top: 10, bottom: height - 34 }, widen = ([a, b]) => a === b ? [a - 0.5 * (Math.abs(a) || 1), b + 0.5 * (Math.abs(b) || 1)] : [a, b];
  let [x0, x1] = widen(x), [y0, y1] = widen(y);
  if (square) { const unit = Math.min((box.right - box.left) / (x1 - x0), (box.bottom - box.top) / (y1 - y0)), mx = (x0 + x1) / 2, my = (y0 + y1) / 2, hx = (box.right - box.left) / unit / 2, hy = (box.bottom - box.top) / unit / 2; [x0, x1, y0, y1] = [mx - hx, mx + hx, my - hy, my + hy]; }
  const X = v => box.left + (v - x0) / (x1 - x0) * (box.right - box.left), Y = v => box.bottom - (v - y0) / (y1 - y0) * (box.bottom - box.top);
  const ticks = (a, b) => { const raw = (b - a) / 5, power = 10 ** Math.floor(Math.log10(raw)), step = [1, 2, 5, 10].find(m => m * power >= raw) * power, all = []; for (let v = Math.ceil(a / step) * step; v <= b + 1e-9 * step; v += step) all.push(Math.abs(v) < 1e-12 * step ? 0 : v); return all; };
  pen.font = "11px system-ui, sans-serif"; pen.strokeStyle = color("--line"); pen.fillStyle = color("--soft"); pen.lineWidth = 1;
  const word = v => String(Number(v.toPrecision(4)));
  pen.textAlign = "center"; for (const v of ticks(x0, x1)) { pen.beginPath(); pen.moveTo(X(v), box.top); pen.lineTo(X(v), box.bottom); pen.stroke(); pen.fillText(word(v), X(v), box.bottom + 13); }
  pen.textAlign = "right"; for (const v of ticks(y0, y1)) { pen.beginPath(); pen.moveTo(box.left, Y(v)); pen.lineTo(box.right, Y(v)); pen.stroke(); pen.fillText(word(v), box.left - 5, Y(v) + 4); }
  pen.textAlign = "center"; pen.fillText(titles[0], (box.left + box.right) / 2, height - 6);
  pen.save(); pen.translate(11, (box.top + box.bottom) / 2); pen.rotate(-Math.PI / 2); pen.fillText(titles[1], 0, 0); pen.restore();
  if (note) { pen.fillStyle = color("--soft"); pen.font = "13px system-ui, sans-serif"; pen.textAlign = "center"; pen.fillText(note, (box.left + box.right) / 2, (box.top + box.bottom) / 2, box.right - box.left); }
  canvas.dataset.note = note;
  if (note) strutDescribe(canvas, note);
  const plot = { pen, X, Y, color, box,
    points: (list, paint, size = 2) => { pen.fillStyle = paint; for (const [a, b] of list) pen.fillRect(X(a) - size / 2, Y(b) - size / 2, size, size); },
    line: (list, paint, thick = 1.2) => { pen.strokeStyle = paint; pen.lineWidth = thick; pen.beginPath(); let up = true; for (const q of list) { if (!q) { up = true; continue; } if (up) pen.moveTo(X(q[0]), Y(q[1])); else pen.lineTo(X(q[0]), Y(q[1])); up = false; } pen.stroke(); } };
  return plot;
};
