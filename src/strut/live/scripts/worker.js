/* What takes long, in a worker: gaits, maps over a parameter, basins. The newest order of a kind stops the one before. */
let machine = null, section = null, map = null, orders = {}, walk = null, opened = null;
/* Walks on to the end of a step: "" where there was one, else why not. Steps of no time are rattling (Zeno), not walking. */
const SHORTEST_STEP = 1e-6;  /* [s], as the search for gaits has it */
const walkStep = () => {
  const before = machine.t, status = machine.runToStop(before + 60, walk.steps);
  return !walk.steps.includes(status) ? status : machine.t - before < SHORTEST_STEP ? "zeno" : "";
};
const breathe = () => new Promise(done => { const channel = new MessageChannel(); channel.port1.onmessage = done; channel.port2.postMessage(0); });
const open = async bytes => bytes && await strutModule(bytes);
const work = {
  /* Step times over a parameter: of every value the last of many steps. From the present value outwards, each begins with the free states to
     which its neighbour walked, or, where it falls from there, as the machine itself begins. Where feet stand, what was counted, and how far
     it has come begin anew, as in `gait.bifurcation_map`: ground of another slope lies elsewhere. */
  map: async (order, isOld) => {
    const { p, u, index, values, steps, last, gait } = order, points = [];
    machine.options({ rtol: 1e-7, atol: 1e-9, maxSteps: 2000 * steps });
    const walkAt = (value, from) => {
      const q = p.slice();
      q[index] = value;
      if (section) section.begin(q, u); else { machine.p.set(q); machine.u.set(u); machine.initial(); }
      if (from) machine.x.set(section.whole(from));
      machine.begin(0);
      const periods = [];
      for (let n = 0, before = 0; n < steps; n++) {  /* an even number: the foot that stands is the one that stood */
        if (walkStep()) return null;
        if (n >= steps - last) periods.push(machine.t - before);
        before = machine.t;
      }
      points.push(...periods.map(period => [value, period]));
      if (!section || walk.steps.length > 2) return null;  /* feet that touch the ground with several points: which one stands, a count does not say */
      if (!walk.steps.includes(section.event) && machine.runToStop(machine.t + 60, [section.event]) !== section.event) return null;
      return section.free(machine.x);
    };
    let sent = performance.now(), done = 0;
    const middle = values.findIndex(v => v >= p[index]), split = middle < 0 ? values.length : middle;
    for (const side of [values.slice(split), values.slice(0, split).reverse()]) {
      let from = section && gait && gait.y;
      for (const value of side) {
        const before = points.length;
        from = (from && walkAt(value, from)) || (points.length === before && walkAt(value, null)) || from;
        done += 1 / values.length;
        if (performance.now() - sent > 60) { postMessage({ ...order, points, done: Math.min(done, 0.99) }); sent = performance.now(); await breathe(); if (isOld()) return; }
      }
    }
    postMessage({ ...order, points, done: 1 });
  },
  /* Which states around a gait lead to so many steps, over two of them. */
  basin: async (order, isOld) => {
    const { p, u, gait, first, second, steps } = order, cells = [];
    map.begin(p, u);
    machine.options({ rtol: 1e-6, atol: 1e-8, maxSteps: 2000 * steps });
    let sent = performance.now();
    for (let i = 0; i < first.values.length; i++) {
      for (let j = 0; j < second.values.length; j++) {
        const y = gait.y.slice();
        y[first.index] = first.values[i]; y[second.index] = second.values[j];
        machine.p.set(p); machine.u.set(u); machine.x.set(map.whole(y)); machine.z.set(gait.z); machine.begin(0);
        let ended = "";
        for (let n = 0; n < steps && !ended; n++) ended = walkStep();
        cells.push(ended || "walks");
      }
      if (performance.now() - sent > 60) { postMessage({ ...order, cells, done: (i + 1) / first.values.length }); sent = performance.now(); await breathe(); if (isOld()) return; }
    }
    postMessage({ ...order, cells, done: 1 });
  },
  gait: async order => {
    const began = performance.now();
    map.begin(order.p, order.u);
    postMessage({ ...order, gait: strutNewton.find(map, order.near), took: performance.now() - began });
  },
};
onmessage = async ({ data }) => {
  if (data.kind === "open") {
    walk = data.walk;
    opened = (async () => { machine = await open(data.machine); if (data.shape) section = strutSection(machine, data.shape); if (data.varied) map = strutReturnMap(await open(data.varied), data.shape); })();
    return;
  }
  orders[data.kind] = data.number;
  await opened;
  await breathe();
  if (orders[data.kind] !== data.number) return;
  try { await work[data.kind](data, () => orders[data.kind] !== data.number); }
  catch (error) { postMessage({ ...data, fault: String(error) }); }
};
