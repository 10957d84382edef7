// The question that covers a figure: a guess is typed, clicked in the figure, or set with a slider
// along its axis. The kernel reads it and answers; the page only shows what the kernel says.
// This text and figure.js are one module.

const HIDDEN = ["GlyphRenderer", "Legend", "BoxAnnotation", "Span", "Band", "Label", "LabelSet"];
const STEPS = 1000; // of the slider
const FRAMES = 20; // until what is shown is surely painted

const SYMBOLS = { byte: "B", "packet/s": "pps", "s/byte": "s/B" };
const FROM_KILO = new Set(["byte", "bit", "bit/s", "packet/s"]); // nothing smaller than one
const LONG = new Set(["min", "h", "days", "years"]); // without prefixes
const PREFIXES = [
  [1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"], [1, ""], [1e-3, "m"], [1e-6, "µ"], [1e-9, "n"],
];

// A number as text that the kernel reads.
function quantityText(value, unit, figures = 3) {
  const rounded = Number(value.toPrecision(figures));
  if (unit === "1") return String(rounded);
  if (LONG.has(unit)) return `${rounded} ${unit}`;
  if (unit === "ratio") return `${Number((100 * rounded).toPrecision(figures))}%`;
  const fits = PREFIXES.filter(([factor]) =>
    FROM_KILO.has(unit) ? factor >= 1 : unit === "s" || unit === "s/byte" ? factor <= 1 : unit !== "m" || factor <= 1e3,
  );
  const size = Math.abs(rounded);
  const found = fits.find(([factor]) => size >= factor * 0.99999) ?? fits[fits.length - 1];
  const [factor, prefix] = size > 0 ? found : [1, ""];
  const digits = Number((rounded / factor).toPrecision(figures));
  return `${digits} ${prefix}${SYMBOLS[unit] ?? unit}`;
}

function made(tag, properties, attributes = {}) {
  const node = Object.assign(document.createElement(tag), properties);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  return node;
}

// The form above a covered figure. `send` takes a message for the kernel, `frame` is the view of the
// figure's axes or null, `preview` moves the mark on this page.
function guessForm({ words, send, frame, preview }) {
  const asking = (template) => template.replace("{what}", () => asked.what);
  const form = made("form", { className: "netcalc-guess", hidden: true });
  const question = made("p", { className: "netcalc-guess-question" });
  const name = made("span", { textContent: `${words.your_guess} ` });
  const field = made("input", { type: "text", autocomplete: "off", spellcheck: false });
  const label = made("label", { className: "netcalc-guess-field" });
  label.append(name, field);
  const slider = made("input", { type: "range", min: 0, max: STEPS, value: STEPS / 2 });
  const show = made("button", { type: "submit", textContent: words.compare });
  const skip = made("button", { type: "button", textContent: words.skip });
  const alert = made("span", { className: "netcalc-message" }, { role: "alert" });
  form.append(question, label, slider, show, skip, alert);
  let asked = null; // what the kernel said last

  const set = (value, told) => {
    field.value = quantityText(value, asked.unit);
    slider.setAttribute("aria-valuetext", field.value);
    alert.textContent = "";
    preview(value);
    if (told) send({ kind: "guess", text: field.value, reveal: false });
  };
  const scale = () => (asked.along === "x" ? frame()?.x_scale : frame()?.y_scale);
  const valueOfSlider = () => {
    const along = scale();
    if (!along) return null;
    const { start, end } = along.target_range;
    return along.invert(start + (slider.valueAsNumber / STEPS) * (end - start));
  };
  const slid = (told) => {
    const value = valueOfSlider();
    if (value !== null) set(value, told);
  };
  // What the slider is said to have: the guess as it is typed, before one its place on the axis.
  const tell = () => {
    const value = asked && valueOfSlider();
    const text = field.value.trim() || (typeof value === "number" ? quantityText(value, asked.unit) : "");
    if (text) slider.setAttribute("aria-valuetext", text);
  };
  field.addEventListener("change", tell);
  slider.addEventListener("input", () => slid(false));
  slider.addEventListener("change", () => slid(true));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    event.stopPropagation();
    send({ kind: "guess", text: field.value, reveal: true });
  });
  skip.addEventListener("click", () => send({ kind: "no guess" }));
  // Keys of a field are not commands of the notebook.
  form.addEventListener("keydown", (event) => event.stopPropagation());

  return {
    element: form,
    take(content) {
      asked = content;
      form.hidden = !asked.covered;
      question.textContent = asking(words.guess_first);
      field.setAttribute("aria-label", asking(words.guess_aloud));
      slider.setAttribute("aria-label", asking(words.guess_on_axis));
      if (!field.value) field.value = asked.text; // of a page that was loaded again
      tell();
      if (alert.textContent !== asked.alert) alert.textContent = asked.alert;
    },
    drawn: tell,
    // A click at a point of the figure, in the units of its axes.
    point(x, y) {
      if (!asked?.covered) return;
      const value = asked.along === "x" ? x : y;
      const along = scale();
      const { start, end } = along.target_range;
      slider.value = String(Math.round((STEPS * (along.compute(value) - start)) / (end - start)));
      set(value, true);
    },
    hasFocus: () => form.contains(document.activeElement),
  };
}

// Everything of a figure that could give the answer away, except the reader's own mark; returns
// what shows it again. BokehJS fails at a pointer over a line that is shown but not yet painted, so
// the pointer finds nothing before some frames have passed.
function hideMarks(figure, mark) {
  const shown = [];
  const hovered = new Map();
  for (const root of figure.roots()) {
    for (const one of root.references()) {
      if (one.type === "HoverTool") hovered.set(one, one.renderers);
      if (HIDDEN.includes(one.type) && one.data_source?.id !== mark && one.visible) shown.push(one);
    }
  }
  hovered.forEach((_, tool) => (tool.renderers = []));
  shown.forEach((one) => (one.visible = false));
  return () => {
    shown.forEach((one) => (one.visible = true));
    const wait = (frames) => {
      if (frames) requestAnimationFrame(() => wait(frames - 1));
      else hovered.forEach((renderers, tool) => (tool.renderers = renderers));
    };
    wait(FRAMES);
  };
}
