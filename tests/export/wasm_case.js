/* Runs modules in Node, for tests: reads {wasm, js, t, p, options, from, x, z, events} and prints the states, discrete states, counts of
   events and, if `events`, the name and time of every one. */
const fs = require("fs"), order = JSON.parse(fs.readFileSync(0, "utf8")), { strutModule } = require(order.js);
(async () => {
  const m = await strutModule(fs.readFileSync(order.wasm));
  for (const [name, value] of Object.entries(order.p || {})) m.p[m.places.p[name]] = value;
  m.initial();
  m.options(order.options || {});
  const jumps = [];
  let steps = 0, status = "";
  const began = process.cpuUsage();
  for (let n = 0; n < (order.times || 1); n++) {
    m.initial();
    if (order.x) { m.x.set(order.x); m.z.set(order.z); }
    m.begin(order.from || 0);
    if (order.events) {
      const stops = [...m.about.jumps], countAll = () => stops.map(name => m.counts(name));
      for (let before = countAll(), jumped = 0; ; before = countAll(), jumped = m.jumps) {
        status = m.runToStop(order.t, stops);
        if (m.jumps === jumped) break;
        jumps.push([stops.find((name, k) => m.counts(name) > before[k]), m.t]);  /* what ends a run may have a word of its own, such as zeno */
        if (m.ending) break;
      }
    } else status = m.run(order.t);
    steps += m.steps;
  }
  const used = process.cpuUsage(began);
  const counts = {};
  for (const name of m.about.jumps) counts[name] = m.counts(name);
  const y = [...m.observe()];
  const scene = m.about.views.some(v => v.name === "scene") ? [...m.see("scene")] : [];
  const ground = m.about.views.some(v => v.name === "ground") ? m.see("ground", 1.5, 0.25)[0] : null;
  console.log(JSON.stringify({ status, t: m.t, x: [...m.x], z: [...m.z], y, scene, ground, counts, jumps, steps, seconds: (used.user + used.system) / 1e6, about: m.about }));
})();
