// For readers who see no picture or use no mouse: names and values of controls, keys that reach
// them, what is said aloud, and the values of a figure as a table. This text, guess.js and figure.js
// are one module.

const PARTS = ".netcalc-panel, .netcalc-exercise, .netcalc, .netcalc-run";
const PAGES = 10; // PageUp and PageDown move a slider by this part of its length
const ROWS = 40; // of a series in a table, at most
const TABLE_MS = 500; // after the last change before an open table follows
const SETTLED_MS = 700; // after the last change before a sentence is read aloud

// Notebook takes arrows, Enter and letters for commands on its cells before the element that has
// the focus hears them, unless that element says that it wants its keys. JupyterLab asks later.
function keepKeys() {
  if (globalThis.__netcalcKeys) return;
  globalThis.__netcalcKeys = true;
  const isCommand = (event) =>
    event.ctrlKey || event.metaKey || event.altKey || event.key === "Escape" ||
    (event.shiftKey && event.key === "Enter");
  const pressed = (event) => {
    const { target } = event;
    if (!target.closest?.(PARTS)) return;
    target.toggleAttribute("data-lm-suppress-shortcuts", !isCommand(event));
    if (!event.key?.startsWith("Page") || isCommand(event)) return;
    const slider = target.matches(".noUi-handle") && target.closest(".noUi-target").noUiSlider;
    if (!slider) return;
    event.preventDefault(); // noUiSlider moves by five stops, however many there are
    event.stopPropagation();
    const { min, max } = slider.options.range;
    const page = Math.max(1, Math.round((max - min) / PAGES));
    slider.set(Number(slider.get()) + (event.key === "PageUp" ? page : -page));
  };
  window.addEventListener("keydown", pressed, true);
}

function setAttributes(element, attributes) {
  for (const [name, text] of Object.entries(attributes)) element?.setAttribute(name, text);
}

// ipywidgets gives a slider no name, and its number of stops for a value. The text box beside it
// has the value as people read it; a box that the kernel writes into sends no event.
function nameSlider(handle) {
  const label = handle.closest(".widget-slider")?.querySelector(".widget-label")?.textContent;
  if (!label) return;
  setAttributes(handle, { "aria-label": label });
  const field = handle.closest(".netcalc-control")?.querySelector('input[type="text"]');
  if (!field) return;
  setAttributes(field, { "aria-label": label });
  const tell = () => {
    const is = handle.getAttribute("aria-valuetext");
    if (is !== field.value) setAttributes(handle, { "aria-valuetext": field.value });
  };
  const { get, set } = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value");
  const told = function (text) {
    set.call(this, text);
    tell();
  };
  Object.defineProperty(field, "value", { configurable: true, get, set: told });
  new MutationObserver(tell).observe(handle, { attributeFilter: ["aria-valuetext"] });
  tell();
}

function nameProgress(run, name) {
  const track = run.querySelector(".progress");
  const bar = track?.querySelector(".progress-bar");
  if (!bar) return;
  setAttributes(track, { role: "progressbar", "aria-label": name });
  const tell = () => {
    const done = Math.round(parseFloat(bar.style.width) || 0);
    setAttributes(track, { "aria-valuenow": done, "aria-valuemin": 0, "aria-valuemax": 100 });
  };
  new MutationObserver(tell).observe(bar, { attributeFilter: ["style"] });
  tell();
}

// Name what came into a panel since the last time. `title` is that of its figure.
function nameParts(panel, words, title) {
  if (!panel) return;
  if (title) setAttributes(panel, { role: "group", "aria-label": title });
  panel.querySelectorAll(".noUi-handle:not([aria-label])").forEach(nameSlider);
  // A box without a label of its own has its name in its tooltip, which is no name to all readers.
  for (const field of panel.querySelectorAll("[title]:is(input, select):not([aria-label])")) {
    if (!field.labels?.[0]?.textContent) setAttributes(field, { "aria-label": field.title });
  }
  for (const wide of panel.querySelectorAll(".netcalc-equation:not([tabindex])")) {
    setAttributes(wide, { role: "group", "aria-label": words.equation, tabindex: "0" }); // keys scroll it
  }
  // What is there before its text comes is read aloud.
  for (const said of panel.querySelectorAll(".netcalc-words > .widget-html-content:not([aria-live])")) {
    setAttributes(said, { "aria-live": "polite" });
  }
  for (const run of panel.querySelectorAll(".netcalc-run:not([role])")) {
    const label = run.querySelector("button")?.textContent;
    if (!label) continue;
    setAttributes(run, { role: "group", "aria-label": label });
    nameProgress(run, words.progress.replace("{what}", () => label));
  }
}

// A sentence that follows a slider is read aloud when the slider rests, not at each of its steps.
function sayWhenSettled(element) {
  let timer = null;
  let isFirst = true;
  setAttributes(element, { "aria-live": "polite", "aria-atomic": "true" });
  const say = (text) => {
    if (element.textContent === text) return;
    element.textContent = text;
    if (isFirst) isFirst = false;
    else setAttributes(element, { "aria-busy": "true" });
    clearTimeout(timer);
    timer = setTimeout(() => element.removeAttribute("aria-busy"), SETTLED_MS);
  };
  say.close = () => clearTimeout(timer);
  return say;
}

// The title of a figure's first plot that has one.
function titleOf(document) {
  const plots = document.roots().flatMap((root) => [...root.references()]);
  const texts = plots.filter((one) => one.type === "Title").map(({ text }) => text?.text ?? text);
  return texts.find(Boolean) ?? "";
}

const ACROSS = { x: "", left: "from", right: "to" };
const UP = { y: "", y1: "from", y2: "to", bottom: "from", top: "to" };
const entryOf = (one, name) => (one instanceof Map ? one.get(name) : one?.[name]);

// What the pointer is told of a mark: heading, values and a function that writes one of them.
function hoverColumns(tool, data) {
  const columns = [];
  for (const [heading, shown] of tool.tooltips) {
    const [, name] = /^@\{(.+?)\}/.exec(shown) ?? [];
    if (!(name in data)) continue;
    const formatter = entryOf(tool.formatters, `@{${name}}`);
    const text = formatter ? (value) => formatter.format(value, "custom", {}) : String;
    columns.push({ heading, values: data[name], text });
  }
  return columns;
}

// Where nothing is told, as of a band: what the axes say.
function axisColumns(axes, glyph, data, words) {
  const columns = [];
  for (const [{ axis, name }, fields] of [[axes.x, ACROSS], [axes.y, UP]]) {
    if (!axis?.visible) return [];
    const unit = entryOf(axis.formatter.args, "unit") ?? "1";
    const named = Object.keys(fields).filter((one) => glyph[one]?.field in data);
    for (const one of named) {
      const heading = [name.replace(` [${unit}]`, ""), named.length > 1 ? words[fields[one]] : ""];
      const text = (value) => (typeof value === "number" ? quantityText(value, unit, 4) : String(value));
      columns.push({ heading: heading.filter(Boolean).join(", "), values: data[glyph[one].field], text });
    }
  }
  return columns;
}

// The columns of two marks of one source, such as a line and its band: each heading once.
function joined(some, others) {
  return [...some, ...others.filter(({ heading }) => !some.some((one) => one.heading === heading))];
}

// The series of a figure, with their columns.
function seriesOf(root, names, words) {
  const all = [...root.references()];
  const labels = new Map();
  for (const item of all.filter((one) => one.type === "LegendItem")) {
    const label = item.label?.value ?? item.label;
    if (typeof label === "string") item.renderers.forEach((one) => labels.set(one, label));
  }
  const plots = all.filter((one) => Array.isArray(one.renderers) && one.x_range);
  const axisOf = (plot, side) => plot[side].find((one) => one.formatter);
  const nameOf = (axis) => axis?.axis_label?.text ?? axis?.axis_label ?? "";
  const tools = all.filter((one) => one.type === "HoverTool" && Array.isArray(one.renderers));
  const found = new Map();
  for (const plot of plots) {
    // Of plots above each other the lowest names the axis that they share.
    const alike = plots.filter((one) => one.x_range === plot.x_range);
    const across = alike.map((one) => nameOf(axisOf(one, "below"))).find(Boolean) ?? "";
    const [x, y] = [axisOf(plot, "below"), axisOf(plot, "left")];
    const axes = { x: { axis: x, name: across }, y: { axis: y, name: nameOf(y) } };
    for (const drawn of plot.renderers) {
      const data = drawn.visible && drawn.data_source?.data;
      if (!data) continue;
      const tool = tools.find((one) => one.renderers.includes(drawn));
      const isWords = drawn.glyph.type === "Text";
      if (!tool && isWords) continue; // a label of another mark
      const columns = tool ? hoverColumns(tool, data) : axisColumns(axes, drawn.glyph, data, words);
      const key = `${plot.id} ${drawn.data_source.id}`;
      if (columns.length === 0) continue;
      const name = labels.get(drawn) ?? drawn.name ?? names.get(drawn.data_source.id) ?? "";
      const before = found.get(key);
      // The mark that is told of, as a line, gives the name; its band has more of its columns.
      const isFirst = !before || (tool && !before.isTold);
      const columnsOfBoth = isFirst ? joined(columns, before?.columns ?? [])
        : joined(before.columns, columns);
      const isTold = Boolean(tool) || before?.isTold === true;
      found.set(key, { name: isFirst ? name : before.name, columns: columnsOfBoth, isTold });
    }
  }
  return [...found.values()];
}

function tableOf({ name, columns }, words) {
  const isKnown = (value) => typeof value !== "number" || Number.isFinite(value);
  const told = columns.length > 1 ? columns.slice(1) : columns;
  const rows = Array.from(columns[0].values, (_, row) => row);
  const known = rows.filter((row) => told.some(({ values }) => isKnown(values[row])));
  const count = Math.min(ROWS, known.length);
  if (count === 0) return null;
  const step = count > 1 ? (known.length - 1) / (count - 1) : 0;
  const counts = { name, shown: count, count: known.length };
  const some = words.some_values.replace(/\{(\w+)\}/g, (_, one) => counts[one]);
  const [head, body, first] = [made("thead", {}), made("tbody", {}), made("tr", {})];
  for (const { heading } of columns) first.append(made("th", { textContent: heading }, { scope: "col" }));
  head.append(first);
  for (let at = 0; at < count; at++) {
    const line = made("tr", {});
    columns.forEach(({ values, text }, column) => {
      const textContent = text(values[known[Math.round(at * step)]]);
      line.append(column ? made("td", { textContent }) : made("th", { textContent }, { scope: "row" }));
    });
    body.append(line);
  }
  const table = made("table", { className: "netcalc-table" });
  table.append(made("caption", { textContent: count < known.length ? some : name }), head, body);
  return table;
}

// The table under a figure, made when it is opened. `drawn` gives the bokeh document and the ids of
// its sources by name, or null.
function valuesTable(words, drawn) {
  const element = made("details", { className: "netcalc-values" });
  const summary = made("summary", { textContent: words.values });
  const about = { role: "group", "aria-label": words.values, tabindex: "0" };
  const inside = made("div", { className: "netcalc-values-tables" }, about);
  element.append(summary, inside);
  let timer = null;
  const fill = () => {
    if (!element.open) return;
    const { document, ids } = drawn() ?? { document: null, ids: {} };
    const names = new Map(Object.entries(ids).map(([name, id]) => [id, name]));
    const series = (document?.roots() ?? []).flatMap((root) => seriesOf(root, names, words));
    inside.replaceChildren(...series.map((one) => tableOf(one, words)).filter(Boolean));
    if (!inside.childElementCount) inside.textContent = words.no_values;
  };
  const renew = () => {
    clearTimeout(timer);
    if (element.open) timer = setTimeout(fill, TABLE_MS);
  };
  element.addEventListener("toggle", fill);
  return { element, renew, close: () => clearTimeout(timer) };
}
