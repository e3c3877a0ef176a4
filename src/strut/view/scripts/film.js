/* Plays a film: finds the frame for a time, and lets buttons, the slider and keys move the time. A drawer does the drawing. */
const strutFilm = (name, makeDrawer, prefix = "") => {
  const holder = document.getElementById(name);
  if (!holder) return;
  const data = JSON.parse(holder.textContent);
  const open = c => {
    if (c.still) return { ...c, row: () => c.still, at: () => c.still };
    const bytes = Uint8Array.from(atob(c.rows), b => b.charCodeAt(0)), w = c.width;
    const values = new Float32Array(bytes.buffer);
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
  const button = find("play"), slider = find("frame"), clock = find("clock"), speed = find("speed");
  let playing = false, now = t[0], before = 0;
  film.shown = (what, otherwise = true) => find("show-" + what)?.checked ?? otherwise;
  film.color = key => getComputedStyle(document.documentElement).getPropertyValue(key).trim();
  const drawer = makeDrawer(film, find("screen"), () => draw());
  const draw = () => {
    drawer(now);
    slider.value = film.frameAt(now); clock.textContent = now.toFixed(2) + data.units.time;
    if (leads) strutTime.tell(now);
  };
  const tell = () => { button.textContent = playing ? "Pause" : "Play"; };
  const tick = stamp => {
    if (!playing) return;
    now += before ? (stamp - before) / 1000 * (speed ? +speed.value : 1) : 0; before = stamp;
    if (now >= t[last]) { now = t[last]; playing = false; tell(); }
    draw();
    requestAnimationFrame(tick);
  };
  const toggle = () => {
    playing = !playing; before = 0;
    if (playing && now >= t[last]) { now = t[0]; draw(); }
    tell(); requestAnimationFrame(tick);
  };
  const go = k => { playing = false; tell(); now = t[Math.min(last, Math.max(0, k))]; draw(); };
  button.onclick = toggle;
  slider.max = last;
  slider.oninput = () => go(+slider.value);
  document.querySelectorAll(`[id^="${prefix}show-"]`).forEach(box => { box.onchange = draw; });
  if (leads) strutTime.seekers.add(time => { playing = false; tell(); now = Math.min(t[last], Math.max(t[0], time)); draw(); });
  const player = find("player");
  const alone = holder.dataset.focus === "yes";  /* the page is nothing but the player */
  (alone ? document : player).addEventListener("keydown", event => {  /* keys are those of the player that has the focus, of the page otherwise */
    if (/INPUT|SELECT|BUTTON|TEXTAREA/.test(event.target.tagName)) return;
    if (event.key === " ") toggle();
    else if (event.key === "ArrowRight") go(film.frameAt(now) + 1);
    else if (event.key === "ArrowLeft") go(film.frameAt(now) - 1);
    else if (event.key === "Home") go(0);
    else if (event.key === "End") go(last);
    else return;
    event.preventDefault();
  });
  if (alone) player.focus({ preventScroll: true });
  addEventListener("resize", draw);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
  draw();
  const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
  if (holder.dataset.autoplay === "yes" && !calm) toggle();
};
