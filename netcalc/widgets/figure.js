// A bokeh figure in a notebook: BokehJS comes from the kernel, once a page; the figure comes
// once a view; after that only columns come.

const PATIENCE_MS = 4000; // then what did not come is asked for again

// One entry a version of BokehJS, shared by all figures of the page, kept out of window.Bokeh.
const libraries = (globalThis.__netcalcBokeh ??= {});

function library(version) {
  if (!libraries[version]) {
    const entry = { askedAt: -Infinity };
    entry.loaded = new Promise((resolve) => (entry.resolve = resolve));
    libraries[version] = entry;
  }
  return libraries[version];
}

function evaluate(version, source) {
  const scope = {};
  new Function(source).call(scope);
  library(version).resolve(scope.Bokeh);
}

// anywidget gives a model up whose module took more than 2 s to load, as on a busy machine: the
// model is shown, but never hears the kernel again. This gives it back the hearing of its base.
async function revive(model) {
  const own = await model.widget_manager.get_model(model.get("_own_id"));
  const base = Object.getPrototypeOf(Object.getPrototypeOf(own));
  own.comm?.on_msg((message) => base._handle_comm_msg.call(own, message));
}

// Some front ends attach the element to the page later; bokeh measures it, so wait.
function connected(el, signal) {
  return new Promise((resolve) => {
    const look = () => {
      if (signal.aborted || (el.isConnected && el.clientWidth > 0)) resolve();
      else setTimeout(look, 30);
    };
    look();
  });
}

function decode(columns, buffers) {
  const decoded = {};
  for (const [name, column] of Object.entries(columns)) {
    if (Array.isArray(column)) {
      decoded[name] = column;
      continue;
    }
    const view = buffers[column.buffer];
    const bytes = view.buffer.slice(view.byteOffset, view.byteOffset + view.byteLength);
    decoded[name] = new Float64Array(bytes);
  }
  return decoded;
}

function assign(figure, sources, buffers) {
  for (const [name, columns] of Object.entries(sources)) {
    const source = figure.source(name);
    if (source) source.data = { ...source.data, ...decode(columns, buffers) };
  }
}

function render({ model, el }) {
  const version = model.get("_bokeh_version");
  const view = Math.random().toString(36).slice(2);
  const state = new AbortController();
  const { signal } = state;
  const picture = Object.assign(document.createElement("div"), { className: "netcalc-figure" });
  const caption = Object.assign(document.createElement("div"), { className: "netcalc-caption" });
  picture.setAttribute("role", "img");
  el.classList.add("netcalc");
  el.append(picture, caption);

  let drawn = null; // the bokeh document on the page, and the way to its sources
  let queue = Promise.resolve(); // messages are worked off one after the other
  let waiting = null; // timer of the next question
  let wanted = false; // a question is open
  let pause = PATIENCE_MS;

  const describe = () => {
    picture.setAttribute("aria-label", model.get("description"));
    caption.textContent = model.get("description");
  };

  // What stands there until the figure is there, and for good where no kernel runs.
  const stand_in = () => {
    const svg = model.get("picture");
    if (!svg) return;
    const img = document.createElement("img");
    img.alt = "";
    img.src = "data:image/svg+xml;charset=utf-8," + encodeURIComponent(svg);
    picture.replaceChildren(img);
  };

  const ask = () => {
    if (signal.aborted) return;
    wanted = true;
    const shared = library(version);
    const now = Date.now();
    const needs_library = !shared.done && now - shared.askedAt >= PATIENCE_MS;
    if (needs_library) shared.askedAt = now;
    try {
      model.send({ kind: "ask", view, library: needs_library });
    } catch (error) {
      // No kernel is connected: the picture stays.
    }
    clearTimeout(waiting);
    waiting = setTimeout(async () => {
      if (!wanted) return;
      await revive(model).catch(() => {});
      ask();
    }, pause);
    pause = Math.min(2 * pause, 60000);
  };

  const clear = () => {
    drawn?.document.clear();
    drawn = null;
  };

  const draw = async (ids, buffer) => {
    wanted = false;
    clearTimeout(waiting);
    const Bokeh = await library(version).loaded;
    await connected(picture, signal);
    if (signal.aborted) return;
    const text = new TextDecoder().decode(buffer);
    const next = Bokeh.require("document").Document.from_json(JSON.parse(text));
    const source = (name) => next.get_model_by_id(ids[name]);
    clear();
    picture.replaceChildren();
    drawn = { document: next, source };
    await Bokeh.require("embed/standalone").add_document_standalone(next, picture);
    picture.netcalc = drawn; // for tests and for the curious
  };

  const receive = (message, buffers) => {
    if (message.kind === "library") {
      if (!library(version).done) {
        library(version).done = true;
        evaluate(version, new TextDecoder().decode(buffers[0]));
      }
      return;
    }
    queue = queue
      .then(() => {
        if (signal.aborted) return undefined;
        // One answer to one question; and whatever was sent to all views.
        const mine = message.view === "all" || (message.view === view && wanted);
        if (message.kind === "document" && mine) return draw(message.ids, buffers[0]);
        if (message.kind === "columns" && drawn) assign(drawn, message.sources, buffers);
        return undefined;
      })
      .catch((error) => {
        console.error("netcalc figure:", error);
        caption.textContent = `The figure cannot be drawn here: ${error.message}`;
      });
  };

  model.on("msg:custom", receive);
  model.on("change:description", describe);
  describe();
  stand_in();
  ask();

  return () => {
    state.abort();
    clearTimeout(waiting);
    model.off("msg:custom", receive);
    model.off("change:description", describe);
    clear();
    el.replaceChildren();
  };
}

export default { render };
