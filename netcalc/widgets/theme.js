// The colours of a page and the size of its figures. A figure is built once, in its light colours;
// the page changes them when its own change, and asks nobody. The constant COLORS comes before this
// text: `swap` has each colour of a light figure with the one of a dark figure, and `dark` what the
// parts of a dark figure have by kind.

const NARROW = matchMedia("(max-width: 640px), (max-height: 560px)"); // as the style sheets have it
const PREFERS_DARK = matchMedia("(prefers-color-scheme: dark)");
const FULL_HEIGHT = 900; // of a window in which a figure has the height that it was made for
const FIGURE_SHARE = 0.5; // of the window's height, where a figure stays beside its controls
const LEAST_HEIGHT = 150;
const FIT_LEGEND = "fit the legend";

// JupyterLab and Notebook say which theme they have. Voila and plain pages follow the system.
function pageIsDark() {
  const { jpThemeLight, voila } = document.body?.dataset ?? {};
  if (jpThemeLight === "false") return true;
  return jpThemeLight === "true" && voila === undefined ? false : PREFERS_DARK.matches;
}

// The style sheet could ask this by :has, but then the styles of the whole page would be computed
// anew at each step of a slider.
function markFollowing() {
  const { jpThemeLight, voila } = document.body.dataset;
  const follows = voila !== undefined && jpThemeLight === "true";
  document.documentElement.classList.toggle("netcalc-follows", follows);
}

// Calls `changed` whenever the colours of the page change; returns what ends that.
function watchTheme(changed) {
  let last = pageIsDark();
  markFollowing();
  const look = () => {
    markFollowing();
    const now = pageIsDark();
    if (now !== last) changed((last = now));
  };
  const observer = new MutationObserver(look);
  observer.observe(document.body, { attributeFilter: ["data-jp-theme-light"] });
  PREFERS_DARK.addEventListener("change", look);
  return () => {
    observer.disconnect();
    PREFERS_DARK.removeEventListener("change", look);
  };
}

const swapText = (value) => (typeof value === "string" && COLORS.swap[value.toLowerCase()]) || value;
const BACK = Object.fromEntries(Object.entries(COLORS.swap).map(([light, dark]) => [dark, light]));
const swapBack = (value) => (typeof value === "string" && BACK[value.toLowerCase()]) || value;

const kindOf = (model) =>
  model.type === "Figure" || model.type === "Plot" ? "Plot"
    : model.type.endsWith("Axis") ? "Axis" : model.type;

// BokehJS makes all entries of a legend anew when anything below them changes, which columns do at
// each step of a slider: a quarter of the time of a step. What an entry shows is told here; the marks
// in it are painted each time anyway.
function keepEntries(view) {
  const render = view._render_items?.bind(view);
  if (!render) return;
  const { model } = view;
  const entries = () => JSON.stringify([
    model.ncols, model.nrows, model.orientation,
    model.items.map((item) => [
      item.visible, item.get_labels_list_from_label_prop(),
      item.renderers.map((one) => [one.id, one.visible, one.muted]),
    ]),
  ]);
  let shown = entries();
  view._render_items = () => {
    const now = entries();
    if (now === shown) return;
    shown = now;
    render();
  };
}

// BokehJS lays a plot out with the size that a legend had when it was placed last, which is none
// while its cell is hidden. It makes the entries anew when a mark changes, and leaves them unpainted.
class Legends {
  constructor(figure) {
    this.figure = figure;
    this.observer = new ResizeObserver(() => this.place());
  }

  // Those on the page, by the views that BokehJS has of them.
  views() {
    const views = this.figure.views_manager;
    if (!views) return [];
    const models = new Set(this.figure.roots().flatMap((root) => [...root.references()]));
    return [...models].filter((one) => one.type === "Legend")
      .map((one) => views.find_one(one)).filter(Boolean);
  }

  place() {
    for (const view of this.views()) {
      const { width, height } = view.el.getBoundingClientRect();
      if (!height) continue; // hidden: the observer calls again when it is shown
      if (Math.abs(width - view.bbox.width) < 1 && Math.abs(height - view.bbox.height) < 1) continue;
      view.update_position();
      view.plot_view.request_layout(true);
    }
  }

  settle() {
    this.place();
    for (const view of this.views()) view.request_paint();
  }

  watch() {
    for (const view of this.views()) {
      this.observer.observe(view.el);
      keepEntries(view);
    }
  }

  end() {
    this.observer.disconnect();
  }
}

// The colours of one bokeh document.
class FigureColors {
  constructor(figure) {
    this.dark = false;
    this.before = new Map(); // properties of models in the light figure
    this.columns = new Map(); // names of the columns with colours, by source
    this.figure = figure;
    this.legends = new Legends(figure);
    const { background_fill_color: dark } = COLORS.dark.Plot;
    this.fixed = [...this.models()].some(
      (one) => kindOf(one) === "Plot" && one.background_fill_color === dark); // made for a dark file
    for (const model of this.models()) {
      if (!model.data_source || !model.glyph) continue;
      for (const [, value] of this.looks(model.glyph)) {
        if (typeof value?.field !== "string") continue;
        const names = this.columns.get(model.data_source) ?? new Set();
        this.columns.set(model.data_source, names.add(value.field));
      }
    }
  }

  models() {
    return new Set(this.figure.roots().flatMap((root) => [...root.references()]));
  }

  *looks(model) {
    for (const property of model) {
      if (!property.attr.endsWith("color")) continue;
      const value = property.is_unset ? undefined : property.get_value();
      if (value !== undefined) yield [property.attr, value];
    }
  }

  // New columns as they are drawn: they come in light colours.
  data(source, columns) {
    if (!this.dark) return columns;
    const mine = { ...columns };
    for (const name of this.columns.get(source) ?? [])
      if (name in mine) mine[name] = Array.from(mine[name], swapText);
    return mine;
  }

  show(dark) {
    if (dark === this.dark || this.fixed) return;
    this.dark = dark;
    this.turn(dark);
    requestAnimationFrame(() => requestAnimationFrame(() => this.legends.settle()));
  }

  turn(dark) {
    const turn = dark ? swapText : swapBack;
    for (const [source, names] of this.columns) {
      const fresh = [...names].filter((name) => source.data[name])
        .map((name) => [name, Array.from(source.data[name], turn)]);
      source.data = { ...source.data, ...Object.fromEntries(fresh) };
    }
    if (!dark) {
      for (const [model, values] of this.before) model.setv(values);
      this.before.clear();
      return;
    }
    for (const model of this.models()) {
      const fresh = {};
      const old = {};
      const kind = COLORS.dark[kindOf(model)] ?? {};
      for (const [name, value] of this.looks(model)) {
        const said = value && typeof value === "object" ? value.value : value;
        const other = kind[name] ?? swapText(said);
        if (typeof said !== "string" || other === said) continue;
        old[name] = value;
        fresh[name] = value === said ? other : { ...value, value: other };
      }
      if (!Object.keys(fresh).length) continue;
      this.before.set(model, old);
      model.setv(fresh);
    }
  }
}

// A picture that stands where a figure will be.
function recolorPicture(picture, dark) {
  const turn = dark ? swapText : swapBack;
  if (!picture || (picture.dataset.dark === "true") === dark) return;
  picture.dataset.dark = String(dark);
  for (const node of [picture, ...picture.querySelectorAll("[fill], [stroke]")])
    for (const name of ["fill", "stroke"])
      if (node.hasAttribute(name)) node.setAttribute(name, turn(node.getAttribute(name)));
}

// The height of a figure follows that of the window.
class FigureSize {
  constructor(figure) {
    const models = figure.roots().flatMap((root) => [...root.references()]);
    this.charts = [...new Set(models)].filter((one) => kindOf(one) === "Plot").map((chart) => {
      const calls = chart.js_property_callbacks;
      const found = calls instanceof Map ? calls.get("change:inner_width")
        : calls?.["change:inner_width"];
      const legend = (found ?? []).find((one) => one.name === FIT_LEGEND);
      return { chart, legend, height: legend ? this.args(legend).get("height") : chart.height };
    });
    this.factor = 1;
  }

  args(call) {
    return new Map(call.args instanceof Map ? call.args : Object.entries(call.args));
  }

  fit() {
    const designed = this.charts.reduce((sum, one) => sum + one.height, 0);
    const most = FIGURE_SHARE * innerHeight;
    const wanted = NARROW.matches ? most / designed
      : this.charts.length === 1 ? Math.max(1, Math.min(1.4, innerHeight / FULL_HEIGHT)) : 1;
    const factor = NARROW.matches ? Math.min(1, wanted) : wanted;
    if (!(Math.abs(factor - this.factor) > 0.02)) return;
    this.factor = factor;
    for (const { chart, legend, height } of this.charts) {
      const fresh = Math.round(Math.max(Math.min(LEAST_HEIGHT, height), height * factor));
      if (!legend) {
        chart.height = fresh;
        continue;
      }
      const rows = chart.height - this.args(legend).get("height");
      legend.args = new Map([...this.args(legend), ["height", fresh]]);
      chart.height = fresh + rows;
    }
  }
}

// Both of one document, until `end` is called.
function dressed(figure) {
  const colors = new FigureColors(figure);
  const size = new FigureSize(figure);
  colors.show(pageIsDark());
  size.fit();
  let [width, wasNarrow] = [innerWidth, NARROW.matches];
  const resized = () => {
    // A phone hides its address bar while a page is scrolled: a figure of another height would jump.
    const isSame = NARROW.matches && wasNarrow && innerWidth === width;
    [width, wasNarrow] = [innerWidth, NARROW.matches];
    if (!isSame) size.fit();
  };
  const end = watchTheme((dark) => colors.show(dark));
  addEventListener("resize", resized);
  return {
    data: (source, columns) => colors.data(source, columns),
    drawn: () => colors.legends.watch(),
    end: () => {
      colors.legends.end();
      end();
      removeEventListener("resize", resized);
    },
  };
}
