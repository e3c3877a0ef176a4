/* Runs modules in Node, for tests: reads {wasm, js, t, every, p, options, from, x, z} and prints the states, discrete states and events. */
const fs = require("fs"), order = JSON.parse(fs.readFileSync(0, "utf8")), { strutModule } = require(order.js);
(async () => {
  const m = await strutModule(fs.readFileSync(order.wasm));
  for (const [name, value] of Object.entries(order.p || {})) m.p[m.places.p[name]] = value;
  m.initial();
  m.options(order.options || {});
  let steps = 0, status = "";
  const began = process.cpuUsage();
  for (let n = 0; n < (order.times || 1); n++) {
    m.initial();
    if (order.x) { m.x.set(order.x); m.z.set(order.z); }
    m.begin(order.from || 0);
    status = m.run(order.t);
    steps += m.steps;
  }
  const used = process.cpuUsage(began);
  const counts = {};
  for (const name of m.about.jumps) counts[name] = m.counts(name);
  const y = [...m.observe()];
  const scene = m.about.views.some(v => v.name === "scene") ? [...m.see("scene")] : [];
  const ground = m.about.views.some(v => v.name === "ground") ? m.see("ground", 1.5, 0.25)[0] : null;
  console.log(JSON.stringify({ status, t: m.t, x: [...m.x], z: [...m.z], y, scene, ground, counts, steps, seconds: (used.user + used.system) / 1e6, about: m.about }));
})();
