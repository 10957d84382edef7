// A page in which time, kernel and BokehJS are played, to show a figure in every order of events.
// It calls figure.js as a front end does; a whole minute of waiting takes a millisecond.

// Lets every promise that is settled go on, as a browser does before the next timer. The longest
// chain of figure.js has some ten steps; to give way to the browser itself takes twice as long.
async function soon() {
  for (let step = 0; step < 32; step += 1) await undefined;
}

const time = { now: 0, next: 1, timers: new Map() };
window.setTimeout = (call, wait = 0) => {
  time.timers.set(time.next, { at: time.now + wait, call });
  return time.next++;
};
window.setInterval = (call, wait) => {
  time.timers.set(time.next, { at: time.now + wait, call, every: wait });
  return time.next++;
};
window.clearTimeout = window.clearInterval = (id) => time.timers.delete(id);
Date.now = () => time.now;

async function pass(span) {
  const end = time.now + span;
  for (;;) {
    await soon();
    const due = [...time.timers].filter(([, timer]) => timer.at <= end);
    if (!due.length) break;
    const [id, timer] = due.reduce((a, b) => (b[1].at < a[1].at ? b : a));
    time.now = Math.max(time.now, timer.at);
    if (timer.every) timer.at += timer.every;
    else time.timers.delete(id);
    timer.call();
  }
  time.now = end;
}

const LIBRARY = `this.Bokeh = { require: (name) => (name === "document" ? {
  Document: { from_json: (json) => ({
    source: { data: { y: json.y } },
    get_model_by_id() { return this.source; },
    clear() { this.cleared = true; },
    roots: () => [],
  }) },
} : {
  async add_document_standalone(drawn, el) {
    await new Promise((resolve) => setTimeout(resolve, 5));
    el.append(document.createElement("canvas"));
  },
}) }`;

const bytes = (text) => new TextEncoder().encode(text);

class Kernel {
  constructor(lost) {
    Object.assign(this, { lost, runs: false, answers: new Set(), held: [], y: 1, asked: [] });
    this.views = new Set(); // what hears it
  }
  hear(content) {
    if (!this.runs) return;
    const what = content.kind.replace("ask ", "");
    this.asked.push(what);
    if (this.answers.has(what)) this.answer(content);
    else if (!this.lost) this.held.push(content);
  }
  allow(what) {
    this.answers.add(what);
    const ready = this.held.filter((content) => content.kind === `ask ${what}`);
    this.held = this.held.filter((content) => !ready.includes(content));
    ready.forEach((content) => this.answer(content));
  }
  answer(content) {
    if (content.kind === "ask library") this.say({ kind: "library" }, bytes(LIBRARY));
    else {
      const message = { kind: "document", view: content.view, ids: { one: "1" } };
      this.say(message, bytes(JSON.stringify({ y: [this.y] })));
    }
  }
  say(message, buffer) {
    setTimeout(() => [...this.views].forEach((hear) => hear(message, [buffer])), 1);
  }
  move() {
    this.y += 1;
    const column = new DataView(new Float64Array([this.y]).buffer);
    const sources = { one: { y: { buffer: 0 } } };
    if (this.runs) this.say({ kind: "columns", sources }, column);
  }
}

const SAID = {
  no_kernel: "No kernel: run the cell again.",
  no_answer: "The kernel does not answer. If it has ended, run the cell again.",
};
const WORDS = new Proxy(SAID, { get: (said, name) => said[name] ?? String(name) });

function modelOf(kernel, live, version) {
  const about = { _own_id: "1", description: "A figure.", _words: WORDS };
  const values = { _bokeh_version: version, ...about };
  const own = { comm_live: live };
  const model = {
    own,
    sent: [],
    get: (name) => values[name],
    on: (name, hear) => name === "msg:custom" && live && kernel.views.add(hear),
    off: (name, hear) => kernel.views.delete(hear),
    send(content) {
      model.sent.push(content.kind);
      if (live) kernel.hear(content);
    },
    widget_manager: { get_model: async () => own, _models: { 1: Promise.resolve(own) } },
  };
  return model;
}

let versions = 0;

// One order of events, `gap` apart; what the page shows after each, and when it is drawn.
async function play(order, gap, lost, figure) {
  const version = `version ${(versions += 1)}`; // each begins without a library
  const kernel = new Kernel(lost);
  const saved = { model: modelOf(kernel, false, version), el: document.createElement("div") };
  const live = { model: modelOf(kernel, true, version), el: document.createElement("div") };
  const ends = [];
  const text = (one, name) => one.el.querySelector(name)?.textContent;
  const events = {
    saved() {
      document.body.append(saved.el);
      ends.push(figure.render(saved));
    },
    view: () => ends.push(figure.render(live)),
    page: () => document.body.append(live.el),
    kernel: () => (kernel.runs = true),
    library: () => kernel.allow("library"),
    document: () => kernel.allow("document"),
    slider: () => kernel.move(),
  };
  const notices = [];
  for (const event of order) {
    events[event]();
    await pass(gap);
    notices.push(text(live, ".netcalc-notice") ?? null);
  }
  const figureOf = () => live.el.querySelector(".netcalc-figure").netcalc;
  const limit = time.now + 130_000; // two questions at their longest interval
  while (time.now < limit && !figureOf()) await pass(1000);
  await pass(100);
  const shown = figureOf();
  const found = {
    notices,
    drawn: shown ? [...shown.source("one").data.y] : null,
    wanted: [kernel.y],
    canvases: live.el.querySelectorAll("canvas").length,
    notice: text(live, ".netcalc-notice"),
    saved: text(saved, ".netcalc-notice"),
    savedAsked: saved.model.sent.includes("ask library"),
    libraries: kernel.asked.filter((what) => what === "library").length,
  };
  ends.forEach((end) => end());
  found.left = time.timers.size;
  time.timers.clear();
  saved.el.remove();
  live.el.remove();
  return found;
}

// Plays each of some orders; those that end wrong, and how many there were.
async function playAll(source, orders, gap, lost) {
  const url = URL.createObjectURL(new Blob([source], { type: "text/javascript" }));
  const { default: figure } = await import(url);
  const wrong = [];
  let silent = 0;
  for (const order of orders) {
    const found = await play(order, gap, lost, figure);
    const good =
      JSON.stringify(found.drawn) === JSON.stringify(found.wanted) &&
      found.canvases === 1 &&
      found.notice === "" &&
      found.saved === "No kernel: run the cell again." &&
      !found.savedAsked &&
      found.left === 0;
    if (!good) wrong.push({ order, found });
    if (found.notices.some((notice) => notice?.startsWith("The kernel does not answer"))) silent += 1;
  }
  return { count: orders.length, silent, wrong: wrong.length, first: wrong.slice(0, 3) };
}
