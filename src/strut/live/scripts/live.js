/* The page: sliders, the machine in motion, its phase portrait, its gait, and maps; everything from modules that are in the page. */
(async () => {
  const $ = id => document.getElementById(id), data = JSON.parse($("live-data").textContent), bytes = name => $(name) && Uint8Array.from(atob($(name).textContent), c => c.charCodeAt(0));
  const unpack = async name => { const packed = bytes(name); return packed && new Uint8Array(await new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"))).arrayBuffer()); };
  if (typeof WebAssembly === "undefined" || typeof DecompressionStream === "undefined") { $("say").textContent = "This page needs a browser of 2023 or later, with WebAssembly."; return; }
  const code = await unpack("machine"), varied = await unpack("varied"), machine = await strutModule(code), about = machine.about;
  const page = { machine, frames: 0, rate: 0, pace: 1, busy: 0, simulating: 0, simulated: 0, gait: null, map: null, basin: null, data };
  window.strutPage = page;
  machine.p.set(data.p); machine.u.set(data.u);
  const settings = strutSettings({ machine, data, place: $("sliders"), faults: $("faults"), onChange: anew => {
    if (machine.ending || anew) start(); else retuneOnGround();
    page.landed = false; renew();
  } });
  const { label, degrees } = settings;
  page.settings = settings;

  /* ---- the run ---- */
  const film = data.film && strutLiveFilm(data.film, machine);
  let drawer = null, inSpace = false, playing = !matchMedia("(prefers-reduced-motion: reduce)").matches, before = 0, trail = [], jumpsBefore = 0;
  const start = (x, z) => {
    machine.options({ rtol: 1e-8, atol: 1e-10, maxSteps: 1e12 });
    machine.initial();
    if (x) { machine.x.set(x); machine.z.set(z); } else if (data.begin && settings.areDefaults()) { machine.x.set(data.begin.x); machine.z.set(data.begin.z); }
    machine.begin(0); trail = []; jumpsBefore = 0; if (film) { film.clear(); film.take(false); page.landed = false; }
  };
  /* Goes on with other parameters. Where these move the ground, the machine moves along: a slope turns about the machine, not about the place
     where it began, far behind. */
  const retuneOnGround = () => {
    const below = () => { if (!data.lift || !data.film || !data.film.com || !data.film.ground) return 0; const [k] = data.film.com, [x, y] = machine.see("scene").subarray(k, k + 2); return machine.see("ground", x, y)[0]; };
    const before = below();
    machine.retune();
    const rise = below() - before;
    if (rise && Number.isFinite(rise)) stepDown(rise);
  };
  page.start = start; page.change = (name, value) => settings.change(settings.list.find(q => q.name === name), value);
  const steps = () => data.walk ? data.walk.steps.reduce((sum, name) => sum + machine.counts(name), 0) : 0;
  /* Goes on by dt, in four parts; where they take more than the milliseconds given, not as far. */
  const advance = (dt, most = Infinity) => {
    const from = machine.t, parts = 4, began = performance.now();
    for (let k = 1; k <= parts && !machine.ending && performance.now() - began < most; k++) {
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
    if (!inSpace) { delete screen.dataset.thrift; screen.removeAttribute("title"); }
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
      if (!page.gait) { $("gait-say").textContent = news.fault || `no gait found from here${news.gait && news.gait.why ? ": " + (news.gait.why === "done" ? NO_STEP : "steps end by " + news.gait.why) : ""}${data.advice ? "\n" + data.advice : ""}`; drawMultipliers(); forgetBasin(); if (data.walk) askMap(); return; }
      const g = page.gait, largest = Math.hypot(...(g.multipliers[0] || [0, 0])), others = g.multipliers.filter(m => Math.hypot(m[0] - 1, m[1]) > 1e-7), word = largest < 1 - 1e-7 ? "stable" : others.every(m => Math.hypot(...m) < 1) ? "neutral" : "unstable";
      const length = data.walk.stepLength >= 0 ? g.after.z[data.walk.stepLength] : null;
      $("gait-say").textContent = `${word}, largest multiplier ${largest.toPrecision(5)}\nstep ${g.period.toPrecision(6)} s${length ? `, ${length.toPrecision(6)} m, speed ${(length / g.period).toPrecision(5)} m/s` : ""}\nfound in ${news.took.toFixed(0)} ms, residual ${g.residual.toExponential(1)}`;
      drawMultipliers();
      if (data.walk) askMap();
      if (data.shape.plane.length === 2) askBasin();
    },
    map: news => { if (news.number !== hear.newest.map) return; page.map = news.fault ? { ...news, points: [], done: 1 } : news; drawMap(); },
    basin: news => { if (news.number !== hear.newest.basin) return; if (news.fault) forgetBasin(`it could not be computed: ${news.fault}`); else { page.basin = news; drawBasin(); } },
  };
  const mapped = () => settings.list.filter(q => q.group === "p");
  const askMap = () => {  /* around the present value: from nothing to twice of it, as far as bounds and sliders go */
    const q = mapped()[$("map-of").selectedIndex];
    if (!q) return;
    const v = machine.p[q.k], ends = v ? [Math.min(0, 2.2 * v), Math.max(0, 2.2 * v)] : [Number(settings.rows[q.name].slider.min), Number(settings.rows[q.name].slider.max)];
    const low = Math.max(ends[0], q.low ?? -Infinity), high = Math.min(ends[1], q.high ?? Infinity);
    ask("map", { index: q.k, name: q.name, values: [...Array(200).keys()].map(k => low + (high - low) * (k + 0.5) / 200), steps: 50, last: 16, gait: page.gait && { y: page.gait.y } });
  };
  const forgetBasin = (why = "there is no gait to come back to") => {  /* that of another machine says nothing of this one */
    hear.newest.basin = page.basin = null;
    if ($("basin")) { $("basin-key").replaceChildren(); $("basin-say").textContent = why; strutPlot($("basin"), { x: [0, 1], y: [0, 1], titles: ["", ""], note: "no basin" }); }
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
  const digits = v => String(Number(v.toPrecision(4))), between = ([a, b]) => `from ${digits(a)} to ${digits(b)}`;
  const drawPortrait = () => {
    const i = Number($("portrait-x").value), j = Number($("portrait-y").value), list = trail.map(x => x && [x[i] * degrees(about.x[i]), x[j]]), real = list.filter(Boolean);
    if (real.length < 2) { strutPlot($("portrait"), { x: [0, 1], y: [0, 1], titles: ["", ""], note: playing ? "nothing has moved yet" : "nothing has moved yet: press Play" }); return; }
    const spans = [span(real.map(q => q[0])), span(real.map(q => q[1]))], titles = [label(about.x[i]), `${about.x[j].name}${about.x[j].unit ? ` [${about.x[j].unit}]` : ""}`];
    const plot = strutPlot($("portrait"), { x: pad(spans[0]), y: pad(spans[1]), titles });
    strutDescribe($("portrait"), `${titles[0]} ${between(spans[0])}, ${titles[1]} ${between(spans[1])}`, () => [titles, ...real]);
    plot.line(list, plot.color("--accent")); plot.points([real[real.length - 1]], plot.color("--bad"), 6);
  };
  const drawMultipliers = () => {
    const plot = strutPlot($("multipliers"), { x: [-1.6, 1.6], y: [-1.2, 1.2], titles: ["real", "imaginary"], square: true, note: page.gait ? "" : "no gait, so no multipliers" });
    plot.line([...Array(91).keys()].map(k => [Math.cos(k * Math.PI / 45), Math.sin(k * Math.PI / 45)]), plot.color("--soft"), 1);
    if (!page.gait) return;
    page.growing = page.gait.multipliers.filter(m => Math.hypot(...m) > 1 + 1e-7);  /* what alone makes it unstable */
    const sizes = page.gait.multipliers.map(m => Math.hypot(...m));
    strutDescribe($("multipliers"), `${sizes.length - page.growing.length} inside of the unit circle, ${page.growing.length} outside, the largest ${digits(Math.max(...sizes))}`, () => [["real", "imaginary"], ...page.gait.multipliers]);
    plot.points(page.gait.multipliers.filter(m => !page.growing.includes(m)), plot.color("--good"), 7); plot.points(page.growing, plot.color("--bad"), 7);
  };
  const drawMap = () => {
    const { points, values, name, done, steps: asked, fault } = page.map, q = settings.list.find(s => s.name === name), scaled = points.map(([a, b]) => [a * degrees(q), b]);
    const note = fault ? `it could not be computed: ${fault}` : scaled.length ? "" : done < 1 ? "looking" : `no value of ${name} here makes ${asked} steps`;
    const plot = strutPlot($("map"), { note, x: [values[0] * degrees(q), values[values.length - 1] * degrees(q)], y: scaled.length ? pad(span(scaled.map(s => s[1]))) : [0, 1], titles: [label(q), done < 1 ? `step time [s], ${Math.round(100 * done)} %` : "step time [s]"] });
    plot.points(scaled, plot.color("--accent"));
    const now = machine[q.group][q.k] * degrees(q);
    if (scaled.length) strutDescribe($("map"), `${scaled.length} step times ${between(span(scaled.map(s => s[1])))} s, ${label(q)} ${between(span(scaled.map(s => s[0])))}, now ${digits(now)}`, () => [[label(q), "step time [s]"], ...scaled]);
    plot.pen.strokeStyle = plot.color("--bad"); plot.pen.lineWidth = 1; plot.pen.beginPath(); plot.pen.moveTo(plot.X(now), plot.box.top); plot.pen.lineTo(plot.X(now), plot.box.bottom); plot.pen.stroke();
  };
  const drawBasin = () => {
    const { cells, first, second } = page.basin, names = data.shape.names, titles = [first, second].map(a => { const q = about.x.find(e => e.name === names[a.index]); return `${names[a.index]}${q && q.unit ? ` [${q.unit}]` : ""}`; });
    const plot = strutPlot($("basin"), { x: span(first.values), y: span(second.values), titles }), places = k => [first.values[Math.floor(k / second.values.length)], second.values[k % second.values.length]];
    const colours = {}, paint = ["--bad", "--soft", "--accent", "--other"], kinds = [...new Set(cells)].filter(w => w !== "walks").sort(), w = (plot.box.right - plot.box.left) / first.values.length + 1, h = (plot.box.bottom - plot.box.top) / second.values.length + 1;
    cells.forEach((word, k) => { const [a, b] = places(k); plot.pen.fillStyle = colours[word] ??= plot.color(word === "walks" ? "--good" : paint[kinds.indexOf(word) % 4]); plot.pen.fillRect(plot.X(a) - w / 2, plot.Y(b) - h / 2, w, h); });
    if (page.gait) plot.points([[page.gait.y[first.index], page.gait.y[second.index]]], "#fff", 6);
    const count = word => cells.filter(w => w === word).length, part = word => `${Math.round(100 * count(word) / Math.max(1, cells.length))} %`;
    $("basin-say").textContent = `${part("walks")} walk`;
    strutDescribe($("basin"), `over ${titles[0]} ${between(span(first.values))} and ${titles[1]} ${between(span(second.values))}: ${["walks", ...kinds].filter(count).map(word => `${word === "done" ? NO_STEP : word} ${part(word)}`).join(", ")}`, () => [[...titles, "outcome"], ...cells.map((word, k) => [...places(k), word])]);
    $("basin-key").replaceChildren(...["walks", ...kinds].filter(count).map(word => {
      const entry = document.createElement("span"), swatch = document.createElement("i");
      swatch.style.background = colours[word]; entry.title = about.events[word] || "";
      entry.append(swatch, `${word === "done" ? NO_STEP : word} ${count(word)} (${part(word)})`);
      return entry;
    }));
  };

  /* ---- choices ---- */
  const choose = (id, list, index) => { list.forEach((q, k) => $(id).append(Object.assign(document.createElement("option"), { textContent: q.name, value: k, hidden: !!q.internal }))); $(id).selectedIndex = index; };
  if (about.x.length) { choose("portrait-x", about.x, data.portrait[0]); choose("portrait-y", about.x, data.portrait[1]); } else $("portrait-box").remove();
  if (data.walk) { choose("map-of", mapped(), Math.max(0, mapped().findIndex(q => q.k === data.walk.parameter))); $("map-of").onchange = askMap; } else $("map-box").remove();
  if (!varied) { $("gait-box").remove(); $("basin-box").remove(); }
  else { if (data.shape.plane.length !== 2) $("basin-box").remove(); $("walk-gait").onclick = () => { if (page.gait) start(page.gait.x, page.gait.z); }; }
  $("again").onclick = () => start();
  const showPlay = () => { $("play").textContent = playing ? "Pause" : "Play"; };
  $("play").onclick = () => { playing = !playing; showPlay(); };
  showPlay();
  $("defaults").onclick = () => { settings.reset(); start(); renew(); };
  $("walk")?.addEventListener("keydown", e => { if (e.key === " " && !/INPUT|SELECT|BUTTON|TEXTAREA/.test(e.target.tagName)) { $("play").click(); e.preventDefault(); } });
  addEventListener("resize", () => { if (varied) drawMultipliers(); if (page.map) drawMap(); if (page.basin) drawBasin(); });

  /* ---- every frame ---- */
  const SIMULATION_MS = 20;  /* of a frame's 33; a machine that needs more goes slower, and the page says so */
  const tick = stamp => {
    const wall = before ? (stamp - before) / 1000 : 0;
    before = stamp; page.frames++; const frameBegan = performance.now();
    if (wall > 0) page.rate += 0.05 * (1 / wall - page.rate);
    const speed = Number($("speed").value) * data.timeScale, dt = Math.min(0.1, wall) * speed;
    if (playing && dt > 0 && !machine.ending) {
      const began = performance.now(), from = machine.t;
      advance(dt, SIMULATION_MS); page.cost = performance.now() - began;
      page.simulating += page.cost; page.simulated += machine.t - from;
      if (wall < 0.5) page.pace += 0.05 * ((machine.t - from) / (wall * speed) - page.pace);  /* longer: the page was out of sight */
    }
    if (film && film.t.length) {
      if (!page.landed || Math.abs(film.last().centre[0] - film.landAt) > 0.45 * film.landReach) { if (inSpace || !drawer) make(); else { film.layGround(film.landReach, 161); page.landed = true; } }
      if (drawer) drawer(machine.t, playing && !machine.ending);
      if (drag && !inSpace) { const pen = $("screen").getContext("2d"); pen.strokeStyle = film.color("--bad"); pen.lineWidth = 3; pen.beginPath(); pen.moveTo(drag.x, drag.y); pen.lineTo(...drag.now); pen.stroke(); }
    }
    if (page.frames % 3 === 1) {
      if (about.x.length) drawPortrait();
      $("say").textContent = "";
      if (machine.ending) $("say").append(Object.assign(document.createElement("span"), { className: "ended", textContent: `ended: ${about.events[machine.ending] || machine.ending}` }));
      if (!varied && data.advice && data.failures.includes(machine.ending) && !steps()) $("say").append(`\n${data.advice}`);
      $("say").append(`${machine.ending ? "\n" : ""}${machine.t.toFixed(2)}${data.timeUnit}${data.walk ? `, ${steps()} step${steps() === 1 ? "" : "s"}` : ""}\n${page.rate.toFixed(0)} frames/s, ${(page.cost || 0).toFixed(1)} ms of simulation each`);
      if (inSpace && $("screen").dataset.thrift) $("say").append(`\n${$("screen").title}`);
      if (page.pace < 0.9 && playing && !machine.ending) $("say").append(Object.assign(document.createElement("span"), { className: "slow", textContent: `\nslow motion: ${(page.pace * Number($("speed").value)).toPrecision(2)} of real time. ${page.cost > 0.6 * SIMULATION_MS ? "This machine is too heavy for this browser to run faster." : "This browser draws too slowly."}` }));
    }
    page.busy += performance.now() - frameBegan;
    requestAnimationFrame(tick);
  };
  start();
  if (varied) drawMultipliers();
  renew();
  requestAnimationFrame(tick);
})();
