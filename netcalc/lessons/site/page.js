// The panels of a lesson without a kernel. Each has a block of text beside it: gzip in base64, with
// the bokeh documents of its figure, and a table of what the figure and its words are at every
// stored position of its controls.
(() => {
  "use strict";

  const DROPPED_BITS = 11; // of a number in single precision
  const panels = [];

  async function unpacked(text) {
    const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    const whole = new Uint8Array(await new Response(stream).arrayBuffer());
    const length = new DataView(whole.buffer).getUint32(0, true);
    const header = JSON.parse(new TextDecoder().decode(whole.subarray(4, 4 + length)));
    return { header, body: whole.subarray(4 + length) };
  }

  function reader(body) {
    let at = 0;
    const next = () => {
      let value = 0;
      let factor = 1;
      for (;;) {
        const byte = body[at++];
        value += (byte & 127) * factor;
        if (byte < 128) break;
        factor *= 128;
      }
      return value % 2 ? -(value + 1) / 2 : value / 2;
    };
    const steps = (count) => {
      const values = new Int32Array(count);
      for (let i = 0, sum = 0; i < count; i++) values[i] = sum += next();
      return values;
    };
    const numbers = (count, gaps) => {
      const values = new Float64Array(count);
      const bits = new Int32Array(1);
      const single = new Float32Array(bits.buffer);
      for (let i = 0, step = 0, sum = 0; i < count; i++) {
        step += next();
        sum += step;
        bits[0] = Math.abs(sum) << DROPPED_BITS;
        values[i] = sum < 0 ? -single[0] : single[0];
      }
      for (let i = 0; i < gaps.length; i += 2) values.fill(NaN, gaps[i], gaps[i] + gaps[i + 1]);
      return values;
    };
    return { steps, numbers };
  }

  function column(told, read) {
    if (told.exact) return Float64Array.from(told.exact, (value) => value ?? NaN);
    if (told.list) return told.list;
    return read.numbers(told.count, told.nan ?? []);
  }

  function tableOf({ header, body }) {
    const read = reader(body);
    const columns = header.columns.map((all) => all.map((told) => column(told, read)));
    const formOf = read.steps(header.states);
    const rows = new Array(header.states);
    header.forms.forEach((form, number) => {
      const mine = [];
      formOf.forEach((one, state) => one === number && mine.push(state));
      const count = 3 + header.slots + form.sources.length;
      const fields = Array.from({ length: count }, () => read.steps(mine.length));
      mine.forEach((state, i) => {
        rows[state] = fields.map((field) => field[i]);
      });
    });
    return { header, columns, formOf, rows };
  }

  // Put columns into a bokeh document that is still JSON.
  function filled(form, columns, row, slots) {
    const document = structuredClone(form.document);
    const wanted = new Map();
    form.sources.forEach(([source, name, place], i) => {
      const values = columns[place][row[3 + slots + i]];
      const told = Array.from(values, (value) =>
        typeof value === "number" && !Number.isFinite(value)
          ? { type: "number", value: "nan" } : value);
      const id = form.ids[source];
      if (!wanted.has(id)) wanted.set(id, []);
      wanted.get(id).push([name, told]);
    });
    const walk = (value) => {
      if (Array.isArray(value)) return value.forEach(walk);
      if (!value || typeof value !== "object") return undefined;
      if (value.attributes && wanted.has(value.id)) {
        value.attributes.data = { type: "map", entries: wanted.get(value.id) };
        return undefined;
      }
      return Object.values(value).forEach(walk);
    };
    walk(document);
    return document;
  }

  class Panel {
    constructor(element) {
      this.element = element;
      this.figure = element.querySelector(".figure");
      this.caption = element.querySelector(".caption");
      this.message = element.querySelector(".message");
      this.slots = [...element.querySelectorAll(".slot")];
      this.controls = [...element.querySelectorAll(".control")]
        .sort((one, other) => one.dataset.index - other.dataset.index);
      this.inputs = this.controls.map((one) => one.querySelector("input, select"));
      this.state = "asleep"; // asleep, waking, awake, broken
      this.drawn = null; // the bokeh document, the number of its form, and its row
      this.sayWords = netcalcTables.sayWhenSettled(this.caption);
      this.values = netcalcTables.valuesTable(netcalcTables.words, () => {
        const { document, number } = this.drawn ?? {};
        return document ? { document, ids: this.table.header.forms[number].ids } : null;
      });
    }

    async wake() {
      if (this.state !== "asleep") return;
      this.state = "waking";
      try {
        const data = document.getElementById(this.element.dataset.table);
        this.table = tableOf(await unpacked(data.textContent.trim()));
        this.sizes = this.table.header.controls.map((one) => Math.max(1, one.texts.length));
        this.inputs.forEach((input, i) => {
          if (!input || this.table.header.controls[i].kind === "fixed") return;
          input.disabled = false;
          input.addEventListener("input", () => this.moved(i));
        });
        await this.show();
        this.caption.after(this.values.element);
        this.state = "awake";
      } catch (error) {
        this.state = "broken";
        console.error("netcalc:", error);
        this.message.textContent = "This browser cannot draw the figure: it needs a newer one. " +
          "The picture shows it at the start.";
        this.message.hidden = false;
      }
    }

    position(i) {
      const input = this.inputs[i];
      if (this.table.header.controls[i].kind === "fixed") return 0;
      if (input.type === "checkbox") return input.checked ? 1 : 0;
      return Number(input.value);
    }

    put(i, position) {
      const input = this.inputs[i];
      if (this.table.header.controls[i].kind === "fixed") return;
      if (input.type === "checkbox") input.checked = position === 1;
      else input.value = String(position);
      this.tell(i);
    }

    tell(i) {
      const text = this.table.header.controls[i].texts[this.position(i)];
      const output = this.controls[i].querySelector("output");
      if (output) output.textContent = text;
      if (this.inputs[i].type === "range") this.inputs[i].setAttribute("aria-valuetext", text);
    }

    index() {
      const { header } = this.table;
      const here = header.controls.map((_, i) => this.position(i));
      if (header.joint) return here.reduce((sum, place, i) => sum * this.sizes[i] + place, 0);
      let at = 0;
      for (let i = 0; i < here.length; i++) {
        if (here[i] !== header.controls[i].start) return at + here[i];
        at += this.sizes[i];
      }
      return header.controls[0].start;
    }

    moved(i) {
      if (!this.table.header.joint)
        this.table.header.controls.forEach((one, other) => {
          if (other !== i && this.position(other) !== one.start) this.put(other, one.start);
        });
      this.tell(i);
      this.show();
    }

    async show() {
      const { header, columns, formOf, rows } = this.table;
      const state = this.index();
      const row = rows[state];
      const number = formOf[state];
      const form = header.forms[number];
      this.wanted = state;
      if (this.drawn?.number === number) {
        this.feed(form, columns, row);
      } else {
        await this.draw(form, columns, row, number);
        if (this.wanted !== state) return;
      }
      this.say(row);
    }

    feed(form, columns, row) {
      const before = this.drawn.row;
      const fresh = new Map();
      form.sources.forEach(([source, name, place], i) => {
        const at = 3 + header_slots(this) + i;
        if (before[at] === row[at]) return;
        if (!fresh.has(source)) fresh.set(source, {});
        fresh.get(source)[name] = columns[place][row[at]];
      });
      for (const [source, data] of fresh) {
        const model = this.drawn.document.get_model_by_id(form.ids[source]);
        model.data = { ...model.data, ...this.drawn.look.data(model, data) };
      }
      this.drawn.row = row;
    }

    async draw(form, columns, row, number) {
      const { require } = window.Bokeh;
      const next = require("document").Document.from_json(
        filled(form, columns, row, header_slots(this)));
      const height = this.figure.clientHeight;
      this.figure.style.minHeight = `${height}px`; // the page below does not jump
      this.drawn?.look.end();
      this.drawn?.document.clear();
      this.figure.replaceChildren();
      this.drawn = { document: next, number, row, look: dressed(next) };
      await require("embed/standalone").add_document_standalone(next, this.figure);
      this.drawn.look.drawn();
      this.figure.style.minHeight = "";
      this.figure.netcalc = this.drawn; // for tests and for the curious
    }

    say(row) {
      const { texts } = this.table.header;
      const [words, message, hidden, ...slots] = row;
      const away = new Set(texts[hidden].split(" "));
      this.sayWords(texts[words]);
      this.values.renew();
      this.figure.setAttribute("aria-label", texts[words]);
      this.message.innerHTML = texts[message];
      this.message.hidden = !texts[message];
      this.slots.forEach((slot, i) => {
        slot.innerHTML = texts[slots[i]];
      });
      this.controls.forEach((one, i) => {
        one.hidden = away.has(this.table.header.controls[i].name);
      });
    }
  }

  const header_slots = (panel) => panel.table.header.slots;

  // What is wider than the page is scrolled by keys once Tab has reached it.
  function letTabReachWideParts() {
    for (const part of document.querySelectorAll("pre, table, .slot")) {
      if (part.scrollWidth > part.clientWidth) part.tabIndex = 0;
      else part.removeAttribute("tabindex");
    }
  }

  function start() {
    letTabReachWideParts();
    addEventListener("resize", letTabReachWideParts);
    document.addEventListener("toggle", letTabReachWideParts, true); // of what folds out
    for (const element of document.querySelectorAll(".panel")) panels.push(new Panel(element));
    const dress = (dark) => {
      for (const { figure } of panels) recolorPicture(figure.querySelector(":scope > svg"), dark);
    };
    dress(pageIsDark());
    watchTheme(dress);
    const seen = new IntersectionObserver((entries) => {
      for (const { isIntersecting, target } of entries) {
        if (!isIntersecting) continue;
        seen.unobserve(target);
        panels.find((one) => one.element === target).wake();
      }
    }, { rootMargin: "800px" });
    for (const one of panels) seen.observe(one.element);
  }

  window.netcalcPage = { unpacked };
  document.addEventListener("DOMContentLoaded", start);
})();
