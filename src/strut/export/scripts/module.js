/* Opens a machine that strut wrote for WebAssembly. `await strutModule(bytes)` gives an object with
 *   about                    what the module says of itself: names, units, bounds, values, events, statuses
 *   p, u, x, z, y            numbers, as arrays that are the module's own: write p, u, x, z before begin or retune, or u before hold
 *   begin(t = 0)             begin a run from x, z, u and p; initial() sets x and z to those of p; reset() sets everything back
 *   retune()                 go on from here with what stands in p, u, x, z
 *   run(t), runToStop(t, names)   to the time t, or to just after an event of these names; give the status as a word
 *   t, steps, counts(name), lastTime(name), ending     where the run stands
 *   observe(), see(view, ...asked)   outputs y; a view such as "scene" */
const strutModule = async bytes => {
  const module = bytes instanceof WebAssembly.Module ? bytes : await WebAssembly.compile(bytes);
  const sections = WebAssembly.Module.customSections(module, "strut");
  if (!sections.length) throw new Error("this module was not written by strut: it has no section 'strut'");
  const about = JSON.parse(new TextDecoder().decode(sections[0]));
  const run = (await WebAssembly.instantiate(module, { env: Math })).exports;
  const array = (which, length) => new Float64Array(run.memory.buffer, run.address(which), length);
  const views = about.views, widest = Math.max(0, ...views.map(v => v.size));
  const [p, u, x, z, y] = ["p", "u", "x", "z", "y"].map((name, k) => array(k, about[name].length));
  const seen = array(5, widest), asked = array(6, about.asked), report = array(7, 10);
  const counts = array(8, about.jumps.length), times = array(9, about.jumps.length), stops = array(10, about.jumps.length);
  const places = Object.fromEntries(["p", "u", "x", "z", "y"].map(group => [group, Object.fromEntries(about[group].map((q, k) => [q.name, k]))]));
  const jumpsOf = name => about.jumps.flatMap((other, k) => other === name ? [k] : []);
  const word = status => status === 2 ? about.jumps[report[2]] : about.statuses[status];
  let stopNames = null;
  const machine = {
    about, module, p, u, x, z, y, places,
    get t() { return report[0]; }, get steps() { return report[4]; }, get jumps() { return report[7]; },
    get ending() { return report[1] === 0 || report[1] === 1 ? "" : word(report[1]); },
    reset: () => { about.p.forEach((q, k) => { p[k] = q.value; }); about.u.forEach((q, k) => { u[k] = q.value; }); run.reset(); }, initial: () => run.initial(), begin: (t = 0) => run.begin(t), retune: () => run.retune(), hold: () => run.hold(),
    options: ({ rtol = 0, atol = 0, maxStep = 0, maxSteps = 0 } = {}) => run.options(rtol, atol, maxStep, maxSteps),
    seed: n => run.seed(n),
    run: t => word(run.run(t)),
    runToStop: (t, names) => {
      if (names !== stopNames) { stopNames = names; about.jumps.forEach((name, k) => { stops[k] = names.includes(name) ? 1 : 0; }); }
      const status = run.run_to_stop(t);
      return status === 100 ? about.jumps[report[8]] : word(status);
    },
    counts: name => jumpsOf(name).reduce((sum, k) => sum + counts[k], 0),
    lastTime: name => Math.max(-Infinity, ...jumpsOf(name).map(k => times[k])),
    observe: () => { run.observe(); return y; },
    see: (name, ...numbers) => {
      const k = views.findIndex(v => v.name === name);
      if (k < 0) throw new Error(`the module has no view '${name}': it has ${views.map(v => v.name).join(", ") || "none"}`);
      numbers.forEach((v, i) => { asked[i] = v; });
      run.see(k);
      return seen.subarray(0, views[k].size);
    },
  };
  machine.reset();
  return machine;
};
if (typeof module !== "undefined" && module.exports) module.exports = { strutModule };
