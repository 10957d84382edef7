// Exercises in a page: an answer is read and judged as netcalc.exercises does it. The numbers are
// drawn beforehand, and lie in the page with right and wrong values.
(() => {
  "use strict";

  const SUPERSCRIPTS = "⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺";
  const DASHES = { "−": "-", "‐": "-", "‑": "-", "–": "-", "٫": ".", "٬": "'", "٪": "%", "⁄": "/", "∕": "/" };
  const BEFORE = /^(?:(?:[A-Za-z]{1,3}\s*)?[=≈~:]\s*|(?:about|approximately|approx\.?|ca\.?|circa|roughly)\s+)/i;
  const SCIENTIFIC = /(\d)\s*(?:[x*×·⋅]|\\times|\\cdot)\s*10\s*(?:\^|\*\*)\s*[({]?([+-]?\d+)[)}]?/g;
  const POWER = /(?<![\d.,])10\s*(?:\^|\*\*)\s*[({]?([+-]?\d+)[)}]?/g;
  const SPACED = /(?<![\d.,])\d{1,3}(?: \d{3})+(?!\d)/g;
  const NUMBER = /^[+-]?[\d.,'’]*\d[\d.,]*(?:[eE][+-]?\d+)?/;
  const PER_SECOND = ["packet/s", "call/s", "bit/s", "Hz"];
  const TRIES = 3;

  const fault = (kind, detail = "") => ({ value: NaN, digits: 0, half: 0, fault: kind, detail });

  function cleaned(answer, longest) {
    if ([...answer].length > longest) return null;
    let text = answer.trim().replace(/[⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺]+/g, (found) =>
      "^" + [...found].map((c) => "0123456789-+"[SUPERSCRIPTS.indexOf(c)]).join(""));
    text = text.normalize("NFKC").replace(/[−‐‑–٫٬٪⁄∕]/g, (c) => DASHES[c]);
    text = text.replace(/\p{Cf}/gu, "");
    if (/[\p{Cc}\p{Cs}\p{Co}\p{Cn}]/u.test(text.replace(/\t/g, " "))) return null;
    text = text.split(/\s+/).filter(Boolean).join(" ").replace(/[.;!, ]+$/, "").replaceAll("$", "");
    text = text.replace(BEFORE, "");
    text = text.replace(/\p{Nd}/gu, (c) => (c <= "9" ? c : String(digitOf(c))));
    text = text.replace(SCIENTIFIC, "$1e$2").replace(POWER, "1e$1");
    text = text.replace(/(?<=\d)_(?=\d{3})/g, "");
    return text.replace(SPACED, (found) => found.replaceAll(" ", "")).trim();
  }

  function digitOf(letter) { // the digits of a script follow one another from its zero
    let zero = letter.codePointAt(0);
    while (/\p{Nd}/u.test(String.fromCodePoint(zero - 1)) && letter.codePointAt(0) - zero < 9) zero -= 1;
    return letter.codePointAt(0) - zero;
  }

  // Significant digits as typed, and the size of the last one.
  function precision(written, reader) {
    const [mantissa, exponent] = written.toLowerCase().split("e");
    const value = plainOf(mantissa, reader);
    const whole = value !== null && Number.isInteger(value) && !/[.,]\d{1,2}$/.test(mantissa);
    const digits = mantissa.replace(/\D/g, "").replace(/^0+/, "");
    let significant = digits;
    let last = 1;
    if (whole) {
      significant = digits.replace(/0+$/, "");
      last = 10 ** (digits.length - significant.length);
    } else {
      const mark = Math.max(mantissa.lastIndexOf("."), mantissa.lastIndexOf(","));
      if (mark >= 0) last = 10 ** -(mantissa.length - mark - 1);
    }
    let power = 10 ** Number(exponent ?? 0);
    if (!Number.isFinite(power)) power = 1;
    return [Math.max(significant.length, 1), last * power];
  }

  // A number without a unit; null where it is none.
  function plainOf(text, reader) {
    try {
      return reader.parse(text, "1");
    } catch (error) {
      return null;
    }
  }

  const codeOf = (work) => {
    try {
      work();
      return "";
    } catch (error) {
      if (!error.code) throw error;
      return error.code;
    }
  };

  // Units that a written unit may belong to, with one reading or several.
  const kindsOf = (written, { units, reader }) => Object.keys(units.units).filter((unit) =>
    unit !== "1" && !/\d/.test(written) && ["", "ambiguous-unit"].includes(codeOf(() => reader.parseTyped(`3 ${written}`, unit))));

  const isKnown = (written, { units }) => written === "" || Object.values(units.units).some((one) =>
    Object.hasOwn(one.written, written) || Object.hasOwn(one.ambiguous, written));

  function read(answer, unit, data) {
    const { reader, rules } = data;
    let text = cleaned(answer, rules.longest);
    if (text === null) return fault("unreadable", "text");
    if (!text) return fault("unreadable", "empty");
    const found = text.match(NUMBER);
    if (!found) return fault("unreadable", "number");
    const number = found[0];
    let written = text.slice(number.length).trim();
    const counted = rules.counted.includes(written.toLowerCase());
    if (unit === "1" && counted) [text, written] = [number, ""];
    let value;
    try {
      value = reader.parseTyped(text, unit);
    } catch (error) {
      return faultOf(error, number, written, unit, counted, data);
    }
    if (!Number.isFinite(value)) return fault("unreadable", "large");
    const [digits, last] = precision(number, reader);
    const plain = Math.abs(plainOf(number, reader) ?? 0);
    return { value, digits, half: (last / 2) * (plain ? Math.abs(value) / plain : 0), fault: "", detail: "" };
  }

  function faultOf(error, number, written, unit, counted, data) {
    if (error.code === "unit-missing") return fault("unit missing");
    if (error.code === "ambiguous-number" && isKnown(written, data)) {
      const both = [number.replaceAll(",", ""), number.replaceAll(",", ".")];
      return fault("asked back", both.map((one) => `${one} ${written}`.trim()).join(" or "));
    }
    if (error.code === "ambiguous-unit") return fault("asked back", error.values.readings.join(" or "));
    if (error.code === "unit-of-other-kind") return fault("unit wrong");
    if (error.code === "unit-unknown") {
      if (PER_SECOND.includes(unit) && (isKnown(written, data) || counted)) return fault("unit wrong");
      return counted || kindsOf(written, data).length ? fault("unit wrong") : fault("unreadable", "unit");
    }
    if (error.code === "number-too-large") return fault("unreadable", "large");
    if (!error.code) throw error;
    return fault("unreadable", "number");
  }

  function judge(exercise, sheet, answer, data) {
    const { rules } = data;
    const reading = read(answer, exercise.unit, data);
    const verdict = (kind, more = {}) => ({
      kind, names: [], sentence: "", question: "", next_step: "", ...more,
      counts: kind !== "asked back" && kind !== "unreadable", right: kind === "right",
    });
    if (reading.fault) {
      const write = `Write ${exercise.example}.`;
      if (reading.fault === "asked back")
        return verdict("asked back", {
          sentence: `The answer can be read in two ways: ${reading.detail}.`,
          question: "Which one is meant?",
        });
      if (reading.fault === "unreadable")
        return verdict("unreadable", {
          sentence: rules.sentences[`unreadable ${reading.detail}`], next_step: write });
      return verdict(reading.fault, {
        sentence: rules.sentences[reading.fault].replace("{kind}", exercise.example.split(" such as ")[0]),
        question: rules.questions[reading.fault],
        next_step: write,
      });
    }
    const matches = (wanted, steps) => {
      const difference = Math.abs(reading.value - wanted);
      const rounding = wanted
        ? reading.half * (1 + 1e-6) + (steps ? steps * Math.abs(wanted) : 0) : 0;
      const within = Math.max(exercise.tolerance, rules.exact) * Math.abs(wanted);
      const allowed = steps === Infinity && wanted ? within : Math.min(within, rounding);
      if (difference <= allowed * (1 + rules.exact)) return true;
      const fraction = exercise.tolerance === 0 && !Number.isInteger(wanted);
      return fraction && reading.digits >= 3 && difference <= reading.half * (1 + 1e-6);
    };
    if (matches(sheet.right, Infinity)) return verdict("right");
    const found = exercise.names.map((_, i) => i)
      .filter((i) => matches(sheet.wrong[i], rules.step_tolerance));
    if (found.length)
      return verdict(found.length === 1 ? "named" : "several", {
        names: found.map((i) => exercise.names[i]),
        sentence: found.map((i) => sheet.sentences[i]).join(" "),
        question: sheet.asks[found[0]],
        next_step: rules.next,
      });
    const slip = slipOf(exercise, reading, sheet.right, rules);
    let kind = "not named";
    if (slip === "tens") kind = "power of ten";
    else if ((slip === "bits" || slip === "binary") && rules.data.includes(exercise.unit)) kind = "unit wrong";
    return verdict(kind, {
      sentence: rules.sentences[slip],
      question: rules.questions[slip],
      next_step: slip === "digits" ? `Give ${exercise.digits} significant digits.` : rules.next,
    });
  }

  function slipOf(exercise, reading, right, rules) {
    const { value } = reading;
    if (value === 0 || right === 0 || value < 0 !== right < 0) return "not named";
    let tolerance = (reading.half / Math.abs(value)) * (1 + 1e-6) + rules.slip_tolerance;
    tolerance = Math.max(Math.min(exercise.tolerance, tolerance), rules.exact);
    const ratio = value / right;
    if (ratio === 0 || !Number.isFinite(ratio)) return "not named";
    const tens = Math.round(Math.log10(ratio));
    if (tens && Math.abs(tens) <= rules.most_tens && Math.abs(ratio / 10 ** tens - 1) <= tolerance)
      return "tens";
    if (reading.digits > 0 && reading.digits < exercise.digits
      && Math.abs(value - right) <= reading.half * (1 + 1e-6)) return "digits";
    for (const [slip, factors] of [["bits", [8]], ["binary", rules.binary], ["two", [2]]])
      for (const factor of factors) {
        const near = Math.min(Math.abs(ratio / factor - 1), Math.abs(ratio * factor - 1));
        if (near <= Math.min(tolerance, (factor - 1) / 4)) return slip;
      }
    if (Math.abs(value * right - 1) <= tolerance && Math.abs(ratio - 1) > tolerance) return "reciprocal";
    return "not named";
  }

  // What is said after so many tries: first the question, then the name of the mistake.
  function feedback(verdict, tries) {
    if (verdict.right) return ["Right."];
    const joined = (...parts) => parts.filter(Boolean).join(" ");
    if (!verdict.counts)
      return [joined(verdict.sentence, verdict.question, verdict.next_step), "This does not count as a try."];
    const said = [];
    if (tries <= 1) {
      const hint = verdict.names.length ? "" : verdict.next_step;
      said.push(joined("Not yet.", verdict.question || verdict.sentence, hint));
    } else {
      const name = verdict.names.join(" or ");
      said.push(joined("Not yet.", name
        ? `${name[0].toUpperCase()}${name.slice(1)}: ${verdict.sentence}` : verdict.sentence));
      if (tries < TRIES) said.push(...[verdict.question, verdict.next_step].filter(Boolean));
    }
    const left = TRIES - tries;
    if (left > 0)
      said.push(`${left === 1 ? "One more try" : "Two more tries"}, then the solution is shown.`);
    return said;
  }

  class Exercise {
    constructor(element, data) {
      this.element = element;
      this.data = data;
      this.name = element.dataset.exercise;
      this.exercise = data.exercises[this.name];
      this.field = element.querySelector("input");
      const part = (name) => element.querySelector(`.${name}`);
      [this.question, this.said, this.solution] = ["question", "said", "solution"].map(part);
      this.number = 0;
      this.best = { tries: 0, solved: false };
      element.querySelector("form").addEventListener("submit", (event) => {
        event.preventDefault();
        this.check();
      });
      part("renew").addEventListener("click", () => this.ask(this.number + 1));
      for (const one of element.querySelectorAll("input, button")) one.disabled = false;
      this.ask(0);
    }

    get sheet() {
      return this.exercise.sheets[this.number % this.exercise.sheets.length];
    }

    ask(number) {
      this.number = number;
      this.tries = 0;
      this.open = false;
      this.question.textContent = this.sheet.text;
      this.field.value = "";
      this.say([]);
      this.solution.replaceChildren();
    }

    check() {
      const verdict = judge(this.exercise, this.sheet, this.field.value, this.data);
      if (verdict.counts && !verdict.right) this.tries += 1;
      if (verdict.counts) this.best.tries += 1;
      if (verdict.right && !this.open) this.best.solved = true;
      this.say(feedback(verdict, this.tries));
      this.field.setAttribute("aria-invalid", String(!verdict.right));
      if (this.tries >= TRIES && !verdict.right && verdict.counts) this.solve();
      marks();
    }

    say(parts) {
      this.said.replaceChildren(...parts.map((text) => paragraph(text)));
    }

    solve() {
      this.open = true;
      const head = paragraph("Worked solution");
      head.className = "note";
      const equations = document.createElement("div");
      equations.innerHTML = this.sheet.solution.join("");
      this.solution.replaceChildren(head, equations, paragraph(`Answer: ${this.sheet.result}.`));
    }
  }

  const paragraph = (text) => Object.assign(document.createElement("p"), { textContent: text });
  const shown = [];

  function marks() {
    const lines = shown.map(({ name, best }) =>
      `${name}: ${best.solved ? "right" : "not right"}, ${best.tries} ${best.tries === 1 ? "answer" : "answers"}`);
    const field = document.querySelector(".marks textarea");
    field.value = [document.title, ...lines].join("\n");
    field.rows = lines.length + 1;
  }

  async function copy() {
    const field = document.querySelector(".marks textarea");
    const said = document.querySelector(".marks .note");
    field.select();
    let done = false;
    try {
      done = document.execCommand("copy"); // works on a page from a disk, too
    } catch (error) {
      done = false;
    }
    said.textContent = done ? "Copied." : "Copy the marked text with Ctrl-C.";
  }

  async function start() {
    const block = document.getElementById("exercises");
    if (!block) return;
    const { header } = await netcalcPage.unpacked(block.textContent.trim());
    header.reader = netcalcUnits(header.units);
    netcalcPage.judge = (name, sheet, answer) =>
      judge(header.exercises[name], header.exercises[name].sheets[sheet - 1], answer, header);
    for (const element of document.querySelectorAll(".exercise"))
      shown.push(new Exercise(element, header));
    document.querySelector(".marks button").addEventListener("click", copy);
    document.querySelector(".marks button").disabled = false;
    marks();
  }

  document.addEventListener("DOMContentLoaded", start);
})();
