// The page of the studio. Names and texts of models reach the document as text only, never as markup.
"use strict";

const POLL_MS = 1000, TYPING_MS = 350, SLIDER_STEPS = 200;
const byId = id => document.getElementById(id);
const state = { files: [], machines: {}, large: {}, forms: [], tasks: [], open: null, machine: null, form: "run", shown: [], picked: new Set(), settings: {}, filled: {}, has: null, reasons: {} };

async function ask(what, data = {}) {
  const answer = await fetch(`/api/${what}`, { method: "POST", headers: { "X-Strut-Studio": "1", "Content-Type": "application/json" }, body: JSON.stringify(data) });
  const result = await answer.json();
  if (!answer.ok) throw new Error(result.error || answer.statusText);
  return result;
}

function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (name in made && typeof value !== "string") made[name] = value;
    else made.setAttribute(name, value);
  }
  made.append(...children);
  return made;
}

function say(text, good = false) {
  byId("notice").textContent = text;
  byId("notice").className = good ? "good" : "";
}

function later(milliseconds, run) {
  let timer = 0;
  return (...given) => { clearTimeout(timer); timer = setTimeout(() => run(...given), milliseconds); };
}

const subject = () => state.open ? state.open.name : state.machine;
const draftKey = name => `strut-studio-draft:${name}`;

// ---- the library ----

function showLibrary() {
  byId("files").replaceChildren(...state.files.map(name => element("li", {},
    element("button", { onclick: () => openFile(name), "aria-current": String(!!state.open && state.open.name === name) },
      name + (localStorage.getItem(draftKey(name)) !== null ? " *" : "")))));
  byId("machines").replaceChildren(...Object.entries(state.machines).map(([name, about]) => element("li", {},
    element("button", { onclick: () => openMachine(name), title: about, "aria-current": String(state.machine === name) }, name, ...(state.large[name] ? [element("small", {}, state.large[name])] : [])))));
  if (state.cut) byId("files").append(element("li", {}, "There are more: only the first are listed."));
  byId("no-results").hidden = state.tasks.length > 0;
  byId("results").replaceChildren(...state.tasks.map(resultEntry));
  byId("compare").disabled = state.picked.size < 2;
}

function resultEntry(task) {
  const pick = element("input", { type: "checkbox", checked: state.picked.has(task.name), "aria-label": `compare ${task.name}`, onchange: event => {
    if (event.target.checked) state.picked.add(task.name); else state.picked.delete(task.name);
    byId("compare").disabled = state.picked.size < 2;
  } });
  return element("li", { class: "result" }, pick, element("button", { onclick: () => showResults([task.name]), "data-task": task.name }, task.name,
    element("small", { class: `state-${task.state}` }, `${task.state}, ${task.seconds.toFixed(task.seconds < 10 ? 1 : 0)} s ${task.progress}`)));
}

async function openFile(name) {
  try {
    const file = await ask("open", { name });
    const draft = localStorage.getItem(draftKey(name));
    state.machine = null;
    state.open = { name, version: file.version, saved: file.text };
    byId("text").value = draft === null ? file.text : draft;
    if (draft !== null && draft !== file.text) say("text that was not saved is here again", true); else say("");
    begin();
  } catch (error) { say(error.message); }
}

function openMachine(name) {
  state.open = null;
  state.machine = name;
  say("");
  begin();
}

function begin() {
  state.settings = {}; state.filled = {}; state.has = null;
  byId("welcome").hidden = true;
  byId("editor-part").hidden = !state.open;
  if (state.open) { byId("file-name").textContent = state.open.name; byId("marks").replaceChildren(); edited(); }
  if (!state.open) { byId("welcome").hidden = false; byId("welcome").replaceChildren(element("h2", {}, state.machine), element("p", {}, state.machines[state.machine]), element("p", {}, "A ready-made machine: it can be run and changed by its sliders, but has no text here.")); }
  showLibrary();
  selectTab("look");
  look();
}

// ---- the editor ----

function edited() {
  const text = byId("text").value, changed = text !== state.open.saved;
  byId("saved-state").textContent = changed ? "not saved" : "saved";
  if (changed) localStorage.setItem(draftKey(state.open.name), text); else localStorage.removeItem(draftKey(state.open.name));
  drawGutter([]);
  check();
}

function drawGutter(marks) {
  const wrong = new Set(marks.map(mark => mark.line));
  const count = byId("text").value.split("\n").length;
  const lines = [];
  for (let line = 1; line <= count; line++) lines.push(wrong.has(line) ? element("span", { class: "wrong" }, String(line)) : String(line), "\n");
  byId("gutter").replaceChildren(...lines);
  byId("gutter").scrollTop = byId("text").scrollTop;
}

const check = later(TYPING_MS, async () => {
  if (!state.open) return;
  const name = state.open.name, text = byId("text").value;
  try {
    const answer = await ask("check", { name, text });
    if (!state.open || state.open.name !== name || byId("text").value !== text) return;
    const marks = answer.error ? [{ line: 0, column: 0, message: answer.error }] : answer.marks;
    const keep = linesInSight([caretLine(), ...marks.map(mark => mark.line)]);
    drawGutter(marks);
    byId("tab-look").classList.toggle("stale", marks.length > 0);
    byId("marks").replaceChildren(...(marks.length ? marks.map(mark => element("li", { onclick: () => goTo(mark) }, (mark.line ? `line ${mark.line}: ` : "") + mark.message)) : [element("li", { class: "fine" }, "no mistakes")]));
    keep.forEach(showLine);
    if (!marks.length && !byId("tab-look").hidden) look();
    if (!marks.length && !byId("tab-graph").hidden) showGraph();
  } catch (error) { say(error.message); }
});

// What is said of a text takes room from it: lines that were seen, of the mistakes and of who types, stay so.
const caretLine = () => byId("text").value.slice(0, byId("text").selectionStart).split("\n").length;

function lineEdges(line) {
  const style = getComputedStyle(byId("text")), height = parseFloat(style.lineHeight), top = parseFloat(style.paddingTop) + (line - 1) * height;
  return { top, bottom: top + height };
}

function linesInSight(lines) {
  const { scrollTop, clientHeight } = byId("text");
  return lines.filter(line => line > 0 && lineEdges(line).top < scrollTop + clientHeight && lineEdges(line).bottom > scrollTop).reverse();
}

function showLine(line) {
  const text = byId("text"), { top, bottom } = lineEdges(line);
  if (bottom > text.scrollTop + text.clientHeight) text.scrollTop = bottom - text.clientHeight;
  if (top < text.scrollTop) text.scrollTop = top;
}

function goTo(mark) {
  const text = byId("text"), lines = text.value.split("\n");
  const at = lines.slice(0, Math.max(mark.line - 1, 0)).reduce((sum, line) => sum + line.length + 1, 0) + Math.max(mark.column - 1, 0);
  text.focus();
  text.setSelectionRange(at, at);
  if (mark.line) showLine(mark.line);
}

async function save() {
  if (!state.open) return;
  const text = byId("text").value;
  try {
    const answer = await ask("save", { name: state.open.name, text, version: state.open.version });
    if (answer.conflict) {
      say(`${answer.conflict}. Save again to put yours in its place, or take what is on disk.`);
      byId("revert").hidden = false;
      state.theirs = answer.now;
      state.open.version = answer.now ? answer.now.version : "";
      return;
    }
    state.open.version = answer.version;
    state.open.saved = text;
    byId("revert").hidden = true;
    localStorage.removeItem(draftKey(state.open.name));
    byId("saved-state").textContent = "saved";
    say("saved", true);
    refresh();
  } catch (error) { say(error.message); }
}

// ---- tabs ----

const TABS = { look: "Look", graph: "Graph", start: "Start", result: "Result" };

function selectTab(chosen) {
  byId("tabs").replaceChildren(...Object.entries(TABS).map(([name, title]) => element("button", { role: "tab", id: `choose-${name}`, "aria-selected": String(name === chosen), onclick: () => {
    selectTab(name);
    if (name === "graph") showGraph();
    if (name === "look") look();
    if (name === "start") showForm();
  } }, title)));
  for (const name of Object.keys(TABS)) byId(`tab-${name}`).hidden = name !== chosen;
}

const source = () => state.open ? { name: state.open.name, text: byId("text").value } : { name: state.machine };

async function look() {
  if (!subject()) return;
  const place = byId("tab-look"), asked = source();
  if (state.looked !== asked.name) { state.looked = asked.name; place.replaceChildren(element("p", { role: "status" }, `reading ${asked.name} ... ${state.large[asked.name] || ""}`)); }
  try {
    const system = await ask("look", { do: "describe", ...asked });
    if (asked.name !== subject()) return;
    state.has = system.has || null;
    if (!byId("tab-start").hidden) showForm();
    if (system.error) { place.replaceChildren(element("p", {}, system.error)); return; }
    const seconds = element("input", { type: "number", id: "seconds", min: "0.1", max: "100", step: "any", value: String(state.seconds || 5), onchange: event => { state.seconds = Number(event.target.value); drawPreview(); } });
    place.replaceChildren(element("h2", {}, system.name), element("p", {}, system.about || ""),
      element("p", {}, "Seconds ", seconds, " ", element("span", { id: "preview-state", role: "status" }, `running ... ${state.large[asked.name] || ""}`)), element("div", { id: "picture" }),
      element("h2", {}, "Parameters"), element("div", { id: "sliders" }, ...system.parameters.filter(q => q.value && q.value.length === 1 && !q.internal).map(slider)),
      element("h2", {}, "Curves"), element("div", { id: "preview" }));
    await drawPreview();
  } catch (error) { say(error.message); }
}

function slider(quantity) {
  const value = quantity.value[0], chosen = quantity.name in state.settings ? state.settings[quantity.name] : value;
  const spread = Math.abs(value) || 1;
  const low = Math.max(quantity.low ?? -Infinity, value - spread), high = Math.min(quantity.high ?? Infinity, value + spread);
  const shown = element("output", {}, `${digits(chosen)} ${quantity.unit}`);
  const input = element("input", { type: "range", min: String(low), max: String(high), step: String((high - low) / SLIDER_STEPS || 1), value: String(chosen), id: `slider-${quantity.name}`, oninput: event => {
    const now = Number(event.target.value);
    state.settings[quantity.name] = now;
    shown.textContent = `${digits(now)} ${quantity.unit}`;
    movePreview();
  } });
  return element("div", { class: "slider", title: quantity.about || "" }, element("label", { for: input.id }, quantity.name), input, shown);
}

const digits = number => Number(number).toPrecision(4).replace(/\.?0+(?=$|e)/, "");

async function drawPreview() {
  const place = byId("preview"), asked = source();
  if (!place) return;
  const run = await ask("look", { do: "preview", ...asked, values: state.settings, seconds: state.seconds || 5 });
  if (asked.name !== subject() || !byId("preview")) return;
  if (run.error) { byId("preview-state").textContent = ""; place.replaceChildren(element("p", { class: "state-failed" }, run.error)); return; }
  byId("preview-state").textContent = `${run.status} at ${digits(run.end)} s`;
  byId("picture").replaceChildren(...(run.picture ? [picture(run.picture, `The machine, ${run.drawn}`), element("p", { class: "curve-name", id: "drawn" }, run.drawn)] : []));
  place.replaceChildren();
  for (const [name, values] of Object.entries(run.curves)) place.append(...curve(name, run.units[name], run.t, values));
}

const movePreview = later(120, () => drawPreview().catch(error => say(error.message)));

function picture(svg, text) {
  const address = URL.createObjectURL(new Blob([svg], { type: "image/svg+xml" }));
  return element("img", { class: "picture", src: address, alt: text, onload: () => URL.revokeObjectURL(address) });
}

// A curve with its axes: least and largest value at the left, times below, and a line at zero where that is in between.
function curve(name, unit, t, values) {
  const known = values.filter(value => value !== null), low = Math.min(...known), high = Math.max(...known), span = high - low || 1;
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("viewBox", "0 0 300 100"); svg.setAttribute("preserveAspectRatio", "none"); svg.setAttribute("class", "curve"); svg.setAttribute("role", "img");
  svg.setAttribute("aria-label", `${name} from ${digits(low)} to ${digits(high)} ${unit}`);
  const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
  path.setAttribute("d", values.map((value, k) => value === null ? "" : `${k && values[k - 1] !== null ? "L" : "M"}${(300 * k / (t.length - 1)).toFixed(2)} ${(97 - 94 * (value - low) / span).toFixed(2)}`).join(""));
  if (low < 0 && high > 0) {
    const zero = document.createElementNS("http://www.w3.org/2000/svg", "line"), y = String(97 + 94 * low / span);
    for (const [key, value] of Object.entries({ x1: "0", x2: "300", y1: y, y2: y })) zero.setAttribute(key, value);
    svg.append(zero);
  }
  svg.append(path);
  const begin = t[0], end = t[t.length - 1], times = [begin, (begin + end) / 2, end].map((time, k) => element("span", {}, k === 2 ? `${digits(time)} s` : digits(time)));
  return [element("p", { class: "curve-name" }, unit ? `${name} [${unit}]` : name),
    element("div", { class: "axes" }, element("div", { class: "axis-y" }, element("span", {}, digits(high)), element("span", {}, digits(low))), svg, element("div", { class: "axis-t" }, ...times))];
}

async function showGraph() {
  const place = byId("tab-graph");
  if (!state.open) { place.replaceChildren(element("p", {}, "Networks (.cdn) and bond graphs (.toml) have graphs.")); return; }
  try {
    const answer = await ask("look", { do: "graph", ...source() });
    place.replaceChildren(answer.svg ? picture(answer.svg, `Graph of ${state.open.name}`) : element("p", {}, answer.error || "Networks (.cdn) and bond graphs (.toml) have graphs; this has none."));
  } catch (error) { say(error.message); }
}

// ---- starting ----

const lacks = needs => needs.find(need => (state.has || {})[need] === false);  // what the model does not have; null: not known

function fieldRow(form, field) {
  const id = `field-${field.name}`, key = `${form.command} ${field.name}`;
  const input = field.kind === "switch" ? element("input", { type: "checkbox", id, checked: state.filled[key] === true }) : element("input", { type: "text", id, placeholder: field.default, maxlength: "2000" });
  if (field.kind !== "switch") input.value = state.filled[key] ?? (field.name === "settings" ? Object.entries(state.settings).map(([name, value]) => `${name}=${value}`).join(" ") : "");
  input.addEventListener("input", () => { state.filled[key] = field.kind === "switch" ? input.checked : input.value; enableFields(form); });
  return element("div", { class: "field" }, element("label", { for: id }, field.flag), input, element("small", {}, field.help + (field.repeats ? " Several: with spaces between." : "")), element("small", { class: "why", hidden: true }));
}

// Fields that say nothing as things stand can be read, with the reason, and not filled in.
function enableFields(form) {
  const given = name => { const input = byId(`field-${name}`); return !input || (input.type === "checkbox" ? input.checked : input.value.trim() !== ""); };
  for (const field of form.fields) {
    const input = byId(`field-${field.name}`), why = input.parentElement.querySelector(".why"), owner = form.fields.find(each => each.name === field.belongs_to);
    const reason = lacks(field.needs ? [field.needs] : []) ? state.reasons[field.needs] : owner && !given(owner.name) ? `with ${owner.flag} alone` : "";
    input.disabled = reason !== "";
    why.textContent = reason; why.hidden = !reason;
  }
}

function showForm() {
  const place = byId("tab-start"), form = state.forms.find(each => each.command === state.form), missing = lacks(form.needs);
  const choose = element("select", { id: "command", "aria-label": "What to do", onchange: event => { state.form = event.target.value; showForm(); } },
    ...state.forms.map(each => element("option", { value: each.command, selected: each === form }, each.command + (lacks(each.needs) ? " (not for this)" : ""))));
  const apart = form.fields.filter(field => field.needs && lacks([field.needs])), rows = form.fields.filter(field => !apart.includes(field)).map(field => fieldRow(form, field));
  if (apart.length) rows.push(element("details", { id: "apart" }, element("summary", {}, `Not for this model: ${apart.map(field => field.flag).join(", ")}`), ...apart.map(field => fieldRow(form, field))));
  place.replaceChildren(element("p", {}, choose, ` ${subject() || "choose a model first"}`), element("p", {}, form.about),
    element("button", { id: "start", disabled: !subject() || !!missing, onclick: () => start(form) }, `Start ${form.command}`),
    element("p", { id: "why-not", class: "why", hidden: !missing }, missing ? state.reasons[missing] : ""), ...rows);
  enableFields(form);
}

async function start(form) {
  const values = {};
  for (const field of form.fields) {
    const input = byId(`field-${field.name}`);
    if (input.disabled) continue;
    if (field.kind === "switch") { if (input.checked) values[field.name] = true; }
    else if (input.value.trim()) values[field.name] = field.repeats ? input.value.trim().split(/\s+/) : input.value.trim();
  }
  try {
    if (state.open && byId("text").value !== state.open.saved) await save();
    const answer = await ask("start", { command: form.command, subject: subject(), values });
    say(`started ${answer.task}`, true);
    await refresh();
    showResults([answer.task]);
  } catch (error) { say(error.message); }
}

// ---- results ----

function showResults(names) {
  state.shown = names;
  state.drawn = "";
  selectTab("result");
  drawResults();
}

function drawResults() {
  const tasks = state.shown.map(name => state.tasks.find(task => task.name === name)).filter(Boolean);
  const key = JSON.stringify(tasks.map(task => [task.name, task.state, task.output, task.progress, task.pages]));
  if (key === state.drawn || byId("tab-result").hidden) return;
  state.drawn = key;
  byId("tab-result").replaceChildren(...tasks.map(resultView));
}

function resultView(task) {
  const view = element("div", {}, element("h2", {}, task.name), element("p", { class: `state-${task.state}`, "data-state": task.state }, `${task.state} ${task.progress}`), element("p", {}, element("code", {}, task.command)));
  if (task.ending) view.append(element("p", { class: "ending" }, task.ending));
  if (task.state === "running") view.append(element("button", { "data-cancel": task.name, onclick: () => ask("cancel", { task: task.name }).then(refresh, error => say(error.message)) }, "Cancel"));
  if (task.pages.length && task.state !== "running") {
    const address = page => `/results/${encodeURIComponent(task.name)}/${task.key}/${page.split("/").map(encodeURIComponent).join("/")}`;
    const frame = element("iframe", { src: address(task.pages[0]), sandbox: "allow-scripts allow-downloads", title: `Page of ${task.name}` });
    if (task.pages.length > 1) view.append(element("select", { "aria-label": "Which page", onchange: event => { frame.src = address(event.target.value); } }, ...task.pages.map(page => element("option", { value: page }, page))));
    view.append(frame);
  }
  view.append(element("pre", { class: "output" }, task.output));
  return view;
}

// ---- staying up to date ----

async function refresh() {
  try {
    const now = await ask("state");
    const before = JSON.stringify([state.files, state.tasks]);
    state.files = now.files;
    state.cut = now.cut;
    state.tasks = now.tasks;
    if (JSON.stringify([state.files, state.tasks]) !== before) showLibrary();
    drawResults();
    if (state.away) { state.away = false; say(""); }
  } catch (error) {
    state.away = true;
    say(error instanceof TypeError ? "the studio does not answer: what you wrote is kept in this browser" : error.message);
  }
}

async function main() {
  const all = await ask("overview");
  Object.assign(state, { files: all.files, cut: all.cut, machines: all.machines, large: all.large, forms: all.forms, reasons: all.reasons, tasks: all.tasks });
  byId("folder").textContent = `${all.folder} (strut ${all.version})`;
  byId("text").addEventListener("input", edited);
  byId("text").addEventListener("scroll", () => { byId("gutter").scrollTop = byId("text").scrollTop; });
  byId("save").addEventListener("click", save);
  byId("revert").addEventListener("click", () => { if (state.theirs) { byId("text").value = state.open.saved = state.theirs.text; byId("revert").hidden = true; say(""); edited(); } });
  document.addEventListener("keydown", event => { if ((event.ctrlKey || event.metaKey) && event.key === "s") { event.preventDefault(); save(); } });
  byId("new-form").addEventListener("submit", async event => {
    event.preventDefault();
    try { const name = byId("new-name").value.trim(); await ask("save", { name, text: "", version: "" }); await refresh(); openFile(name); } catch (error) { say(error.message); }
  });
  byId("compare").addEventListener("click", async () => {
    try { const answer = await ask("compare", { tasks: [...state.picked] }); await refresh(); showResults([answer.task]); } catch (error) { say(error.message); }
  });
  selectTab("look");
  showLibrary();
  if (all.selected) openFile(all.selected);
  setInterval(refresh, POLL_MS);
}

main().catch(error => say(error.message));
