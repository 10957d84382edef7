// A bokeh figure in a notebook: BokehJS comes from the kernel, once a page; the figure comes
// once a view; after that only columns come.
//
// The library of a page:  none -> asked -> loaded       (or broken)
// The figure of a view:   asked -> received -> drawing -> drawn  (or broken)
//
// A view asks for the library only after it has received its figure: what answered once has a
// kernel. A view that was saved with the notebook and has none would ask in vain, and keep the
// others from asking. Each question has a time limit, after which it is asked again, at longer and
// longer intervals; in the end the view says that nobody answers.

const PATIENCE_MS = 2000; // then what did not come is asked for again
const LONGEST_MS = 60000; // between two questions, at most
const SILENT_COUNT = 2; // questions without an answer before the view says so
const WATCH_MS = 1000; // between two looks at the kernel's connection

// One entry a version of BokehJS, shared by all figures of the page, kept out of window.Bokeh.
const libraries = (globalThis.__netcalcLibraries ??= {});

function library(version) {
  const asked = { state: "none", askAgainAt: -Infinity, pause: PATIENCE_MS };
  return (libraries[version] ??= { ...asked, Bokeh: null, error: null, views: new Set() });
}

// BokehJS writes the place of each part of a figure into a style sheet each time it paints, moved or
// not, and in between asks for styles: the page computed them 9 to 14 times for a step of a slider.
// The places of curves and points, whose elements are empty, are not needed at all.
function keepStyles(Bokeh) {
  const sheet = Bokeh.require("core/dom").InlineStyleSheet?.prototype;
  const write = sheet?._update;
  if (!write) return;
  sheet._update = function update(css) {
    if (this.css !== css) write.call(this, css);
  };
  const glyphs = Bokeh.require("models/renderers/glyph_renderer").GlyphRendererView?.prototype;
  if (glyphs) glyphs.update_position = () => {};
  const visual = Bokeh.require("core/visuals/visual").VisualProperties?.prototype;
  if (visual) visual._get_css_value = () => "";
}

// Makes functions of texts, as `Function` does. A page's content policy may refuse that, as that of
// `netcalc classroom` does, and let scripts of its nonce run: there it is a script that makes them.
function Made(...texts) {
  const nonce = document.querySelector("script[nonce]")?.nonce;
  if (!nonce) return new Function(...texts);
  const script = Object.assign(document.createElement("script"), { nonce });
  const names = texts.slice(0, -1);
  script.textContent = `globalThis.__netcalcMade = function (${names}) {${texts.at(-1)}\n}`;
  document.head.append(script);
  script.remove();
  const made = globalThis.__netcalcMade;
  delete globalThis.__netcalcMade;
  return made ?? new Function(...texts);
}

function load(shared, source) {
  if (shared.state === "loaded") return;
  try {
    const scope = {};
    // BokehJS makes functions, too: of labels of ticks, and of what else figures do by themselves.
    const ours = source.replaceAll("new Function(", "new netcalcMade(");
    new Made("netcalcMade", ours).call(scope, Made);
    shared.Bokeh = scope.Bokeh;
    try {
      keepStyles(scope.Bokeh);
    } catch (error) {
      console.warn("netcalc figure: slower than it could be:", error); // another BokehJS
    }
    shared.state = "loaded";
  } catch (error) {
    shared.error = error;
    shared.state = "broken";
  }
  for (const step of [...shared.views]) step();
}

const ownModel = async (model) => model.widget_manager.get_model(model.get("_own_id"));

// anywidget gives a model up whose module took more than 2 s to load, as on a busy machine: the
// model is shown, but never hears the kernel again. This gives it back the hearing of its base.
async function revive(model) {
  const own = await ownModel(model);
  const base = Object.getPrototypeOf(Object.getPrototypeOf(own));
  own.comm?.on_msg((message) => base._handle_comm_msg.call(own, message));
}

const hasEnded = (own) => !own.comm_live || own.comm?.jsServicesComm?.isDisposed === true;

// Front ends mark the widgets of a kernel that was restarted, not of one that died or was shut
// down: then its connections are closed, and this marks all widgets that had one.
async function markEnded(manager) {
  for (const promise of Object.values(manager._models ?? {})) {
    const one = await promise;
    if (one.comm_live && hasEnded(one)) one.comm_live = false;
  }
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
    if (!source) continue;
    source.data = { ...source.data, ...figure.look.data(source, decode(columns, buffers)) };
  }
}

function element(className, role) {
  const made = Object.assign(document.createElement("div"), { className });
  if (role) made.setAttribute("role", role);
  return made;
}

function render({ model, el }) {
  const words = model.get("_words");
  const shared = library(model.get("_bokeh_version"));
  const view = Math.random().toString(36).slice(2);
  const picture = element("netcalc-figure", "img");
  const caption = element("netcalc-caption");
  const notice = element("netcalc-notice", "status");
  const say = sayWhenSettled(caption);
  const values = valuesTable(words, () => (guess?.covered ? null : drawn));
  const verdict = element("netcalc-verdict", "status"); // about the reader's guess
  el.classList.add("netcalc");
  el.append(picture, caption, verdict, values.element, notice);

  let state = "asked";
  let reason = ""; // why it is not drawn
  let received = null; // the document to be drawn, and the columns that came after it
  let drawn = null; // the bokeh document on the page, and the way to its sources
  let closed = false;
  let ended = false; // whether the kernel of this view is known to have ended
  let timer = null; // of the question that is open, or of the next look at the page
  let pause = PATIENCE_MS;
  let silent = 0; // questions without an answer, one after the other
  let guess = null; // the question that covers the figure, and what the kernel said of it
  let resend = null; // of a guess that is not answered
  let uncover = null; // shows what is hidden until the reader has guessed

  const describe = () => {
    const covered = guess?.covered === true;
    const text = covered ? words.covered.replace("{what}", () => guess.what) : model.get("description");
    picture.setAttribute("aria-label", text);
    say(reason || (covered ? "" : text));
    values.element.hidden = covered;
  };

  const notify = () => {
    let text = "";
    const where = document.body.dataset.voila === undefined ? "" : "_of_page"; // no cells to run
    if (ended) text = words[`no_kernel${where}`];
    else if (state !== "drawn" && silent >= SILENT_COUNT) text = words[`no_answer${where}`];
    if (notice.textContent !== text) notice.textContent = text;
  };

  const fail = (error) => {
    if (closed) return;
    state = "broken";
    received = null; // what comes after it is not kept
    console.error("netcalc figure:", error);
    reason = words.not_drawn.replace("{reason}", () => error.message);
    drawn?.look.end();
    drawn = null;
    describe();
  };

  const send = (content) => {
    try {
      model.send(content);
    } catch (error) {
      // No kernel is connected: the time limit asks again.
    }
  };

  const frame = () => {
    const [root] = drawn?.document.roots() ?? [];
    const view = root && drawn.document.views_manager?.find_one(root); // none before it is on the page
    return view?.frame ? view : (view?.child_views ?? []).find((one) => one.frame);
  };

  const form = guessForm({
    words,
    send: (content) => {
      send(content);
      // A view that does not hear the kernel gets its hearing back, and the answer again.
      clearTimeout(resend);
      resend = setTimeout(async () => {
        await revive(model).catch(() => {});
        if (guess?.covered) send(content.reveal ? content : { kind: "ask guess" });
      }, PATIENCE_MS);
    },
    frame: () => frame()?.frame,
    preview: (value) => {
      const source = drawn?.source(guess.mark);
      if (!source || guess.other === null) return;
      const [x, y] = guess.along === "x" ? [value, guess.other] : [guess.other, value];
      source.data = { x: new Float64Array([x]), y: new Float64Array([y]) };
    },
  });
  el.prepend(form.element);

  picture.addEventListener("click", (event) => {
    const view = guess?.covered && frame();
    if (!view) return;
    const box = view.el.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    if (!view.frame.bbox.contains(x, y)) return;
    form.point(view.frame.x_scale.invert(x), view.frame.y_scale.invert(y));
  });

  // Cover or uncover the figure, as the kernel says; a figure whose kernel has ended is not covered.
  const cover = (content) => {
    clearTimeout(resend);
    const inside = form.hasFocus();
    guess = content && { ...content, covered: content.covered && !ended };
    const covered = guess?.covered === true;
    el.classList.toggle("netcalc-covered", covered);
    if (guess) form.take(guess);
    values.renew();
    if (!covered) uncover = void uncover?.();
    else if (drawn && !uncover) uncover = hideMarks(drawn.document, drawn.ids[guess.mark]);
    const text = guess?.sentence ?? "";
    if (verdict.textContent !== text) verdict.textContent = text;
    if (inside && !covered) {
      verdict.tabIndex = -1; // what had the focus is gone
      verdict.focus();
    }
    describe();
  };

  const awaitAnswer = () => {
    timer = setTimeout(async () => {
      silent += 1;
      pause = Math.min(2 * pause, LONGEST_MS);
      notify();
      await revive(model).catch(() => {});
      step();
    }, pause);
  };

  // The one place that decides what to do next; called whenever something came or ran out.
  const step = () => {
    clearTimeout(timer);
    if (closed || state === "drawn" || state === "drawing" || state === "broken") return;
    if (!received) {
      send({ kind: "ask document", view });
      awaitAnswer();
    } else if (shared.state === "broken") {
      fail(shared.error);
    } else if (shared.state !== "loaded") {
      if (Date.now() >= shared.askAgainAt) {
        shared.state = "asked";
        shared.askAgainAt = Date.now() + shared.pause;
        shared.pause *= 2; // a megabyte on a slow line is no lost one
        send({ kind: "ask library" });
      }
      awaitAnswer();
    } else if (!picture.isConnected || picture.clientWidth === 0) {
      timer = setTimeout(step, 30); // bokeh measures it; some front ends attach it later
    } else {
      draw().catch(fail);
    }
  };

  const clear = () => {
    drawn?.look.end();
    drawn?.document.clear();
    drawn = null;
    uncover = null;
    delete picture.netcalc;
  };

  const draw = async () => {
    state = "drawing";
    const { ids, content, columns } = received;
    const mine = received;
    const { Bokeh } = shared;
    const next = Bokeh.require("document").Document.from_json(JSON.parse(content));
    clear();
    picture.replaceChildren();
    const source = (name) => next.get_model_by_id(ids[name]);
    drawn = { document: next, ids, source, look: dressed(next) };
    cover(mine.guess); // before anything of it is on the page
    await Bokeh.require("embed/standalone").add_document_standalone(next, picture);
    if (closed) return clear();
    drawn.look.drawn();
    for (const [sources, buffers] of columns) assign(drawn, sources, buffers);
    if (received !== mine) {
      state = "received"; // another figure came meanwhile
      step();
      return undefined;
    }
    received = null;
    state = "drawn";
    form.drawn();
    picture.netcalc = drawn; // for tests and for the curious
    el.classList.add("netcalc-drawn");
    describe();
    notify();
    values.renew();
    nameParts(el.closest(".netcalc-panel"), words, titleOf(next));
    return undefined;
  };

  const heard = () => {
    silent = 0;
    pause = PATIENCE_MS;
    notify();
  };

  const receive = (message, buffers) => {
    if (closed) return;
    if (message.kind === "library") {
      heard();
      load(shared, new TextDecoder().decode(buffers[0]));
    } else if (message.kind === "document") {
      // A second answer to a question that was asked twice changes nothing.
      const late = state === "drawn" || state === "drawing";
      if (message.view !== "all" && (message.view !== view || late)) return;
      heard();
      const content = new TextDecoder().decode(buffers[0]);
      received = { ids: message.ids, content, columns: [], guess: message.guess ?? null };
      if (state !== "drawing") [state, reason] = ["received", ""];
      step();
    } else if (message.kind === "guess") {
      if (received) received.guess = message.guess;
      if (drawn) cover(message.guess);
    } else if (message.kind === "columns") {
      if (received) received.columns.push([message.sources, buffers]);
      else if (drawn) assign(drawn, message.sources, buffers);
      values.renew();
    }
  };

  // Controls of a panel without a kernel would move and nothing would follow.
  const watch = async () => {
    const own = await ownModel(model);
    if (closed) return;
    ended = hasEnded(own);
    // The picture for readers without a kernel has the answer: it is not shown before the figure.
    el.classList.toggle("netcalc-asking", model.get("_asks") && !ended && state !== "broken");
    notify();
    if (ended && guess?.covered) cover(guess);
    nameParts(el.closest(".netcalc-panel"), words);
    for (const part of el.closest(".netcalc-panel")?.children ?? []) {
      if (part !== el) part.inert = ended;
    }
    if (ended) await markEnded(model.widget_manager);
  };
  const watcher = setInterval(() => watch().catch(() => {}), WATCH_MS);

  model.on("msg:custom", receive);
  model.on("change:description", describe);
  keepKeys();
  shared.views.add(step);
  describe();
  step();
  watch().catch(() => {});

  return () => {
    closed = true;
    clearTimeout(timer);
    clearTimeout(resend);
    clearInterval(watcher);
    values.close();
    say.close();
    shared.views.delete(step);
    model.off("msg:custom", receive);
    model.off("change:description", describe);
    // BokehJS must have all of a document until it is on the page; then `draw` clears it.
    if (state !== "drawing") clear();
    el.replaceChildren();
  };
}

export default { render };
