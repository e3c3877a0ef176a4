/* A film whose frames are made while one looks: the same object that players of recorded films draw. */
const strutLiveFilm = (data, machine) => {
  const frames = [], t = [], keep = 420, opened = c => {
    if (c.still) return { ...c, row: () => c.still, at: () => c.still };
    const bytes = Uint8Array.from(atob(c.rows), b => b.charCodeAt(0)), values = new Float32Array(bytes.buffer);
    return { ...c, row: k => values.subarray(k * c.width, (k + 1) * c.width) };
  };
  const column = (place, other) => { const at = k => { const f = frames[k], [from, n] = f.swapped && other ? other : place; return Array.from(f.row.subarray(from, from + n)); }; return { at, row: at, get count() { return 0; } }; };
  const partner = Object.fromEntries(data.swaps.flatMap(([a, b]) => [[a, b], [b, a]]));
  const still = opened(data.centre).row(0);
  const film = { ...data, t, meshes: data.meshes.map(m => ({ ...m, vertices: opened(m.vertices) })), prints: [], land: null,
    pieces: data.pieces.map((p, k) => ({ ...p, values: Object.fromEntries(Object.entries(p.places).map(([n, place]) => [n, column(place, k in partner && data.pieces[partner[k]].places[n])])) })),
    pushes: data.pushes.map(p => ({ name: p.name, at: column(p.at), force: column(p.force) })),
    pivots: data.pivots.map(p => ({ kind: p.kind, at: column(p.at), axis: column(p.axis) })),
    com: data.com ? column(data.com) : null,
    centre: { at: k => frames[k].centre, row: k => frames[k].centre },
    frameAt: time => { let low = 0, high = t.length - 1; while (low < high) { const middle = (low + high + 1) >> 1; if (t[middle] <= time) low = middle; else high = middle - 1; } return low; },
    between: time => [film.frameAt(time), 0],
    shown: (what, otherwise = true) => document.getElementById("show-" + what)?.checked ?? otherwise,
    color: key => getComputedStyle(document.documentElement).getPropertyValue(key).trim() };
  const middle = (row, k, places) => { const p = places || data.pieces[k].places, take = place => row.subarray(place[0], place[0] + 3); return p.at ? take(p.at) : take(p.start).map((v, i) => (v + take(p.end)[i]) / 2); };
  const apart = (a, b) => Math.hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);
  film.clear = () => { frames.length = t.length = 0; film.still = data.still; };
  film.take = jumped => {  /* a frame of now; legs that exchanged their names in an event are followed */
    const row = machine.see("scene").slice(), before = frames[frames.length - 1];
    if (!row.every(Number.isFinite)) return;
    let swapped = before ? before.swapped : false;
    if (before && jumped && data.swaps.length) {
      let straight = 0, crossed = 0;
      for (const [a, b] of data.swaps) {
        const now = [middle(row, a), middle(row, b)], then = [middle(before.row, a), middle(before.row, b)];
        straight += apart(now[0], then[0]) + apart(now[1], then[1]); crossed += apart(now[0], then[1]) + apart(now[1], then[0]);
      }
      if (crossed < straight) swapped = !swapped;
    }
    const low = [1e9, 1e9, 1e9], high = [-1e9, -1e9, -1e9];
    data.pieces.forEach((p, k) => middle(row, k).forEach((v, i) => { low[i] = Math.min(low[i], v); high[i] = Math.max(high[i], v); }));
    let centre = low.map((v, i) => (v + high[i]) / 2);
    if (film.still && apart(centre, still) > 0.35 * data.flat[0]) film.still = false;  /* it goes away: follow it */
    if (before) { const part = Math.min(1, (machine.t - before.t) / 0.4); centre = centre.map((v, i) => before.centre[i] + part * (v - before.centre[i])); }
    if (film.still) centre = Array.from(still);
    frames.push({ t: machine.t, row, swapped, centre }); t.push(machine.t);
    if (frames.length > keep) { frames.shift(); t.shift(); }
  };
  film.last = () => frames[frames.length - 1];
  /* The ground around a place. */
  film.layGround = (reach, count) => {
    if (!data.ground || !frames.length) return;
    const middle = film.last().centre, side = film.planar ? [-1, 1].map(v => v * reach) : [...Array(9).keys()].map(k => (k / 4 - 1) * reach);
    const x = [...Array(count).keys()].map(k => middle[0] + (2 * k / (count - 1) - 1) * reach), y = side.map(v => middle[1] + v), height = [];
    for (const v of y) for (const w of x) height.push(machine.see("ground", w, v)[0]);
    film.land = { x, y, height };
    film.landAt = middle[0]; film.landReach = reach;
  };
  return film;
};
