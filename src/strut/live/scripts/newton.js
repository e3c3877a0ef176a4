/* Gaits in the page: Newton's method on the return map, with exact derivatives from the variational equations. As strut.gait does it. */
const strutAlgebra = (() => {
  /* Singular values by one-sided Jacobi rotations: A = U diag(s) V^T, columns as arrays, the largest first. A: rows. */
  const svd = A => {
    const n = A.length, U = Array.from({ length: n }, (_, j) => A.map(row => row[j])), V = Array.from({ length: n }, (_, j) => Array.from({ length: n }, (_, i) => +(i === j)));
    const dot = (a, b) => a.reduce((sum, v, i) => sum + v * b[i], 0);
    for (let sweep = 0; sweep < 60; sweep++) {
      let off = 0;
      for (let p = 0; p < n; p++) for (let q = p + 1; q < n; q++) {
        const a = dot(U[p], U[p]), b = dot(U[q], U[q]), c = dot(U[p], U[q]);
        if (Math.abs(c) <= 1e-16 * Math.sqrt(a * b) || c === 0) continue;
        off = Math.max(off, Math.abs(c) / Math.sqrt(a * b || 1e-300));
        const zeta = (b - a) / (2 * c), t = Math.sign(zeta || 1) / (Math.abs(zeta) + Math.sqrt(1 + zeta * zeta)), cs = 1 / Math.sqrt(1 + t * t), sn = cs * t;
        for (const M of [U, V]) for (let i = 0; i < n; i++) { const x = M[p][i], y = M[q][i]; M[p][i] = cs * x - sn * y; M[q][i] = sn * x + cs * y; }
      }
      if (off < 1e-15) break;
    }
    const s = U.map(u => Math.hypot(...u)), order = [...s.keys()].sort((i, j) => s[j] - s[i]);
    return { s: order.map(k => s[k]), U: order.map(k => U[k].map(v => s[k] ? v / s[k] : 0)), V: order.map(k => V[k]) };
  };
  /* Eigenvalues of a matrix (rows) as [real, imaginary]: Hessenberg form, then the shifted QR algorithm of EISPACK (hqr). */
  const eigenvalues = A => {
    const n = A.length, a = A.map(row => row.slice()), values = [];
    for (let m = 1; m < n - 1; m++) {
      let x = 0, i = m;
      for (let j = m; j < n; j++) if (Math.abs(a[j][m - 1]) > Math.abs(x)) { x = a[j][m - 1]; i = j; }
      if (i !== m) { [a[i], a[m]] = [a[m], a[i]]; for (const row of a) [row[i], row[m]] = [row[m], row[i]]; }
      if (x) for (let k = m + 1; k < n; k++) {
        const y = a[k][m - 1] / x;
        if (!y) continue;
        for (let j = m - 1; j < n; j++) a[k][j] -= y * a[m][j];
        for (let j = 0; j < n; j++) a[j][m] += y * a[j][k];
      }
    }
    for (let i = 2; i < n; i++) for (let j = 0; j < i - 1; j++) a[i][j] = 0;
    let norm = 0, nn = n - 1, t = 0;
    for (let i = 0; i < n; i++) for (let j = Math.max(i - 1, 0); j < n; j++) norm += Math.abs(a[i][j]);
    while (nn >= 0) {
      let its = 0, l;
      do {
        for (l = nn; l >= 1; l--) {
          const s = Math.abs(a[l - 1][l - 1]) + Math.abs(a[l][l]) || norm;
          if (Math.abs(a[l][l - 1]) + s === s) { a[l][l - 1] = 0; break; }
        }
        let x = a[nn][nn];
        if (l === nn) { values.push([x + t, 0]); nn--; continue; }
        let y = a[nn - 1][nn - 1], w = a[nn][nn - 1] * a[nn - 1][nn];
        if (l === nn - 1) {
          const p = 0.5 * (y - x), q = p * p + w, z = Math.sqrt(Math.abs(q));
          x += t;
          if (q >= 0) { const s = p + (p >= 0 ? z : -z); values.push([x + s, 0], [s ? x - w / s : x + s, 0]); }
          else values.push([x + p, z], [x + p, -z]);
          nn -= 2;
          continue;
        }
        if (its > 120) return values.concat(Array.from({ length: nn + 1 }, () => [NaN, 0]));
        if (its === 10 || its === 20) {
          t += x;
          for (let i = 0; i <= nn; i++) a[i][i] -= x;
          const s = Math.abs(a[nn][nn - 1]) + Math.abs(a[nn - 1][nn - 2]);
          y = x = 0.75 * s; w = -0.4375 * s * s;
        }
        its++;
        let m, p, q, r;
        for (m = nn - 2; m >= l; m--) {
          const z = a[m][m], rr = x - z, ss = y - z;
          p = (rr * ss - w) / a[m + 1][m] + a[m][m + 1]; q = a[m + 1][m + 1] - z - rr - ss; r = a[m + 2][m + 1];
          const s = Math.abs(p) + Math.abs(q) + Math.abs(r);
          p /= s; q /= s; r /= s;
          if (m === l) break;
          const u = Math.abs(a[m][m - 1]) * (Math.abs(q) + Math.abs(r)), v = Math.abs(p) * (Math.abs(a[m - 1][m - 1]) + Math.abs(z) + Math.abs(a[m + 1][m + 1]));
          if (u + v === v) break;
        }
        for (let i = m + 2; i <= nn; i++) { a[i][i - 2] = 0; if (i !== m + 2) a[i][i - 3] = 0; }
        for (let k = m; k <= nn - 1; k++) {
          if (k !== m) {
            p = a[k][k - 1]; q = a[k + 1][k - 1]; r = k !== nn - 1 ? a[k + 2][k - 1] : 0;
            if ((x = Math.abs(p) + Math.abs(q) + Math.abs(r)) !== 0) { p /= x; q /= x; r /= x; }
          }
          const size = Math.sqrt(p * p + q * q + r * r), s = p >= 0 ? size : -size;
          if (s === 0) continue;
          if (k === m) { if (l !== m) a[k][k - 1] = -a[k][k - 1]; } else a[k][k - 1] = -s * x;
          p += s; x = p / s; y = q / s; const z = r / s; q /= p; r /= p;
          for (let j = k; j <= nn; j++) {
            let f = a[k][j] + q * a[k + 1][j];
            if (k !== nn - 1) { f += r * a[k + 2][j]; a[k + 2][j] -= f * z; }
            a[k + 1][j] -= f * y; a[k][j] -= f * x;
          }
          const last = nn < k + 3 ? nn : k + 3;
          for (let i = l; i <= last; i++) {
            let f = x * a[i][k] + y * a[i][k + 1];
            if (k !== nn - 1) { f += z * a[i][k + 2]; a[i][k + 2] -= f * r; }
            a[i][k + 1] -= f * q; a[i][k] -= f;
          }
        }
      } while (l < nn - 1);
    }
    return values;
  };
  /* Floquet multipliers: what the section wipes out is split off before, so that its zeros are zero. */
  const multipliers = J => {
    const n = J.length, { s, U, V } = svd(J), rank = s.filter(v => v > 1e-11 * Math.max(s[0], 1e-300)).length;
    const core = Array.from({ length: rank }, (_, i) => Array.from({ length: rank }, (_, j) => s[i] * V[i].reduce((sum, v, k) => sum + v * U[j][k], 0)));
    return [...eigenvalues(core), ...Array.from({ length: n - rank }, () => [0, 0])].sort((a, b) => Math.hypot(...b) - Math.hypot(...a) || b[0] - a[0] || b[1] - a[1]);
  };
  return { svd, eigenvalues, multipliers };
})();

/* The coordinates of a section, of a module that has its view `shear` where there is one: `shape` says which states are free, and which
   follow from them. Cyclic states, how far a walker has come, begin as the machine itself does. */
const strutSection = (module, shape) => {
  const { nx, free, cyclic, spread } = shape;
  let x0 = null, shear = null;  /* nx rows, column by column of the cyclic states */
  const section = {
    event: shape.section,
    begin: (p, u) => {  /* of parameters: what `free` and `whole` are of from now on; x and z stand as a run begins with them */
      module.p.set(p); module.u.set(u); module.initial();
      x0 = Array.from(module.x.subarray(0, nx));
      if (!shape.shear) return;
      module.begin(0); shear = Array.from(module.see("shear")); module.initial();
    },
    get shear() { return shear; },
    get x0() { return x0; },
    free: x => { const r = shear ? Array.from(x, (v, i) => v - cyclic.reduce((sum, c, k) => sum + shear[k * nx + i] * x[c], 0)) : x; return free.map(i => r[i]); },
    whole: y => {
      const x = Array.from({ length: nx }, (_, i) => spread[i].reduce((sum, v, k) => sum + v * y[k], 0));
      for (const c of cyclic) x[c] = x0[c];
      return shear ? x.map((v, i) => v + cyclic.reduce((sum, c, k) => sum + shear[k * nx + i] * x0[c], 0)) : x;
    },
  };
  return section;
};

/* The return map of a module of variational equations. */
const strutReturnMap = (varied, shape) => {
  const { nx, nz, free, cyclic, spread } = shape, m = free.length, section = strutSection(varied, shape);
  const map = {
    names: shape.names, free: section.free, whole: section.whole,
    begin: (p, u) => {  /* the state and discrete state that a search begins with, of parameters */
      section.begin(p, u);
      map.x0 = section.x0; map.z0 = Array.from(varied.z.subarray(0, nz)); map.shear = section.shear;
      map.p = Array.from(p); map.u = Array.from(u);
    },
    step: (y, rough) => {
      const x = map.whole(y);
      varied.x.fill(0); varied.x.set(x);
      for (let i = 0; i < nx; i++) varied.x[nx + i * nx + i] = 1;
      varied.z.fill(0); varied.z.set(map.z0); varied.p.set(map.p); varied.u.set(map.u);
      varied.options(rough ? { rtol: 1e-8, atol: 1e-10, maxSteps: 4000 } : { rtol: 1e-12, atol: 1e-14, maxSteps: 4000 });
      varied.begin(0);
      const status = varied.run(60), period = varied.t, ok = status === shape.section;
      if (!ok) return { ok, status, period };
      let after = Array.from(varied.x.subarray(0, nx)), z = Array.from(varied.z.subarray(0, nz));
      let X = Array.from({ length: nx }, (_, i) => Array.from({ length: nx }, (_, j) => varied.x[nx + j * nx + i]));
      if (shape.symmetric) {
        const seen = Array.from(varied.see("exchange"));
        after = seen.slice(0, nx); z = seen.slice(nx, nx + nz);
        const by = (i, j) => seen[nx + nz + j * nx + i];
        X = X.map((_, i) => Array.from({ length: nx }, (_, j) => X.reduce((sum, row, k) => sum + by(i, k) * row[j], 0)));
      }
      const R = map.shear ? X.map((row, i) => row.map((v, j) => v - cyclic.reduce((sum, c, k) => sum + map.shear[k * nx + i] * X[c][j], 0))) : X;
      const by_y = free.map(i => Array.from({ length: m }, (_, k) => spread.reduce((sum, row, j) => sum + R[i][j] * row[k], 0)));
      return { ok: by_y.every(row => row.every(Number.isFinite)), status, period, x: after, z, y: map.free(after), by_y };
    },
  };
  return map;
};

const strutNewton = (() => {
  const norm = v => Math.hypot(...v), size = y => 1 + Math.max(0, ...y.map(Math.abs));
  /* The shortest least-squares solution of A x = -F, without directions in which A may be singular and F nothing but error. */
  const direction = (A, F, y, rough) => {
    const { s, U, V } = strutAlgebra.svd(A), noise = (rough ? 1e-7 : 1e-10) * size(y), floor = (rough ? 1e-5 : 1e-9) * s[0], d = y.map(() => 0);
    s.forEach((v, k) => {
      const along = -U[k].reduce((sum, u, i) => sum + u * F[i], 0);
      if ((v < floor && Math.abs(along) <= noise) || v < 1e-13 * s[0] || v === 0) return;
      V[k].forEach((u, i) => { d[i] += u * along / v; });
    });
    return d;
  };
  const small = (F, y, goal) => F.every((v, i) => Math.abs(v) <= goal * (1 + Math.abs(y[i])));
  /* Damped Newton from one state, by Armijo's rule; null where it leads nowhere. */
  const solve = (map, begin, rough, evaluations) => {
    let y = begin.slice(), now = map.step(y, rough);
    if (!now.ok) return null;
    for (let n = 0; n < evaluations; n++) {
      const F = now.y.map((v, i) => v - y[i]);
      if (small(F, y, rough ? 1e-4 : 1e-13)) return { y, step: now };
      const d = direction(now.by_y.map((row, i) => row.map((v, j) => v - (i === j))), F, y, rough);
      let part = Math.min(1, 0.5 * (0.1 + norm(y)) / (norm(d) || 1)), moved = false;
      for (; part > 1 / 1024 && n < evaluations; n++, part /= 2) {
        const trial = y.map((v, i) => v + part * d[i]), next = map.step(trial, rough);
        if (next.ok && norm(next.y.map((v, i) => v - trial[i])) < (1 - 1e-4 * part) * norm(F)) { y = trial; now = next; moved = true; break; }
        if (!rough && small(F, y, 1e-10)) return { y, step: now };
      }
      if (!moved) return small(F, y, rough ? 1e-4 : 1e-10) ? { y, step: now } : null;
    }
    return null;
  };
  const point = (map, begin) => { const near = solve(map, begin, true, 200); return near && solve(map, near.y, false, 80); };
  /* A gait: from a state that is given, from where some steps of walking lead, or from where the machine begins. */
  const find = (map, near) => {
    const starts = near ? [near] : [], first = map.free(map.x0), reached = [];
    let y = first, why = "";
    for (let k = 0; k < 12; k++) {
      const after = map.step(y, true);
      if (!after.ok) { why = after.status; break; }
      reached.push(after.y);
      const settled = norm(after.y.map((v, i) => v - y[i])) < 2e-2 * (1 + norm(y));
      y = after.y;
      if (settled) break;
    }
    if (reached.length) starts.push(reached[reached.length - 1], reached[0]);
    for (const start of [...starts, first]) {
      const result = point(map, start);
      if (result && result.step.period > 1e-6) {
        return { y: result.y, x: map.whole(result.y), z: map.z0, period: result.step.period, residual: Math.max(...result.step.y.map((v, i) => Math.abs(v - result.y[i]))),
          after: result.step, multipliers: strutAlgebra.multipliers(result.step.by_y) };
      }
    }
    return { why };
  };
  return { find };
})();
