/* Settings: a slider and a field for every parameter and input that is no bookkeeping of the model (the table of a plan), the address that keeps them, and what is wrong with either. */
const strutSettings = ({ machine, data, place, faults, onChange }) => {
  const number = v => Number(v.toPrecision(5)), degrees = q => q.unit === "rad" ? 180 / Math.PI : 1, unit = q => q.unit === "rad" ? "°" : q.unit;
  const label = q => `${q.name}${unit(q) ? " [" + unit(q) + "]" : ""}`;
  const text = v => v && (Math.abs(v) >= 1e6 || Math.abs(v) < 1e-3) ? number(v).toExponential().replace("+", "") : String(number(v));  /* 1e12, not a row of zeros */
  const shown = (q, v) => `${text(v * degrees(q))}${unit(q) && unit(q) !== "°" ? " " : ""}${unit(q)}`;
  const bounds = q => q.low !== null && q.high !== null ? `${text(q.low * degrees(q))} to ${shown(q, q.high)}` : q.low !== null ? `at least ${shown(q, q.low)}` : q.high !== null ? `at most ${shown(q, q.high)}` : "any number";
  const inside = (q, v) => v >= (q.low ?? -Infinity) && v <= (q.high ?? Infinity);
  const list = ["p", "u"].flatMap(group => machine.about[group].map((q, k) => ({ ...q, value: data[group][k], group, k }))).filter(q => !q.internal);
  const now = q => machine[q.group][q.k], rows = {}, wrong = { link: [], field: [] };
  const tell = () => { const lines = [...wrong.link, ...wrong.field]; faults.textContent = lines.join("\n"); faults.hidden = !lines.length; };

  /* ---- the address ---- */
  let written = null;
  const keepLink = () => {
    const words = new URLSearchParams();
    for (const q of list) if (now(q) !== q.value) words.set(q.name, now(q));
    written = words.toString();
    if (location.hash.slice(1) !== written) location.replace("#" + written);
  };
  /* Takes the settings of the address; of what it cannot take it says why, and leaves that as it was written. */
  const readLink = () => {
    const words = new URLSearchParams(location.hash.slice(1)), known = new Set(list.map(q => q.name));
    wrong.link = [...new Set(words.keys())].filter(name => !known.has(name)).map(name => `The address sets '${name}', which this machine does not have.`);
    for (const q of list) {
      machine[q.group][q.k] = q.value;
      if (!words.has(q.name)) continue;
      const text = words.get(q.name), value = text.trim() === "" ? NaN : Number(text);
      if (!Number.isFinite(value)) wrong.link.push(`The address sets ${q.name} to '${text}', which is no number: it stays ${shown(q, q.value)}.`);
      else if (!inside(q, value)) wrong.link.push(`The address sets ${q.name} to ${shown(q, value)}, but it must be ${bounds(q)}: it stays ${shown(q, q.value)}.`);
      else machine[q.group][q.k] = value;
    }
    written = location.hash.slice(1);
    tell();
  };
  addEventListener("hashchange", () => { if (location.hash.slice(1) === written) return; readLink(); list.forEach(show); onChange(true); });

  /* ---- sliders and fields ---- */
  const range = q => {
    if (q.group === "u" && q.low !== null && q.high !== null) return [q.low, q.high];  /* what a motor can give */
    const typical = q.group === "u" ? { "N m": 10, N: 25, V: 5 } : { rad: 0.2 };
    const v = q.value, size = Math.max(Math.abs(v), typical[q.unit] ?? 0.5);
    const low = q.low !== null && q.low > v - 3 * size ? q.low : v > 0 ? Math.max(q.low ?? -Infinity, 0) : v - 2 * size;
    const high = q.high !== null && q.high < v + 3 * size ? q.high : v < 0 ? Math.min(q.high ?? Infinity, 0) : v + (v > 0 ? 1.5 : 2) * size;
    return [low, high];
  };
  const show = q => {  /* a value that was typed or came with the address may lie beyond its slider: that becomes longer */
    const { slider, field } = rows[q.name], v = now(q);
    if (v < Number(slider.min)) slider.min = v;
    if (v > Number(slider.max)) slider.max = v;
    slider.value = v; field.value = number(v * degrees(q));
  };
  const change = (q, value) => {
    const taken = Math.min(q.high ?? Infinity, Math.max(q.low ?? -Infinity, value));
    wrong.link = []; wrong.field = taken === value ? [] : [`${q.name} must be ${bounds(q)}: ${shown(q, value)} became ${shown(q, taken)}.`];
    tell();
    machine[q.group][q.k] = taken;
    show(q); keepLink(); onChange(false);
  };
  /* What a number means and within which bounds it may be, in a line below its slider: a title cannot be seen on a phone, nor reached by keyboard. In a folded
     vector the text stands once, above all its numbers. */
  const noteOf = (q, meaning) => Object.assign(document.createElement("small"), { textContent: [meaning, bounds(q)].filter(Boolean).join("; "), id: `about-${q.group}-${q.k}` });
  const addRow = (q, into) => {
    const row = document.createElement("label"), [low, high] = range(q), note = noteOf(q, into === place ? q.text : "");
    row.className = "slider";
    const slider = Object.assign(document.createElement("input"), { type: "range", min: low, max: high, step: "any" });
    const field = Object.assign(document.createElement("input"), { type: "number", step: "any" });
    slider.setAttribute("aria-label", label(q)); field.setAttribute("aria-label", label(q) + ", as a number"); slider.dataset.name = field.dataset.field = q.name;
    for (const input of [slider, field]) input.setAttribute("aria-describedby", note.id);
    row.append(Object.assign(document.createElement("span"), { textContent: q.name }), field, Object.assign(document.createElement("span"), { textContent: unit(q), className: "unit" }), slider, note);
    slider.oninput = () => change(q, Number(slider.value));
    field.onchange = () => {
      if (Number.isFinite(field.valueAsNumber)) { change(q, field.valueAsNumber / degrees(q)); return; }
      wrong.field = [`${q.name} needs a number: it stays ${shown(q, now(q))}.`]; tell(); show(q);
    };
    rows[q.name] = { slider, field };
    into.append(row);
    show(q);
  };
  /* A long vector, such as the table of a plan, is folded: one line for all its numbers. */
  const LONG_VECTOR = 6, folded = {}, lengths = {}, vectorOf = q => /^(.*)\[\d+\]$/.exec(q.name)?.[1];
  for (const name of list.map(vectorOf)) if (name !== undefined) lengths[name] = (lengths[name] ?? 0) + 1;
  const placeOf = q => {
    const name = vectorOf(q);
    if (name === undefined || lengths[name] <= LONG_VECTOR) return place;
    if (!folded[name]) {
      folded[name] = document.createElement("details");
      folded[name].append(Object.assign(document.createElement("summary"), { textContent: `${name}, ${lengths[name]} numbers` }));
      if (q.text) folded[name].append(Object.assign(document.createElement("small"), { textContent: q.text }));
      place.append(folded[name]);
    }
    return folded[name];
  };
  readLink();
  for (const [group, title] of [["p", "Parameters"], ["u", "Inputs"]]) {
    const own = list.filter(q => q.group === group);
    if (!own.length) continue;
    place.append(Object.assign(document.createElement("h2"), { textContent: title }));
    for (const q of own) addRow(q, placeOf(q));
  }
  const reset = () => { for (const q of list) { machine[q.group][q.k] = q.value; show(q); } wrong.link = []; wrong.field = []; tell(); keepLink(); };
  return { list, rows, change, reset, areDefaults: () => list.every(q => now(q) === q.value), label, unit, degrees, shown };
};
