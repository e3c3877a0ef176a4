/* What takes long, in a worker: gaits, maps over a parameter, basins. The newest order of a kind stops the one before. */
let machine = null, map = null, orders = {}, walk = null, opened = null;
const breathe = () => new Promise(done => { const channel = new MessageChannel(); channel.port1.onmessage = done; channel.port2.postMessage(0); });
const open = async bytes => bytes && await strutModule(bytes);
const work = {
  /* Step times over a parameter: of every value the last of many steps. From the present value outwards, each begins where its neighbour
     walked to, or, where it falls from there, as the machine itself begins. */
  map: async (order, isOld) => {
    const { p, u, index, values, steps, last, gait } = order, points = [];
    machine.options({ rtol: 1e-7, atol: 1e-9, maxSteps: 2000 * steps });
    const walkAt = (value, from) => {
      machine.p.set(p); machine.u.set(u); machine.p[index] = value; machine.initial();
      if (from) { machine.x.set(from.x); if (from.z) machine.z.set(from.z); }
      machine.begin(0);
      const periods = [];
      for (let n = 0, before = 0; n < steps; n++) {
        if (!walk.steps.includes(machine.runToStop(before + 60, walk.steps))) return null;
        if (n >= steps - last) periods.push(machine.t - before);
        before = machine.t;
      }
      points.push(...periods.map(period => [value, period]));
      return { x: Array.from(machine.x), z: Array.from(machine.z) };
    };
    let sent = performance.now(), done = 0;
    const middle = values.findIndex(v => v >= p[index]), split = middle < 0 ? values.length : middle;
    for (const side of [values.slice(split), values.slice(0, split).reverse()]) {
      let from = gait;
      for (const value of side) {
        from = (from && (walkAt(value, from) || walkAt(value, { x: from.x }))) || walkAt(value, null) || from;
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
        let n = 0, status = "";
        for (; n < steps; n++) { status = machine.runToStop(machine.t + 60, walk.steps); if (!walk.steps.includes(status)) break; }
        cells.push(n === steps ? "walks" : status);
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
    opened = (async () => { machine = await open(data.machine); if (data.varied) map = strutReturnMap(await open(data.varied), data.shape); })();
    return;
  }
  orders[data.kind] = data.number;
  await opened;
  await breathe();
  if (orders[data.kind] !== data.number) return;
  try { await work[data.kind](data, () => orders[data.kind] !== data.number); }
  catch (error) { postMessage({ ...data, fault: String(error) }); }
};
