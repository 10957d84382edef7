"use strict";
// The calculator's page: pick a formula, type or slide its inputs, read its answer and curve.
(function () {
  const { formulas, missing, sentences, hints } = netcalcData;
  const every = [...formulas, ...missing];
  const units = netcalcUnits(netcalcData.units);
  const byName = new Map(every.map((one) => [one.name, one]));
  const { ask } = netcalcAsking(netcalcData.questions, units, model);
  const at = (id) => document.getElementById(id);
  const POINTS = 241, STEPS = 1000;
  let shown = null, fields = new Map();

  function make(tag, properties = {}, ...children) {
    const { attributes = {}, ...others } = properties;
    const found = Object.assign(document.createElement(tag), others);
    for (const [name, value] of Object.entries(attributes)) found.setAttribute(name, value);
    found.append(...children);
    return found;
  }

  // Sentences: the templates of Python, with its formats.
  function sentence(template, values) {
    return template.replace(/\{(\w+)(!r)?(?::([^}]*))?\}/g, (_, name, quoted, format) => written(values[name], quoted, format));
  }

  function written(value, quoted, format) {
    if (format && format.includes("|")) {
      const [one, several] = format.split("|");
      return `${Number(value).toLocaleString("en-US")} ${value === 1 ? one : several}`;
    }
    if (format === "or") return value.length < 2 ? String(value[0]) : `${value.slice(0, -1).join(", ")} or ${value[value.length - 1]}`;
    const fixed = format && /^,?\.(\d)f$/.exec(format);
    if (fixed) return Number(value).toFixed(Number(fixed[1]));
    const general = format && /^\.(\d+)g$/.exec(format);
    if (general) return units.general(Number(value), Number(general[1]));
    if (format) {
      const [unit, digits] = format.split(".");
      if (typeof value === "number") return units.show(value, unit, digits ? Number(digits) : 4);
    }
    if (Array.isArray(value)) return value.map((one) => written(one)).join(", ");
    if (typeof value === "number") return units.general(value, 15);
    return quoted ? `'${value}'` : String(value);
  }

  // What an error or a note says, with the names and units that people type.
  function said(code, values, formula) {
    const template = sentences[code];
    if (!template) return code;
    const own = { ...values }, name = values.name;
    const parameter = formula && formula.parameters.find((one) => one.name === name);
    const unit = parameter ? parameter.unit : name === "result" ? formula.unit : unitOf(name);
    for (const key of ["value", "limit", "low", "high"])
      if (typeof own[key] === "number") own[key] = units.show(own[key], unit, key === "value" ? 4 : 12);
    if (name) own.name = name === "result" ? "the result" : parameter ? parameter.label : name.replace(ENDING, "").replace(/_/g, " ");
    if (formula && formula.derived && formula.derived[name] && !parameter) own.name += ` (${formula.derived[name]})`;
    if (own.formula) own.formula = own.formula.replace(ENDING, "").replace(/_/g, "-");
    const hint = hints[code] ? ` ${sentence(hints[code], own)}.` : "";
    return `${sentence(template, own)}.${hint.replace(/\?\.$/, "?")}`;
  }

  const ENDING = /_(s|bps|pps|bytes|bits|ratio|m|m_s|hz|db)$/;
  const ENDINGS = { s: "s", bps: "bit/s", pps: "packet/s", bytes: "byte", bits: "bit", ratio: "ratio", m: "m", m_s: "m/s" };
  const unitOf = (name) => (name && ENDING.exec(name) && ENDINGS[ENDING.exec(name)[1]]) || "1";

  const find = netcalcSearch(netcalcData.search);
  const named = (names) => names.map((name) => byName.get(name));
  const search = (query) => (query.trim() ? named(find(query).formulas) : every);

  // Why no formula answers, as the command says it.
  function nothing(query, found) {
    const values = { ...found, words: query, nearest: found.nearest.map((name) => byName.get(name).command.replace("netcalc calc ", "").split(" ")[0]) };
    const near = values.nearest.length, code = values.topic ? (near ? "topic-near" : "topic-elsewhere") : !near ? "nothing-matches" : values.unknown.length ? "words-unknown" : "words-apart";
    return code === "nothing-matches" ? "0 formulas" : said(code, values);
  }

  function list() {
    const query = at("search").value, { nodes, names } = asked(query), answer = query.trim() && !names.length ? find(query) : null;
    const found = answer ? named(answer.formulas.length ? answer.formulas : answer.nearest) : names.length ? named(names) : every;
    const meanings = answer && answer.formulas.length ? answer.terms.map(([term, meaning]) => `${term}: ${meaning}. `).join("") : "";
    const count = `${found.length} ${found.length === 1 ? "formula" : "formulas"}`;
    at("found-count").textContent = names.length ? count : !answer ? `${count}; type to search` : answer.formulas.length ? meanings + count : nothing(query, answer);
    at("asked").replaceChildren(...nodes);
    const row = (one) =>
      make("li", {}, make("button", { type: "button", onclick: () => open(one.name, true), attributes: { "data-name": one.name } },
        make("b", { textContent: one.title }), make("code", { textContent: one.command.replace("netcalc calc ", "").split(" ")[0] }), make("span", { textContent: one.reason ? `${one.summary} (needs Python)` : one.summary })));
    const chapters = netcalcData.chapters.flatMap(([title, names]) => [make("li", { textContent: title }), ...names.map((one) => row(byName.get(one)))]);
    at("found").replaceChildren(...(query.trim() ? found.slice(0, 60).map(row) : chapters));
    mark();
  }

  // Questions in a sentence. A formula from texts; undefined where the command has to compute it.
  function model(name, texts) {
    const formula = byName.get(name), notes = [];
    if (!formula || formula.reason) return undefined;
    const values = [], { parameters } = netcalcData.questions.formulas[name];
    for (const [i, parameter] of formula.parameters.entries()) {
      const text = texts[parameter.name], meant = parameters[i].named[text] ?? text;
      const word = parameter.words && parameter.words.find((one) => [String(one), wordText(parameter, one)].includes(String(meant)));
      if (text === undefined) values.push(parameter.default ?? null);
      else if (parameter.words && word === undefined) return undefined;
      else if (parameter.words) values.push(word);
      else if (typeof meant === "number") values.push(meant);
      else if (codecBps(formula, parameter, text)) values.push(voiceBytes(formula, parameter, text, (one) => (texts[one.name] === undefined ? one.default : typed(texts[one.name], one))));
      else if (/^[a-z]/i.test(text) && parameter.kind !== "bool") return undefined; // a name that the command knows
      else values.push(typed(text, parameter));
    }
    return { value: netcalcFormulas[name](...values, notes), notes };
  }

  // The readings of a question, or why there is none; nothing for words without a quantity.
  function asked(query) {
    const nothing_ = { nodes: [], names: [] }, line = (text) => make("p", { className: "unread", textContent: text });
    if (query.trim().split(/\s+/).length < 2) return nothing_;
    try {
      const { readings, notUnderstood, readAs } = ask(query);
      const several = readings.length > 1 ? [make("p", { textContent: `${readings.length} readings:` })] : [];
      const spelled = readAs.map(([text, word]) => `'${text}' is read as '${word}'.`);
      const lines = [...spelled, ...(notUnderstood.length ? [`Not understood: ${notUnderstood.join(", ")}.`] : [])];
      return { nodes: [...several, ...readings.map(readingShown), ...lines.map(line)], names: [...new Set(readings.map((one) => one.formula))].filter((name) => byName.has(name)) };
    } catch (error) {
      if (error.name !== "Refusal" && error.name !== "UnitError") throw error;
      return /\d/.test(query) && error.code !== "sentence-no-formula" ? { nodes: [line(said(error.code, error.values, null))], names: [] } : nothing_;
    }
  }

  function readingShown(reading) {
    const formula = byName.get(reading.formula), equation = formula && at(`equation-${formula.name}`), isHere = formula && !formula.reason;
    const usual = isHere ? formula.parameters.filter((one) => one.assumed && !(one.name in reading.texts) && !reading.silent.includes(one.name)).map((one) => `${one.label} ${one.assumed}`) : [];
    const rows = reading.given.map((one) => make("li", {}, make("b", { textContent: one.source }), ` ${one.said}${one.by ? `, from "${one.by}"` : ""}`));
    const assumed = [...reading.assumed, ...usual].map((text) => make("li", { textContent: `assumed: ${text}` }));
    return make("article", {},
      reading.text ? make("p", { className: "value", textContent: reading.text }) : make("p", { textContent: "This page lacks the formula; the command computes it." }),
      make("p", { textContent: reading.title }), ...(equation ? [equation.content.cloneNode(true)] : []), make("ul", {}, ...rows, ...assumed),
      ...[...reading.steps, reading.command].map((text) => make("code", { textContent: text })),
      ...(isHere ? [make("button", { type: "button", textContent: "Open with these numbers", onclick: () => open(formula.name, true, reading.texts) })] : []));
  }

  function mark() {
    // A formula may be listed twice: with the most needed, and in its chapter.
    at("found").querySelectorAll("[aria-current]").forEach((one) => one.removeAttribute("aria-current"));
    if (shown) at("found").querySelectorAll(`[data-name="${shown.name}"]`).forEach((one) => one.setAttribute("aria-current", "true"));
  }

  // Inputs.
  function numbers(text, parameter) {
    const unit = parameter.unit;
    if (unit === "bool") return { yes: true, true: true, on: true, no: false, false: false, off: false }[text.trim().toLowerCase()] ?? refuse("not-yes-or-no", parameter, text);
    if (netcalcData.units.units[unit]) return units.parseTyped(text, unit, Boolean(parameter.bare));
    return units.parse(text.replace(unit, "").trim(), "1"); // a unit of its own, such as s/packet
  }

  function refuse(code, parameter, value) {
    throw new netcalc.Refusal(code, { name: parameter.name, value, example: parameter.example ?? "a value", about: parameter.about });
  }

  function read(parameter) {
    const field = fields.get(parameter.name);
    if (parameter.kind === "bool") return field.input.checked;
    if (parameter.kind === "word") return parameter.words[field.input.selectedIndex];
    const text = field.input.value;
    if (!text.trim()) {
      if (parameter.required) refuse("is-required", parameter, null);
      return parameter.default ?? null;
    }
    return codecBps(shown, parameter, text) ? voiceBytes(shown, parameter, text, read) : typed(text, parameter);
  }

  // The rate of a codec by its name, where the voice of a packet is asked; else nothing.
  function codecBps(formula, parameter, text) {
    if (parameter.name !== "payload_bytes" || !formula.parameters.some((one) => one.name === "interval_s")) return undefined;
    const plain = text.toLowerCase().replace(/[^a-z0-9]/g, "");
    return netcalcData.codecs[plain] ?? netcalcData.codecs[plain.replace(/(?:[abu]|ab|alaw|ulaw)$/, "")];
  }

  const voiceBytes = (formula, parameter, text, readOne) => (codecBps(formula, parameter, text) * readOne(formula.parameters.find((one) => one.name === "interval_s"))) / 8;

  function typed(text, parameter) {
    if (parameter.kind !== "list") return numbers(text, parameter);
    const parts = text.split(text.includes(";") ? ";" : /,\s+|,(?=\D)/).map((one) => one.trim()).filter(Boolean);
    const unit = /^[+-]?[\d.]+\s*(\D.*)$/.exec(parts[parts.length - 1]);
    const values = parts.map((one) => numbers(unit && /^[+-]?[\d.]+$/.test(one) ? `${one} ${unit[1]}` : one, parameter));
    return values.length === 1 && parameter.one_for_all ? values[0] : values;
  }

  const place = ({ low, high, log }, value) => (log ? Math.log(value / low) / Math.log(high / low) : (value - low) / (high - low));
  function slid({ low, high, log, whole }, share) {
    const value = log ? low * Math.pow(high / low, share) : low + (high - low) * share;
    return whole ? Math.round(value) : Number(value.toPrecision(3));
  }

  function wordText(parameter, word) {
    return typeof word === "number" && parameter.unit !== "1" ? units.show(word, parameter.unit) : String(word);
  }

  function field(formula, parameter) {
    const id = `input-${parameter.name}`, hint = parameter.default_text ?? (parameter.required ? parameter.example : "not given");
    let input, slider = null;
    const described = { "aria-describedby": `${id}-about ${id}-error` };
    if (parameter.kind === "bool") {
      input = make("input", { id, type: "checkbox", checked: parameter.text ? parameter.text === "yes" : Boolean(parameter.default), attributes: described });
    } else if (parameter.kind === "word") {
      input = make("select", { id, attributes: described }, ...parameter.words.map((one) => make("option", { textContent: wordText(parameter, one) })));
      const first = parameter.words.map(String).indexOf(parameter.text);
      input.selectedIndex = Math.max(0, first >= 0 ? first : parameter.words.indexOf(parameter.default));
    } else {
      input = make("input", { id, type: "text", value: parameter.text, placeholder: hint ?? "", autocomplete: "off", spellcheck: false, attributes: described });
    }
    if (parameter.slider) {
      slider = make("input", { type: "range", min: 0, max: STEPS, step: 1, attributes: { "aria-label": `${parameter.label}, slider` } });
      slider.addEventListener("input", () => {
        input.value = units.show(slid(parameter.slider, slider.value / STEPS), parameter.unit, 6);
        slider.setAttribute("aria-valuetext", input.value);
        compute(); // browsers send at most one such event a frame
      });
    }
    const error = make("p", { id: `${id}-error`, className: "error", attributes: { role: "alert" } });
    const about = make("p", { id: `${id}-about`, className: "about", textContent: parameter.about + (parameter.default_text ? ` Default: ${parameter.default_text}.` : "") });
    input.addEventListener(parameter.kind === "bool" || parameter.kind === "word" ? "change" : "input", () => compute());
    fields.set(parameter.name, { input, slider, error });
    return make("div", { className: "field" }, make("label", { htmlFor: id, textContent: parameter.label }), input, slider ?? make("span"), about, error);
  }

  function open(name, focus, texts = {}) {
    shown = byName.get(name) ?? formulas[0];
    fields = new Map();
    const is_here = !shown.reason;
    at("title").textContent = shown.title;
    at("summary").textContent = shown.summary;
    const equation = at(`equation-${shown.name}`);
    at("equation").replaceChildren(...(equation ? [equation.content.cloneNode(true)] : []));
    at("inputs").replaceChildren(...(is_here ? shown.parameters.map((one) => field(shown, one)) : []));
    at("validity").textContent = shown.validity;
    at("source").textContent = shown.source;
    const over = shown.parameters.filter((one) => one.slider && is_here);
    at("over").replaceChildren(...over.map((one) => make("option", { value: one.name, textContent: one.label })));
    at("log-y").checked = false;
    at("curve-controls").hidden = at("figure").hidden = over.length === 0;
    if (location.hash !== `#${shown.name}`) history.replaceState(null, "", `#${shown.name}`);
    mark();
    if (is_here) {
      for (const [key, text] of Object.entries(texts)) put(fields.get(key), shown.parameters.find((one) => one.name === key), text);
      compute();
    } else {
      refused(`Not in this page: ${shown.reason}. The command computes it.`);
      at("command").textContent = shown.command;
    }
    if (focus) at("formula").focus();
  }

  function put({ input }, parameter, text) {
    if (parameter.kind !== "word") input.value = text;
    else input.selectedIndex = Math.max(0, parameter.words.findIndex((one) => [String(one), wordText(parameter, one)].includes(text)));
  }

  // Answers.
  function compute() {
    const values = [];
    let complete = true;
    for (const parameter of shown.parameters) {
      const { input, slider, error } = fields.get(parameter.name);
      let text = "", value = null;
      try {
        value = read(parameter);
        if (slider && typeof value === "number" && document.activeElement !== slider)
          slider.value = Math.round(STEPS * Math.min(1, Math.max(0, place(parameter.slider, value) || 0)));
        if (slider) slider.setAttribute("aria-valuetext", input.value || parameter.default_text || "not given");
      } catch (found) {
        if (found.name !== "Refusal" && found.name !== "UnitError") throw found;
        text = said(found.code, found.values, shown);
        complete = false;
      }
      say(parameter.name, text);
      values.push(value);
    }
    at("command").textContent = command();
    if (!complete) return refused("An input is missing or cannot be read.");
    const notes = [];
    let result;
    try {
      result = netcalcFormulas[shown.name](...values, notes);
    } catch (found) {
      if (found.name !== "Refusal") throw found;
      const text = found.code === "not-on-this-page" ? "This page has no list for this argument: the command computes it." : said(found.code, found.values, shown);
      if (fields.has(found.values.name)) say(found.values.name, text);
      return refused(text);
    }
    at("answer").className = "";
    at("answer").replaceChildren(answer(result));
    at("notes").replaceChildren(...notes.map((one) => make("p", { textContent: `Note: ${said(one.code, one.values, shown)}` })));
    draw(values, result);
  }

  function say(name, text) {
    const { input, error } = fields.get(name);
    if (error.textContent !== text) error.textContent = text;
    input.setAttribute("aria-invalid", text ? "true" : "false");
  }

  function refused(text) {
    at("answer").className = "refused";
    at("answer").textContent = text;
    at("notes").replaceChildren();
    at("curve").replaceChildren();
    at("caption").textContent = "";
  }

  function one(value, unit) {
    if (Array.isArray(value)) return value.map((item) => (Array.isArray(item) ? `(${one(item, unit)})` : one(item, unit))).join(", ");
    return typeof value === "number" ? units.show(value, unit) : typeof value === "boolean" ? (value ? "True" : "False") : String(value);
  }

  function answer(result) {
    if (result !== null && typeof result === "object" && !Array.isArray(result)) {
      const rows = Object.entries(result).map(([name, value]) =>
        make("tr", {}, make("th", { textContent: name.replace(/_/g, " "), attributes: { scope: "row" } }), make("td", { textContent: one(value, (shown.columns ?? {})[name] || unitOf(name)) })));
      return make("table", {}, make("tbody", {}, ...rows));
    }
    const layer = shown.layer ? ` (${shown.layer})` : "";
    let text = one(result, shown.unit || "1") + layer;
    if (typeof result === "number" && !isFinite(result)) text += ` ${rule(result)}`;
    return document.createTextNode(text);
  }

  // The rule by which an answer is inf or nan, from what the formula returns.
  function rule(value) {
    const said = shown.rules[value !== value ? "nan" : value > 0 ? "inf" : "-inf"];
    return said ? `: ${said}` : "";
  }

  function command() {
    const parts = shown.parameters.map((parameter) => {
      const { input } = fields.get(parameter.name);
      const text = parameter.kind === "bool" ? (input.checked ? "yes" : "no") : parameter.kind === "word" ? wordText(parameter, parameter.words[input.selectedIndex]) : input.value.trim();
      const usual = parameter.kind === "bool" ? (parameter.default ? "yes" : "no") : parameter.default === undefined ? "" : parameter.kind === "word" ? wordText(parameter, parameter.default) : String(parameter.default);
      if (!text || (!parameter.required && text === usual)) return "";
      const plain = text.replace(/;\s*/g, ",");
      return ` --${parameter.label.replace(/ /g, "-")} ${/[^\w.+,%/-]/.test(plain) ? `"${plain.replace(/["\\$`]/g, "")}"` : plain}`;
    });
    return `netcalc calc ${shown.command}${parts.join("")}`;
  }

  // The curve.
  function draw(values, result) {
    const over = at("over").value, place_ = shown.parameters.findIndex((one) => one.name === over);
    const svg = at("curve");
    svg.replaceChildren();
    at("caption").textContent = "";
    if (place_ < 0 || typeof result !== "number") {
      if (place_ >= 0) at("caption").textContent = "A curve is drawn where the answer is one number.";
      return;
    }
    const parameter = shown.parameters[place_], here = values[place_];
    let { low, high, log, whole } = parameter.slider;
    if (typeof here === "number" && isFinite(here) && (here > high || (here < low && here > (log ? 0 : -Infinity)))) [low, high] = [Math.min(low, here), Math.max(high, here)];
    const xs = [], ys = [];
    for (let i = 0; i < POINTS; i++) {
      let x = log ? low * Math.pow(high / low, i / (POINTS - 1)) : low + ((high - low) * i) / (POINTS - 1);
      if (whole) x = Math.round(x);
      if (xs.length && x === xs[xs.length - 1]) continue;
      let y = NaN;
      try {
        y = netcalcFormulas[shown.name](...values.slice(0, place_), x, ...values.slice(place_ + 1));
      } catch (found) {
        if (found.name !== "Refusal") throw found;
      }
      xs.push(x);
      ys.push(Number(y));
    }
    const finite = ys.filter(isFinite);
    if (!finite.length) {
      at("caption").textContent = "No number along this axis.";
      return;
    }
    const logY = at("log-y").checked && finite.some((y) => y > 0);
    const known = logY ? finite.filter((y) => y > 0) : finite;
    let bottom = Math.min(...known), top = Math.max(...known);
    if (!logY && bottom > 0 && bottom < 0.6 * top) bottom = 0;
    if (bottom === top) [bottom, top] = logY ? [bottom / 2, top * 2] : [bottom - (Math.abs(bottom) || 1) / 2, top + (Math.abs(top) || 1) / 2];
    const box = { left: 92, right: 604, top: 14, bottom: 306 };
    const across = (x) => box.left + (box.right - box.left) * (log ? Math.log(x / low) / Math.log(high / low) : (x - low) / (high - low));
    const up = (y) => box.bottom - (box.bottom - box.top) * (logY ? Math.log(y / bottom) / Math.log(top / bottom) : (y - bottom) / (top - bottom));
    for (const x of ticks(low, high, log, 6)) {
      element("line", { class: "grid", x1: across(x), x2: across(x), y1: box.top, y2: box.bottom });
      element("text", { x: across(x), y: box.bottom + 20, "text-anchor": "middle" }, units.show(x, parameter.unit));
    }
    for (const y of ticks(bottom, top, logY, 5)) {
      element("line", { class: "grid", x1: box.left, x2: box.right, y1: up(y), y2: up(y) });
      element("text", { x: box.left - 7, y: up(y) + 4, "text-anchor": "end" }, units.show(y, shown.unit));
    }
    element("path", { class: "axis", d: `M${box.left} ${box.top}V${box.bottom}H${box.right}` });
    element("text", { x: (box.left + box.right) / 2, y: 348, "text-anchor": "middle" }, parameter.label);
    let path = "", pen = "M";
    xs.forEach((x, i) => {
      if (!isFinite(ys[i]) || (logY && ys[i] <= 0)) pen = "M";
      else {
        path += `${pen}${across(x).toFixed(1)} ${up(ys[i]).toFixed(1)}`;
        pen = "L";
      }
    });
    element("path", { class: "line", d: path });
    const inside = typeof here === "number" && here >= low && here <= high && isFinite(result) && (!logY || result > 0);
    if (inside && up(result) >= box.top - 1 && up(result) <= box.bottom + 1) element("circle", { class: "here", cx: across(here), cy: up(result), r: 5.5 });
    at("caption").textContent = `${shown.title.split(/, | \(/)[0]} over ${parameter.label}, from ${units.show(low, parameter.unit)} to ${units.show(high, parameter.unit)}: ${units.show(Math.min(...finite), shown.unit)} to ${units.show(Math.max(...finite), shown.unit)}${inside ? "; the mark is your input" : ""}.`;

    function element(tag, attributes, text) {
      const found = document.createElementNS("http://www.w3.org/2000/svg", tag);
      for (const [name, value] of Object.entries(attributes)) found.setAttribute(name, value);
      if (text !== undefined) found.textContent = text;
      svg.append(found);
    }
  }

  function ticks(low, high, log, count) {
    if (log) {
      const first = Math.ceil(Math.log10(low) - 1e-9), last = Math.floor(Math.log10(high) + 1e-9), step = Math.max(1, Math.ceil((last - first + 1) / count));
      const found = [];
      for (let power = first; power <= last; power += step) found.push(Math.pow(10, power));
      return found.length > 1 ? found : [low, high];
    }
    const raw = (high - low) / count, size = Math.pow(10, Math.floor(Math.log10(raw)));
    const step = [1, 2, 5, 10].map((one) => one * size).find((one) => one >= raw) ?? raw;
    const found = [];
    for (let i = Math.ceil(low / step - 1e-9); i * step <= high + step * 1e-9; i++) found.push(Number((i * step).toPrecision(12)));
    return found;
  }

  at("search").addEventListener("input", list);
  at("search").addEventListener("keydown", (event) => {
    if (event.key === "Enter" && at("found").querySelector("button")) at("found").querySelector("button").click();
    if (event.key === "ArrowDown" && at("found").querySelector("button")) {
      event.preventDefault();
      at("found").querySelector("button").focus();
    }
  });
  at("found").addEventListener("keydown", (event) => {
    const items = [...at("found").querySelectorAll("button")], here = items.indexOf(document.activeElement);
    const next = { ArrowDown: here + 1, ArrowUp: here - 1 }[event.key];
    if (here < 0 || next === undefined) return;
    event.preventDefault();
    (items[next] ?? (next < 0 ? at("search") : items[here])).focus();
  });
  at("inputs").addEventListener("submit", (event) => event.preventDefault());
  at("over").addEventListener("change", () => compute());
  at("log-y").addEventListener("change", () => compute());
  at("copy").addEventListener("click", () => {
    const range = document.createRange();
    range.selectNodeContents(at("command"));
    getSelection().removeAllRanges();
    getSelection().addRange(range);
    document.execCommand("copy");
  });
  addEventListener("hashchange", () => {
    const name = location.hash.slice(1); // that of a formula, or a place on this page
    if (byName.has(name) && name !== shown.name) open(name);
  });
  window.netcalcPage = { open, search, compute, ask };
  list();
  open(byName.has(location.hash.slice(1)) ? location.hash.slice(1) : "latency.transfer_s");
})();
