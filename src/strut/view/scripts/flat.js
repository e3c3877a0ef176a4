/* Draws a film on a plain canvas: planar machines from the side, others from ahead and above; and from anywhere where a reader turns it. */
const strutFlat = (film, canvas, redraw = () => {}) => {
  const LABEL_ROOM = 52;  /* px that the number of a line on the ground needs */
  const pen = canvas.getContext("2d"), angles = { turn: 0.7, tilt: 0.35 };
  let right, up, toward, flat = film.planar;
  const look = () => {  /* directions of the picture in the world */
    const inSpace = film.shown("space", false);
    flat = film.planar && !inSpace;
    const { turn, tilt } = flat ? { turn: 0, tilt: 0 } : inSpace ? angles : { turn: 0.7, tilt: 0.35 };
    const c = Math.cos(turn), s = Math.sin(turn), e = Math.sin(tilt), f = Math.cos(tilt);
    right = [c, s, 0]; up = [-s * e, c * e, f]; toward = [s * f, -c * f, e];
  };
  const turnBy = (a, b) => { angles.turn -= a; angles.tilt = Math.min(1.5, Math.max(-0.2, angles.tilt + b)); redraw(); };
  film.turnBy = turnBy;
  let held = null;
  canvas.addEventListener("pointerdown", event => { if (!film.shown("space", false)) return; held = [event.clientX, event.clientY]; canvas.setPointerCapture(event.pointerId); });
  canvas.addEventListener("pointermove", event => { if (!held) return; turnBy((event.clientX - held[0]) / 150, (event.clientY - held[1]) / 150); held = [event.clientX, event.clientY]; });
  for (const end of ["pointerup", "pointercancel"]) canvas.addEventListener(end, () => { held = null; });
  const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
  const [windowWide, windowHigh] = film.flat;
  const times = (R, v) => [0, 1, 2].map(i => R[i] * v[0] + R[3 + i] * v[1] + R[6 + i] * v[2]);
  const add = (a, b) => Array.from(a, (v, i) => v + b[i]);
  const corners = [-1, 1].flatMap(x => [-1, 1].flatMap(y => [-1, 1].map(z => [x, y, z])));
  const around = [...Array(24).keys()].flatMap(i => [...Array(13).keys()].map(j => {
    const a = i * Math.PI / 12, b = j * Math.PI / 12;
    return [Math.sin(b) * Math.cos(a), Math.sin(b) * Math.sin(a), Math.cos(b)];
  }));
  const some = film.meshes.map(m => {  /* of a mesh, enough corners for its outline */
    const step = Math.max(1, Math.floor(m.vertices.count / 400));
    return [...Array(Math.ceil(m.vertices.count / step)).keys()].map(k => Array.from(m.vertices.row(k * step)));
  });
  const hull = points => {
    const sorted = points.slice().sort((a, b) => a[0] - b[0] || a[1] - b[1]), half = list => {
      const kept = [];
      for (const p of list) {
        while (kept.length > 1) {
          const a = kept[kept.length - 2], b = kept[kept.length - 1];
          if ((b[0] - a[0]) * (p[1] - a[1]) - (b[1] - a[1]) * (p[0] - a[0]) > 0) break;
          kept.pop();
        }
        kept.push(p);
      }
      kept.pop();
      return kept;
    };
    return [...half(sorted), ...half(sorted.reverse())];
  };
  return now => {
    const ratio = window.devicePixelRatio || 1, width = canvas.clientWidth, height = canvas.clientHeight;
    canvas.width = width * ratio; canvas.height = height * ratio;
    if (width < 1 || height <= 24) return;  /* not laid out yet, or hidden: a scale would be negative */
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    const [k, a] = film.between(now), middle = film.centre.at(k, a);
    look();
    canvas.classList.toggle("turns", film.shown("space", false));
    const scale = Math.min(width / windowWide, (height - 24) / windowHigh);
    const cu = dot(middle, right), cv = dot(middle, up);
    const spot = p => [width / 2 + (dot(p, right) - cu) * scale, (height - 20) / 2 - (dot(p, up) - cv) * scale];
    const trace = points => { pen.beginPath(); points.forEach(p => pen.lineTo(p[0], p[1])); };
    const line = (points, stroke, thick) => { trace(points); pen.strokeStyle = stroke; pen.lineWidth = thick; pen.stroke(); };
    const fill = (points, paint, edge) => {
      trace(points); pen.closePath(); pen.fillStyle = paint; pen.fill();
      if (edge) { pen.strokeStyle = edge; pen.lineWidth = 1; pen.stroke(); }
    };
    const disc = (p, r, paint, edge) => {
      pen.beginPath(); pen.arc(p[0], p[1], r, 0, 2 * Math.PI); pen.fillStyle = paint; pen.fill();
      if (edge) { pen.strokeStyle = edge; pen.lineWidth = 1; pen.stroke(); }
    };
    const rod = (p, q, r, paint, edge, cap) => {
      pen.lineCap = cap;
      if (edge) line([p, q], edge, 2 * r + 1);
      line([p, q], paint, Math.max(2 * r - 1, 1)); pen.lineCap = "round";
    };
    const ink = film.color("--ink"), soft = film.color("--soft");
    const part = (piece, k, a, edge) => {
      const v = Object.fromEntries(Object.entries(piece.values).map(([n, c]) => [n, c.at(k, a)]));
      if (film.planar && !flat && piece.side) for (const n of ["at", "start", "end"]) if (v[n]) v[n] = add(v[n], [0, piece.side * 0.03 * film.size, 0]);  /* side by side, not one within the other */
      const points = list => fill(hull(list.map(p => spot(add(v.at, times(v.rotation, p))))), piece.colour, edge);
      if (piece.kind === "sphere") disc(spot(v.at), v.radius[0] * scale, piece.colour, edge);
      else if (piece.kind === "capsule") rod(spot(v.start), spot(v.end), v.radius[0] * scale, piece.colour, edge, "round");
      else if (piece.kind === "cylinder") rod(spot(v.start), spot(v.end), v.radius[0] * scale, piece.colour, edge, "butt");
      else if (piece.kind === "box") points(corners.map(q => q.map((x, i) => x * v.size[i] / 2)));
      else if (piece.kind === "ellipsoid") points(around.map(q => q.map((x, i) => x * v.radii[i])));
      else if (piece.kind === "mesh") {
        const size = film.meshes[piece.mesh].standIn ? v.scale.map(Math.sign) : v.scale;
        points(some[piece.mesh].map(q => q.map((x, i) => x * size[i])));
      } else if (piece.kind === "arc") {
        const r = v.radius[0], from = v.begin[0], to = v.finish[0];
        const rim = [...Array(25).keys()].map(i => { const b = from + (to - from) * i / 24; return [Math.sin(b), 0, -Math.cos(b)]; });
        const at = (q, factor) => spot(add(v.at, times(v.rotation, q.map(x => x * r * factor))));
        fill([...rim.map(q => at(q, 1)), ...rim.reverse().map(q => at(q, 0.88))], piece.colour, edge);
      }
    };
    const depth = piece => dot((piece.values.at || piece.values.end).at(k, a), toward) + dot((piece.values.at || piece.values.start).at(k, a), toward) + (film.planar ? 2 * piece.side * 0.03 * film.size * toward[1] : 0);
    const parts = flat ? film.pieces : film.pieces.slice().sort((p, q) => depth(p) - depth(q));
    const draw = (k, a, opacity, edge) => { for (const p of parts) { pen.globalAlpha = opacity * p.opacity; part(p, k, a, edge); } pen.globalAlpha = 1; };

    pen.font = "12px system-ui, sans-serif"; pen.textAlign = "center"; pen.lineCap = "round"; pen.lineJoin = "round";
    if (flat) {
      for (let n = Math.ceil((cu - width / 2 / scale) / film.tick); n * film.tick <= cu + width / 2 / scale; n++) {
        const x = spot([n * film.tick, 0, 0])[0];
        line([[x, 0], [x, height - 20]], film.color("--line"), 1);
      }
    } else if (film.land) {
      const { x, y, height: h } = film.land, level = h[(y.length >> 1) * x.length + (x.length >> 1)], reach = 3 * film.size;
      for (let n = Math.ceil(-reach / film.tick); n * film.tick <= reach; n++) {
        const round = [0, 1].map(i => Math.round(middle[i] / film.tick) * film.tick + n * film.tick), r = reach;
        const tall = p => { let i = 0; while (i < x.length - 2 && x[i + 1] < p[0]) i++;
          const g = (p[0] - x[i]) / (x[i + 1] - x[i]), j = (y.length >> 1) * x.length; return [p[0], p[1], h[j + i] + g * (h[j + i + 1] - h[j + i])]; };
        line([tall([round[0], middle[1] - r]), tall([round[0], middle[1] + r])].map(spot), film.color("--line"), 1);
        line([tall([middle[0] - r, round[1]]), tall([middle[0] + r, round[1]])].map(spot), film.color("--line"), 1);
      }
    }
    if (film.shown("ghosts", false)) for (let j = 4; j >= 1; j--) { const g = film.frameAt(now - 0.2 * j); if (g < k) draw(g, 0, 0.06 + 0.04 * (4 - j)); }
    draw(k, a, 1, ink);
    if (flat && film.land) {
      const { x, height: h } = film.land, top = x.map((v, i) => spot([v, 0, h[i]]));
      fill([...top, [top[top.length - 1][0], height], [top[0][0], height]], film.color("--ground") || film.color("--line"));
      line(top, soft, 1.5);
    }
    if (film.shown("joints")) for (const pivot of film.pivots) {
      const p = spot(pivot.at.at(k, a)), axis = pivot.axis.at(k, a), d = [dot(axis, right), -dot(axis, up)], length = Math.hypot(...d);
      const r = Math.max(3, 0.016 * film.size * scale), along = (x, y) => [p[0] + r * (x * d[0] - y * d[1]), p[1] + r * (x * d[1] + y * d[0])];
      if (length > 0.2) line([along(-3.2, 0), along(3.2, 0)], ink, 2);
      if (pivot.kind === "prismatic" && length > 0.2) {
        d[0] /= length; d[1] /= length;
        fill([along(1.8, 1), along(1.8, -1), along(-1.8, -1), along(-1.8, 1)], "#fff", "#000");
      } else { disc(p, r, "#fff", "#000"); disc(p, 0.35 * r, "#000"); }
    }
    if (film.shown("prints")) for (const [time, ...p] of film.prints) if (time <= now + 1e-6) {
      const [u, v] = spot(p);
      fill([[u, v], [u - 5, v + 8], [u + 5, v + 8]], soft);
    }
    if (film.com && film.shown("path")) {
      const from = film.still ? 0 : film.frameAt(now - 3), path = [];
      for (let i = from; i <= k; i++) path.push(spot(film.com.row(i)));
      line(path, "#CC79A7", 1.5);
      const p = spot(film.com.at(k, a));
      disc(p, 5, "#fff", "#000");
      for (const b of [0, Math.PI]) { pen.beginPath(); pen.moveTo(p[0], p[1]); pen.arc(p[0], p[1], 5, b, b + Math.PI / 2); pen.fillStyle = "#000"; pen.fill(); }
    }
    if (film.shown("forces")) for (const push of film.pushes) {
      const foot = push.at.at(k, a), force = push.force.at(k, a), p = spot(foot), q = spot(add(foot, Array.from(force, v => v * film.newton)));
      const length = Math.hypot(q[0] - p[0], q[1] - p[1]);
      if (length < 4) continue;
      const d = [(q[0] - p[0]) / length, (q[1] - p[1]) / length], head = Math.min(12, length / 2), b = [q[0] - d[0] * head, q[1] - d[1] * head];
      line([p, b], "#fff", 5); line([p, b], "#009E73", 3);
      fill([q, [b[0] - d[1] * head * 0.45, b[1] + d[0] * head * 0.45], [b[0] + d[1] * head * 0.45, b[1] - d[0] * head * 0.45]], "#009E73", "#fff");
    }
    const every = Math.ceil(LABEL_ROOM / (film.tick * scale));  /* of the lines, as many as have room for their numbers */
    if (flat) for (let n = Math.ceil((cu - width / 2 / scale) / film.tick); n * film.tick <= cu + width / 2 / scale; n++) {
      if (n % every) continue;
      pen.fillStyle = soft; pen.fillText(Number((n * film.tick).toPrecision(6)) + film.units.length, spot([n * film.tick, 0, 0])[0], height - 6);
    }
  };
};
