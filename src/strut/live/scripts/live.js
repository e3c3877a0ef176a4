/* The page: sliders, the machine in motion, its phase portrait, its gait, and maps; everything from modules that are in the page. */
(async () => {
  const $ = id => document.getElementById(id), data = JSON.parse($("live-data").textContent), bytes = name => $(name) && Uint8Array.from(atob($(name).textContent), c => c.charCodeAt(0));
  const unpack = async name => { const packed = bytes(name); return packed && new Uint8Array(await new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"))).arrayBuffer()); };
  if (typeof WebAssembly === "undefined" || typeof DecompressionStream === "undefined") { $("say").textContent = "This page needs a browser of 2023 or later, with WebAssembly."; return; }
  const code = await unpack("machine"), varied = await unpack("varied"), machine = await strutModule(code), about = machine.about;
  const page = { machine, frames: 0, rate: 0, gait: null, map: null, basin: null, data };
  window.strutPage = page;
  const number = v => Number(v.toPrecision(5)), degrees = q => q.unit === "rad" ? 180 / Math.PI : 1, unit = q => q.unit === "rad" ? "°" : q.unit;
  const label = q => `${q.name}${unit(q) ? " [" + unit(q) + "]" : ""}`;
  machine.p.set(data.p); machine.u.set(data.u);

  /* ---- settings, and the link that keeps them ---- */
  const settings = [...about.p.map((q, k) => ({ ...q, value: data.p[k], group: "p", k })), ...about.u.map((q, k) => ({ ...q, value: data.u[k], group: "u", k }))];
  const kept = new URLSearchParams(location.hash.slice(1));
  for (const q of settings) { const given = kept.has(q.name) ? Number(kept.get(q.name)) : NaN; if (Number.isFinite(given) && given >= (q.low ?? -Infinity) && given <= (q.high ?? Infinity)) machine[q.group][q.k] = given; }
  const keepLink = () => {
    const words = new URLSearchParams();
    for (const q of settings) if (machine[q.group][q.k] !== q.value) words.set(q.name, machine[q.group][q.k]);
    const text = words.toString();
    if (location.hash.slice(1) !== text) location.replace("#" + text);
  };
  const range = q => {
    if (q.group === "u" && q.low !== null && q.high !== null) return [q.low, q.high];  /* what a motor can give */
    const typical = q.group === "u" ? { "N m": 10, N: 25, V: 5 } : { rad: 0.2 };
    const v = q.value, size = Math.max(Math.abs(v), typical[q.unit] ?? 0.5);
    const low = q.low !== null && q.low > v - 3 * size ? q.low : v > 0 ? Math.max(q.low ?? -Infinity, 0) : v - 2 * size;
    const high = q.high !== null && q.high < v + 3 * size ? q.high : v < 0 ? Math.min(q.high ?? Infinity, 0) : v + (v > 0 ? 1.5 : 2) * size;
    return [low, high];
  };
  const rows = {};
  const change = (q, value) => {
    value = Math.min(q.high ?? Infinity, Math.max(q.low ?? -Infinity, value));
    machine[q.group][q.k] = value;
    const row = rows[q.name];
    row.slider.value = value; row.field.value = number(value * degrees(q));
    if (machine.ending) start(); else { machine.retune(); }
    page.landed = false; keepLink(); renew();
  };
  for (const [group, title] of [["p", "Parameters"], ["u", "Inputs"]]) {
    const own = settings.filter(q => q.group === group);
    if (!own.length) continue;
    $("sliders").append(Object.assign(document.createElement("h2"), { textContent: title }));
    for (const q of own) {
      const row = document.createElement("label"), [low, high] = range(q), value = machine[q.group][q.k];
      row.className = "slider"; row.title = [q.text, q.low !== null || q.high !== null ? `${q.low ?? "-∞"} to ${q.high ?? "∞"} ${q.unit}` : ""].filter(Boolean).join("; ");
      const slider = Object.assign(document.createElement("input"), { type: "range", min: Math.min(low, value), max: Math.max(high, value), step: "any" });
      const field = Object.assign(document.createElement("input"), { type: "number", step: "any", value: number(value * degrees(q)) });
      slider.value = value; slider.setAttribute("aria-label", label(q)); field.setAttribute("aria-label", label(q) + ", as a number"); slider.dataset.name = q.name;
      row.append(Object.assign(document.createElement("span"), { textContent: q.name }), field, Object.assign(document.createElement("span"), { textContent: unit(q), className: "unit" }), slider);
      slider.oninput = () => change(q, Number(slider.value));
      field.onchange = () => { if (Number.isFinite(field.valueAsNumber)) change(q, field.valueAsNumber / degrees(q)); else field.value = number(machine[q.group][q.k] * degrees(q)); };
      rows[q.name] = { slider, field };
      $("sliders").append(row);
    }
  }

  /* ---- the run ---- */
  const film = data.film && strutLiveFilm(data.film, machine);
  let drawer = null, inSpace = false, playing = true, before = 0, trail = [], jumpsBefore = 0, stepsSeen = 0;
  const start = (x, z) => {
    machine.options({ rtol: 1e-8, atol: 1e-10, maxSteps: 1e12 });
    machine.initial();
    if (x) { machine.x.set(x); machine.z.set(z); } else if (data.begin && settings.every(q => machine[q.group][q.k] === q.value)) { machine.x.set(data.begin.x); machine.z.set(data.begin.z); }
    machine.begin(0); trail = []; jumpsBefore = 0; if (film) { film.clear(); film.take(false); page.landed = false; }
  };
  page.start = start; page.change = (name, value) => change(settings.find(q => q.name === name), value);
  const steps = () => data.walk ? data.walk.steps.reduce((sum, name) => sum + machine.counts(name), 0) : 0;
  const advance = dt => {
    const from = machine.t, parts = 4;
    for (let k = 1; k <= parts && !machine.ending; k++) {
      machine.run(from + dt * k / parts);
      trail.push(machine.jumps !== jumpsBefore ? null : Array.from(machine.x)); if (machine.jumps !== jumpsBefore) trail.push(Array.from(machine.x));
      if (film) film.take(machine.jumps !== jumpsBefore);
      jumpsBefore = machine.jumps;
    }
    if (trail.length > 1600) trail.splice(0, trail.length - 1600);
  };
  page.advance = advance;

  /* ---- pushes and steps of the ground ---- */
  const push = (x, z) => { if (!data.push || machine.ending) return; const after = Array.from(machine.see("push", x, z)); if (after.every(Number.isFinite)) { machine.x.set(after); machine.retune(); } };
  const stepDown = height => { if (!data.lift) return; const [group, k] = data.lift; machine[group][k] += height; machine.retune(); };
  page.push = push; page.stepDown = stepDown;
  if (data.push) $("push").onclick = () => push(Number($("push-size").value), 0); else $("push-row").remove();
  if (data.lift) $("down").onclick = () => stepDown(Number($("down-size").value) / 100); else $("down-row").remove();
  let drag = null;
  const listen = screen => {
    screen.onpointerdown = e => { if (inSpace || !data.push) return; drag = { x: e.offsetX, y: e.offsetY, now: [e.offsetX, e.offsetY] }; screen.setPointerCapture(e.pointerId); };
    screen.onpointermove = e => { if (drag) drag.now = [e.offsetX, e.offsetY]; };
    screen.onpointerup = e => { if (!drag) return; push((e.offsetX - drag.x) / 100, -(e.offsetY - drag.y) / 100); drag = null; };
  };
  const make = () => {
    const old = $("screen"), screen = old.cloneNode();
    if (inSpace) { old.addEventListener("webglcontextlost", e => e.stopImmediatePropagation(), true); const lost = old.getContext("webgl2"); if (lost) lost.getExtension("WEBGL_lose_context")?.loseContext(); }
    old.replaceWith(screen);
    inSpace = $("space").checked;
    film.layGround(inSpace ? 25 * film.size : 2.2 * Math.max(...film.window), inSpace ? 101 : 161);
    drawer = inSpace ? strutSpace({ ...film, com: null, get land() { return film.land; } }, screen, () => {}) : strutFlat(film, screen);
    listen(screen); page.landed = true;
  };
  if (film) {
    $("space").onchange = async () => {
      if ($("space").checked && typeof THREE === "undefined") { const text = new TextDecoder().decode(await unpack("three")); document.head.append(Object.assign(document.createElement("script"), { textContent: text })); }
      document.querySelectorAll(".space").forEach(e => { e.hidden = !$("space").checked; });
      make();
    };
  } else $("walk").remove();

  /* ---- workers ---- */
  const NO_STEP = "no step within the time";  /* the run ended, and no event of the section had happened */
  const source = URL.createObjectURL(new Blob([data.worker], { type: "text/javascript" })), workers = {};
  let number_ = 0;
  const ask = (kind, order) => {
    if (!workers[kind]) { workers[kind] = new Worker(source); workers[kind].onmessage = ({ data: news }) => { if (news.fault) console.error(news.kind + ": " + news.fault); hear[news.kind](news); }; workers[kind].postMessage({ kind: "open", machine: code, varied, shape: data.shape, walk: data.walk }); }
    workers[kind].postMessage({ kind, number: ++number_, p: Array.from(machine.p), u: Array.from(machine.u), ...order });
    hear.newest[kind] = number_;
  };
  const hear = { newest: {},
    gait: news => {
      if (news.number !== hear.newest.gait) return;
      page.gait = news.gait && news.gait.y ? news.gait : null; page.gaitTook = news.took; $("walk-gait").disabled = !page.gait;
      if (!page.gait) { $("gait-say").textContent = news.fault || `no gait found from here${news.gait && news.gait.why ? ": " + (news.gait.why === "done" ? NO_STEP : "steps end by " + news.gait.why) : ""}`; drawMultipliers(); forgetBasin(); if (data.walk) askMap(); return; }
      const g = page.gait, largest = Math.hypot(...(g.multipliers[0] || [0, 0])), others = g.multipliers.filter(m => Math.hypot(m[0] - 1, m[1]) > 1e-7), word = largest < 1 - 1e-7 ? "stable" : others.every(m => Math.hypot(...m) < 1) ? "neutral" : "unstable";
      const length = data.walk.stepLength >= 0 ? g.after.z[data.walk.stepLength] : null;
      $("gait-say").textContent = `${word}, largest multiplier ${largest.toPrecision(5)}\nstep ${g.period.toPrecision(6)} s${length ? `, ${length.toPrecision(6)} m, speed ${(length / g.period).toPrecision(5)} m/s` : ""}\nfound in ${news.took.toFixed(0)} ms, residual ${g.residual.toExponential(1)}`;
      drawMultipliers();
      if (data.walk) askMap();
      if (data.shape.plane.length === 2) askBasin();
    },
    map: news => { if (news.number === hear.newest.map && !news.fault) { page.map = news; drawMap(); } },
    basin: news => { if (news.number === hear.newest.basin && !news.fault) { page.basin = news; drawBasin(); } },
  };
  const askMap = () => {  /* around the present value: from nothing to twice of it, as far as bounds and sliders go */
    const q = settings[$("map-of").selectedIndex];
    if (!q) return;
    const v = machine.p[q.k], ends = v ? [Math.min(0, 2.2 * v), Math.max(0, 2.2 * v)] : [Number(rows[q.name].slider.min), Number(rows[q.name].slider.max)];
    const low = Math.max(ends[0], q.low ?? -Infinity), high = Math.min(ends[1], q.high ?? Infinity);
    ask("map", { index: q.k, name: q.name, values: [...Array(200).keys()].map(k => low + (high - low) * (k + 0.5) / 200), steps: 50, last: 16, gait: page.gait && { x: page.gait.x, z: page.gait.z } });
  };
  const forgetBasin = () => {  /* that of another machine says nothing of this one */
    hear.newest.basin = page.basin = null;
    if ($("basin")) { $("basin").getContext("2d").clearRect(0, 0, $("basin").width, $("basin").height); $("basin-say").textContent = "there is no gait to come back to"; }
  };
  const askBasin = () => {
    const [a, b] = data.shape.plane, axis = (k, n) => { const c = page.gait.y[k], r = Math.max(0.5, 0.5 * Math.abs(c)); return { index: k, values: [...Array(n).keys()].map(i => c - r + 2 * r * i / (n - 1)) }; };
    ask("basin", { gait: { y: page.gait.y, z: page.gait.z }, first: axis(a, 44), second: axis(b, 33), steps: 12 });
  };
  let timer = 0;
  const renew = () => { clearTimeout(timer); timer = setTimeout(() => { if (varied) ask("gait", { near: page.gait && page.gait.y }); else if (data.walk) askMap(); }, 120); };
  page.renew = renew;

  /* ---- plots ---- */
  const span = list => list.reduce(([a, b], v) => [Math.min(a, v), Math.max(b, v)], [Infinity, -Infinity]), pad = ([a, b]) => [a - 0.05 * (b - a || 1), b + 0.05 * (b - a || 1)];
  const drawPortrait = () => {
    const i = $("portrait-x").selectedIndex, j = $("portrait-y").selectedIndex, list = trail.map(x => x && [x[i] * degrees(about.x[i]), x[j]]), real = list.filter(Boolean);
    if (real.length < 2) return;
    const plot = strutPlot($("portrait"), { x: pad(span(real.map(q => q[0]))), y: pad(span(real.map(q => q[1]))), titles: [label(about.x[i]), `${about.x[j].name}${about.x[j].unit ? ` [${about.x[j].unit}]` : ""}`] });
    plot.line(list, plot.color("--accent")); plot.points([real[real.length - 1]], plot.color("--bad"), 6);
  };
  const drawMultipliers = () => {
    const plot = strutPlot($("multipliers"), { x: [-1.6, 1.6], y: [-1.2, 1.2], titles: ["real", "imaginary"], square: true });
    plot.line([...Array(91).keys()].map(k => [Math.cos(k * Math.PI / 45), Math.sin(k * Math.PI / 45)]), plot.color("--soft"), 1);
    if (page.gait) plot.points(page.gait.multipliers, plot.color(Math.hypot(...(page.gait.multipliers[0] || [0])) < 1 ? "--good" : "--bad"), 7);
  };
  const drawMap = () => {
    const { points, values, name, done } = page.map, q = settings.find(s => s.name === name), scaled = points.map(([a, b]) => [a * degrees(q), b]);
    const plot = strutPlot($("map"), { x: [values[0] * degrees(q), values[values.length - 1] * degrees(q)], y: scaled.length ? pad(span(scaled.map(s => s[1]))) : [0, 1], titles: [label(q), done < 1 ? `step time [s], ${Math.round(100 * done)} %` : "step time [s]"] });
    plot.points(scaled, plot.color("--accent"));
    const now = machine[q.group][q.k] * degrees(q);
    plot.pen.strokeStyle = plot.color("--bad"); plot.pen.lineWidth = 1; plot.pen.beginPath(); plot.pen.moveTo(plot.X(now), plot.box.top); plot.pen.lineTo(plot.X(now), plot.box.bottom); plot.pen.stroke();
  };
  const drawBasin = () => {
    const { cells, first, second } = page.basin, names = data.shape.names, plot = strutPlot($("basin"), { x: span(first.values), y: span(second.values), titles: [first, second].map(a => { const q = about.x.find(e => e.name === names[a.index]); return `${names[a.index]}${q && q.unit ? ` [${q.unit}]` : ""}`; }) });
    const colours = {}, paint = ["--bad", "--soft", "--line", "--ground"], kinds = [...new Set(cells)].filter(w => w !== "walks").sort(), w = (plot.box.right - plot.box.left) / first.values.length + 1, h = (plot.box.bottom - plot.box.top) / second.values.length + 1;
    cells.forEach((word, k) => { const a = first.values[Math.floor(k / second.values.length)], b = second.values[k % second.values.length]; plot.pen.fillStyle = colours[word] ??= plot.color(word === "walks" ? "--good" : paint[kinds.indexOf(word) % 4]); plot.pen.fillRect(plot.X(a) - w / 2, plot.Y(b) - h / 2, w, h); });
    if (page.gait) plot.points([[page.gait.y[first.index], page.gait.y[second.index]]], "#fff", 6);
    $("basin-say").textContent = `${Math.round(100 * cells.filter(w => w === "walks").length / Math.max(1, cells.length))} % walk${kinds.length ? "; others: " + kinds.map(word => word === "done" ? NO_STEP : word).join(", ") : ""}`;
  };

  /* ---- choices ---- */
  const choose = (id, list, index) => { list.forEach(q => $(id).append(Object.assign(document.createElement("option"), { textContent: q.name }))); $(id).selectedIndex = index; };
  choose("portrait-x", about.x, data.portrait[0]); choose("portrait-y", about.x, data.portrait[1]);
  if (data.walk) { choose("map-of", settings.filter(q => q.group === "p"), data.walk.parameter); $("map-of").onchange = askMap; } else $("map-box").remove();
  if (!varied) { $("gait-box").remove(); $("basin-box").remove(); }
  else { if (data.shape.plane.length !== 2) $("basin-box").remove(); $("walk-gait").onclick = () => { if (page.gait) start(page.gait.x, page.gait.z); }; }
  $("again").onclick = () => start();
  $("play").onclick = () => { playing = !playing; $("play").textContent = playing ? "Pause" : "Play"; };
  $("defaults").onclick = () => { for (const q of settings) { machine[q.group][q.k] = q.value; rows[q.name].slider.value = q.value; rows[q.name].field.value = number(q.value * degrees(q)); } start(); keepLink(); renew(); };
  addEventListener("keydown", e => { if (e.key === " " && !/INPUT|SELECT|BUTTON|TEXTAREA/.test(e.target.tagName)) { $("play").click(); e.preventDefault(); } });
  addEventListener("resize", () => { if (varied) drawMultipliers(); if (page.map) drawMap(); if (page.basin) drawBasin(); });

  /* ---- every frame ---- */
  const tick = stamp => {
    const wall = before ? (stamp - before) / 1000 : 0;
    before = stamp; page.frames++; const frameBegan = performance.now();
    if (wall > 0) page.rate += 0.05 * (1 / wall - page.rate);
    const dt = Math.min(0.05, wall) * Number($("speed").value) * data.timeScale;
    if (playing && dt > 0 && !machine.ending) { const t0 = performance.now(); advance(dt); page.cost = performance.now() - t0; }
    if (film && film.t.length) {
      if (!page.landed || Math.abs(film.last().centre[0] - film.landAt) > 0.45 * film.landReach) { if (inSpace || !drawer) make(); else { film.layGround(film.landReach, 161); page.landed = true; } }
      if (drawer) drawer(machine.t);
      if (drag && !inSpace) { const pen = $("screen").getContext("2d"); pen.strokeStyle = film.color("--bad"); pen.lineWidth = 3; pen.beginPath(); pen.moveTo(drag.x, drag.y); pen.lineTo(...drag.now); pen.stroke(); }
    }
    if (page.frames % 3 === 1) {
      drawPortrait();
      $("say").textContent = "";
      if (machine.ending) $("say").append(Object.assign(document.createElement("span"), { className: "ended", textContent: `ended: ${about.events[machine.ending] || machine.ending}` }));
      $("say").append(`${machine.ending ? "\n" : ""}${machine.t.toFixed(2)}${data.timeUnit}${data.walk ? `, ${steps()} step${steps() === 1 ? "" : "s"}` : ""}\n${page.rate.toFixed(0)} frames/s, ${(page.cost || 0).toFixed(1)} ms of simulation each`);
    }
    page.busy = (page.busy ?? 0) + performance.now() - frameBegan;
    requestAnimationFrame(tick);
  };
  start();
  if (varied) drawMultipliers();
  renew();
  requestAnimationFrame(tick);
})();
