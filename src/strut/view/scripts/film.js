/* Plays a film, which may be compressed: finds the frame for a time, and lets buttons, the slider and keys move the time. A drawer does the drawing. */
const strutFilm = (name, makeDrawer, prefix = "") => {
  const holder = document.getElementById(name);
  if (!holder) return;
  const bytesOf = text => Uint8Array.from(atob(text), b => b.charCodeAt(0));
  if (holder.className !== "packed") { strutPlay(holder, JSON.parse(holder.textContent), makeDrawer, prefix, bytesOf); return; }
  const say = words => { const screen = document.getElementById(prefix + "player"); if (screen) screen.textContent = words; };
  if (typeof DecompressionStream === "undefined") { say("This film needs a browser of 2023 or later: an older one cannot unpack it."); return; }
  new Response(new Blob([bytesOf(holder.textContent)]).stream().pipeThrough(new DecompressionStream("gzip"))).json()
    .then(data => strutPlay(holder, data, makeDrawer, prefix, bytesOf), error => say("This film cannot be unpacked: the file is damaged (" + error.message + ")."));
};
/* The clock of a film, or of several side by side: they play together, and one that is over waits at its end. */
const strutClock = () => {
  const films = new Set();
  let before = 0;
  const clock = { films, now: NaN, playing: false, speed: 1,
    get begin() { return Math.min(...[...films].map(f => f.begin)); },
    get end() { return Math.max(...[...films].map(f => f.end)); },
    show: time => { clock.now = Math.min(clock.end, Math.max(clock.begin, time)); films.forEach(f => f.draw()); },
    stop: () => { clock.playing = false; films.forEach(f => f.tell()); },
    setSpeed: speed => { clock.speed = speed; films.forEach(f => f.tell()); },
    toggle: () => {
      clock.playing = !clock.playing; before = 0;
      if (clock.playing && clock.now >= clock.end) clock.show(clock.begin);
      films.forEach(f => f.tell()); requestAnimationFrame(tick);
    },
  };
  const tick = stamp => {
    if (!clock.playing) return;
    const now = clock.now + (before ? (stamp - before) / 1000 * clock.speed : 0);
    before = stamp;
    if (now >= clock.end) clock.stop();
    clock.show(now);
    requestAnimationFrame(tick);
  };
  return clock;
};
const strutPlay = (holder, data, makeDrawer, prefix, bytesOf) => {
  const decode = c => {  /* single precision; or whole changes from row to row, a column after the other, low bytes before high ones */
    const w = c.width;
    if (c.rows) return new Float32Array(bytesOf(c.rows).buffer);
    const bytes = bytesOf(c.changes), half = bytes.length / 2, list = new Float32Array(c.count * w);
    for (let i = 0; i < w; i++) for (let k = 0, sum = 0; k < c.count; k++) {
      if (k) { const at = i * (c.count - 1) + k - 1; sum += (bytes[at] | bytes[half + at] << 8) << 16 >> 16; }
      list[k * w + i] = c.first[i] + c.unit * sum;
    }
    return list;
  };
  const open = c => {
    if (c.still) return { ...c, row: () => c.still, at: () => c.still };
    const values = decode(c), w = c.width;
    const row = k => values.subarray(k * w, k * w + w);
    const at = (k, a) => {
      const first = row(k);
      if (!a) return first;
      const second = row(k + 1);
      return first.map((v, i) => v + a * (second[i] - v));
    };
    return { ...c, row, at };
  };
  const all = c => Array.from({ length: c.count }, (_, k) => c.row(k)[0]);
  const film = { ...data, t: all(open(data.t)), centre: open(data.centre), com: data.com && open(data.com) };
  film.pieces = data.pieces.map(p => ({ ...p, values: Object.fromEntries(Object.entries(p.values).map(([n, c]) => [n, open(c)])) }));
  film.pushes = data.pushes.map(p => ({ ...p, at: open(p.at), force: open(p.force) }));
  film.pivots = data.pivots.map(p => ({ ...p, at: open(p.at), axis: open(p.axis) }));
  film.land = data.land && Object.fromEntries(Object.entries(data.land).map(([n, c]) => [n, all(open(c))]));
  film.meshes = data.meshes.map(m => ({ ...m, vertices: open(m.vertices) }));
  const t = film.t, last = t.length - 1, cuts = new Set(data.cuts);
  film.frameAt = time => {
    let low = 0, high = last;
    while (low < high) { const middle = (low + high + 1) >> 1; if (t[middle] <= time) low = middle; else high = middle - 1; }
    return low;
  };
  film.between = time => {  /* frame, and how far to the next; nothing lies between the two sides of a jump */
    const k = film.frameAt(time);
    return k === last || cuts.has(k + 1) ? [k, 0] : [k, Math.min(1, Math.max(0, (time - t[k]) / (t[k + 1] - t[k])))];
  };
  const leads = !prefix || (!document.getElementById("film") && !document.querySelector("[data-walk]"));  /* films side by side share the time of the plots */
  const find = id => document.getElementById(prefix + id);
  const row = find("player").closest("[data-film]:not([data-walk])")?.parentElement;  /* of films side by side, of which not one alone is seen */
  const clock = row ? row.strutClock ??= strutClock() : strutClock();
  const button = find("play"), slider = find("frame"), dial = find("clock"), speed = find("speed"), together = row?.querySelector(".together button");
  const time = () => Math.min(t[last], Math.max(t[0], clock.now));
  film.shown = (what, otherwise = true) => find("show-" + what)?.checked ?? otherwise;
  film.color = key => getComputedStyle(document.documentElement).getPropertyValue(key).trim();
  const drawer = makeDrawer(film, find("screen"), () => draw());
  const draw = () => {
    drawer(time(), clock.playing);
    slider.value = film.frameAt(time()); dial.textContent = time().toFixed(2) + data.units.time;
    if (leads) strutTime.tell(clock.now);
  };
  const tell = () => {
    button.textContent = clock.playing ? "Pause" : "Play";
    if (together) together.textContent = clock.playing ? "Pause all" : "Play all";
    if (speed) speed.value = String(clock.speed);
  };
  const go = k => { clock.stop(); clock.show(t[Math.min(last, Math.max(0, k))]); };
  const step = by => go(film.frameAt(time()) + by);
  clock.films.add({ begin: t[0], end: t[last], draw, tell });
  if (Number.isNaN(clock.now)) clock.now = t[0];
  if (speed) speed.onchange = () => clock.setSpeed(+speed.value);
  if (together) together.onclick = clock.toggle;
  button.onclick = clock.toggle;
  slider.max = last;
  slider.oninput = () => go(+slider.value);
  document.querySelectorAll(`[id^="${prefix}show-"]`).forEach(box => { box.onchange = draw; });
  if (leads) strutTime.seekers.add(at => { clock.stop(); clock.show(at); });
  const player = find("player");
  const alone = holder.dataset.focus === "yes";  /* the page is nothing but the player */
  (alone ? document : player).addEventListener("keydown", event => {  /* keys are those of the player that has the focus, of the page otherwise */
    if (/INPUT|SELECT|BUTTON|TEXTAREA/.test(event.target.tagName)) return;
    const turn = { ArrowLeft: [-0.15, 0], ArrowRight: [0.15, 0], ArrowUp: [0, 0.1], ArrowDown: [0, -0.1] }[event.key];
    if (event.key === " ") clock.toggle();
    else if (event.shiftKey && turn && film.turnBy && film.shown("space", false)) film.turnBy(...turn);
    else if (event.key === "ArrowRight") step(1);
    else if (event.key === "ArrowLeft") step(-1);
    else if (event.key === "Home") go(0);
    else if (event.key === "End") go(last);
    else return;
    event.preventDefault();
  });
  if (alone) player.focus({ preventScroll: true });
  addEventListener("resize", draw);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
  draw();
  player.dataset.ready = "yes";
  const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
  if (holder.dataset.autoplay === "yes" && !calm) clock.toggle();
};
