"use strict";
// Text to SI numbers and back, as netcalc.units and netcalc.display do it, with their tables.
function netcalcUnits(tables) {
  class UnitError extends Error {
    constructor(code, values) {
      super(code);
      this.name = "UnitError";
      this.code = code;
      this.values = values;
    }
  }

  const SPACES = "\u00a0\u202f\u2009'\u2019";
  const NUMBER = `[+-]?[\\d.,${SPACES}]*\\d[\\d.,]*(?:[eE][+-]?\\d+)?`;
  const QUANTITY = new RegExp(`^\\s*(${NUMBER})\\s*([^]*?)\\s*$`);
  const COMPOUND = /^(?:\d+(?:\.\d+)?\s*(?:d|h|min|sec|s)\s*){2,}$/;
  const GROUPED = /^[+-]?\d{1,3}([^\deE+-])\d{3}(?:\1\d{3})*$/;
  const ZERO = /^[+-]?0+(?:[.,]0+)?$/;
  const POWER = /^(?:([\d.]+)\s*[x*×·]\s*)?10\s*(?:\^|\*\*)\s*([+-]?\d+)$/;
  const ODDS = /^([\d.]+)\s*(?:\/|:|in)\s*(\d[\d,.]*)$/;
  const ETHERNET = /^(\d+(?:[.,]\d+)?)?\s*(?:(g(?:ig(?:abit)?)?)\s*(?:be|e|base-?\w*|\s*ethernet)?|(t)(?:be)?|(base-?\w+|m(?:be)?))$/i;
  const ETHERNET_M = ["10", "100", "1000"];
  const ETHERNET_NAMES = {
    ethernet: 10e6, fe: 100e6, "fast ethernet": 100e6, ge: 1e9, gbe: 1e9, gige: 1e9,
    "gigabit ethernet": 1e9, gigabit: 1e9,
  };
  const PREFIX_WORDS = { kilo: "k", mega: "M", giga: "G", tera: "T", kibi: "Ki", mebi: "Mi", gibi: "Gi" };
  const BITS = /^(?:([kmgtKMGT]?)(?:b|[bB][iI][tT][sS]?)(?:ps|PS|\/[sS](?:ec(?:ond)?)?)|([kmgtKMGT])(?:[bB][iI][tT][sS]?)|([kMGT])b)$/;
  const OCTETS = /^([mgtMGT])(?:B|[bB][yY][tT][eE][sS]?)$/;
  const OCTET_RATE = /^([kmgtKMGT]?)(?:B|[bB]ytes?)(?:ps|\/s(?:ec(?:ond)?)?)$/;
  const PER = /^([a-z]*?)\s*(?:\/|per )\s*(s|sec|second|min|minute|h|hr|hour)$/;
  const PER_LONG = /^(\w+)\s*(?:\/|per )\s*(min|h|hour|d|day|week|month|year)$/;
  const PER_S = { s: 1, m: 60, h: 3600 };
  const SI = { "": 1, k: 1e3, K: 1e3, M: 1e6, G: 1e9, T: 1e12, P: 1e15 };
  const MOST_OF_1 = 2;

  const has = (table, name) => Object.prototype.hasOwnProperty.call(table, name);
  const get = (table, name) => (has(table, name) ? table[name] : undefined);
  const prefix = (letter) => SI[letter === "" || letter === "k" ? letter : letter.toUpperCase()];
  const asFloat = (text) => (/^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i.test(text) ? Number(text) : NaN);

  function ascii(text) {
    const signs = { "٫": ".", "٬": "'", "−": "-" };
    return Array.from(text, (one) => {
      if (signs[one] || one.charCodeAt(0) < 128 || !/\p{Nd}/u.test(one)) return signs[one] ?? one;
      let zero = one.codePointAt(0); // digits stand in tens
      while (/\p{Nd}/u.test(String.fromCodePoint(zero - 1)) && one.codePointAt(0) - zero < 9) zero -= 1;
      return String(one.codePointAt(0) - zero);
    }).join("");
  }

  function refused(code, text, unit, values) {
    const [name] = tables.units[unit].example.split(" such as ");
    const expected = unit === "1" ? name : `${name} [${unit}]`;
    return new UnitError(code, { text, shown: `'${text}'`, expected, ...values });
  }

  const sample = (unit) => tables.units[unit].example.split(" such as ")[1];

  function number(written, text, unit) {
    const [first, exponent] = written.replace("E", "e").split("e");
    let mantissa = first;
    const points = mantissa.split(".").length - 1, commas = mantissa.split(",").length - 1;
    const spaced = Array.from(SPACES).find((one) => mantissa.includes(one));
    const malformed = () => refused("malformed-number", text, unit, { number: written });
    if (spaced !== undefined) {
      const whole = mantissa.split(/[.,]/)[0];
      if (!GROUPED.test(whole)) throw malformed();
      mantissa = mantissa.replace(whole, whole.split(spaced).join(""));
    }
    if (points && commas) {
      const last = Math.max(mantissa.lastIndexOf("."), mantissa.lastIndexOf(","));
      const decimal = mantissa[last], group = decimal === "." ? "," : ".", head = mantissa.slice(0, last);
      if (mantissa.split(decimal).length > 2 || !GROUPED.test(head)) throw malformed();
      mantissa = `${head.split(group).join("")}.${mantissa.slice(last + 1)}`;
    } else if (commas > 1 || points > 1) {
      if (!GROUPED.test(mantissa)) throw malformed();
      mantissa = mantissa.split(",").join("").split(".").join("");
    } else if (commas === 1) {
      const [head, tail] = mantissa.split(","), bare = head.replace(/^[+-]+/, "");
      if (tail.length === 3 && bare !== "" && bare !== "0" && bare.length <= 3) {
        const readings = [`${head}${tail}`, `${head}.${tail}`].map((read) => text.trim().split(mantissa).join(read));
        throw refused("ambiguous-number", text, unit, { readings });
      }
      mantissa = `${head}.${tail}`;
    }
    const value = asFloat(exponent === undefined ? mantissa : `${mantissa}e${exponent}`);
    if (value !== value) throw malformed();
    return value;
  }

  function namedLine(text) {
    const words = text.split(/\s+/).filter(Boolean);
    if (!words.length || words.length > 2 || /^\d/.test(words[0])) return undefined;
    const which = words.length === 2 ? words[1].toLowerCase() : "exact";
    if (!["exact", "nominal", "payload"].includes(which)) return undefined;
    const key = words[0].toUpperCase().replace(/^(DS|T|E)-(\d)$/, "$1$2").replace(/^(OC|STM|STS)-?(\d+)C?$/, "$1-$2");
    const line = get(tables.lines, key);
    return line && line[which];
  }

  // One quantity as a number in a unit: what netcalc.units.parse reads.
  function parse(text, unit) {
    const plain = ascii(text), table = tables.units[unit].written;
    if (unit === "bit/s") {
      const named = namedLine(plain);
      if (named !== undefined) return named;
    }
    if (unit === "s" && COMPOUND.test(plain.trim())) {
      let total = 0;
      for (const [, amount, name] of plain.matchAll(/(\d+(?:\.\d+)?)\s*([a-z]+)/g)) total += Number(amount) * table[name];
      return total;
    }
    const match = QUANTITY.exec(plain);
    if (!match) throw refused(plain.trim() ? "no-number" : "text-empty", text, unit, { example: sample(unit) });
    const value = number(match[1], text, unit), factor = get(table, match[2]);
    if (factor === undefined) throw unknown(text, match[1], match[2], unit);
    if (!isFinite(value * factor)) throw refused("number-too-large", text, unit, {});
    return value * factor;
  }

  function unknown(text, amount, written, unit) {
    const readings = get(tables.units[unit].ambiguous, written);
    if (readings) return refused("ambiguous-unit", text, unit, { readings: readings.map((one) => `${amount} ${one}`) });
    if (written === "") return refused("unit-missing", text, unit, { readings: withUnits(amount, unit) });
    const other = Object.keys(tables.units).find((one) => has(tables.units[one].written, written));
    if (other !== undefined) {
      const [kind] = tables.units[other].example.split(" such as ");
      return refused("unit-of-other-kind", text, unit, { written, kind, example: sample(unit) });
    }
    return refused("unit-unknown", text, unit, { written, example: sample(unit) });
  }

  function withUnits(amount, unit) {
    const value = asFloat(amount);
    const shares = value >= 1 && value < MOST_OF_1
      ? [`${amount}%`, `${general(value * 100, 12)}%`]
      : [`${amount}%`, value > 1 ? `${general(value / 100, 12)} ratio` : `${amount} ratio`];
    const pairs = {
      "bit/s": [`${amount} bit/s`, `${amount} Mbit/s`], byte: [`${amount} B (bytes)`, `${amount} bit (bits)`],
      bit: [`${amount} bit (bits)`, `${amount} B (bytes)`], s: [`${amount} s`, `${amount} ms`], ratio: shares,
      "packet/s": [`${amount} pps`, `${amount} kpps`], m: [`${amount} m`, `${amount} km`],
    };
    return pairs[unit] ?? [sample(unit)];
  }

  // What was typed for a known argument: what netcalc.units.parse_typed reads.
  function parseTyped(text, unit, bare = false) {
    const plain = ascii(text).trim();
    if (ZERO.test(plain)) return 0;
    try {
      return parse(text, unit);
    } catch (error) {
      if (!(error instanceof UnitError)) throw error;
      const value = typed(plain, unit, bare);
      if (value === undefined || !isFinite(value)) throw error;
      return value;
    }
  }

  function typed(text, unit, bare) {
    let found;
    if ((unit === "ratio" || unit === "1") && (found = POWER.exec(text))) return asFloat(`${found[1] ?? 1}e${found[2]}`);
    if (unit === "ratio" && (found = ODDS.exec(text))) {
      const of = asFloat(found[2].split(",").join(""));
      return of ? asFloat(found[1]) / of : undefined;
    }
    if (unit === "bit/s" && (found = ethernet(text)) !== undefined) return found;
    found = QUANTITY.exec(text.replace(/(\d)-(?=[A-Za-z])/g, "$1 "));
    if (!found) return undefined;
    let value;
    try {
      value = number(found[1], text, unit);
    } catch (error) {
      return undefined;
    }
    if (found[2] === "") return (unit === "ratio" && value > 0 && value < 1) || (bare && Number.isInteger(value)) ? value : undefined;
    const factor = typedFactor(found[2], unit);
    return factor === undefined ? undefined : value * factor;
  }

  function typedFactor(written, unit) {
    let found;
    const table = tables.units[unit].written;
    const spoken = written
      .replace(/^(kilo|mega|giga|tera|kibi|mebi|gibi)(?=bit|byte)/i, (one) => PREFIX_WORDS[one.toLowerCase()])
      .replace(/\s*(?:\/|\bper)\s*sec(?:ond)?s?$/, "/s");
    if (has(table, spoken)) return table[spoken];
    if (unit === "bit/s") {
      if ((found = PER_LONG.exec(spoken))) {
        const octets = get(tables.units.byte.written, found[1]);
        return octets === undefined ? undefined : (8 * octets) / tables.units.s.written[found[2]];
      }
      if ((found = BITS.exec(spoken))) return prefix(found[1] || found[2] || found[3] || "");
      if ((found = OCTET_RATE.exec(spoken))) return 8 * prefix(found[1]);
    }
    if ((unit === "byte" || unit === "bit") && (found = OCTETS.exec(spoken))) return prefix(found[1]) * (unit === "bit" ? 8 : 1);
    const low = written.toLowerCase();
    if (unit === "packet/s") {
      const isRate = has(tables.units["bit/s"].ambiguous, written) || typedFactor(written, "bit/s") !== undefined;
      if (!isRate && (found = PER.exec(low))) return 1 / PER_S[found[2][0]];
      return get(table, low === "mpps" ? "Mpps" : low);
    }
    if (unit === "call/s" && (found = PER.exec(low))) return ["", "call", "calls"].includes(found[1]) ? 1 / PER_S[found[2][0]] : undefined;
    if (unit === "m" && /^kilomet(?:er|re)s?$/.test(low)) return 1e3;
    if (["s", "m", "ratio"].includes(unit) && written.length > 1 && !has(tables.units[unit].ambiguous, written)) return get(table, low.replace(/\.$/, ""));
    return unit === "1" ? get(tables.prefixes, written) : undefined;
  }

  function ethernet(text) {
    const name = get(ETHERNET_NAMES, text.toLowerCase());
    if (name !== undefined) return name;
    const found = ETHERNET.exec(text);
    if (!found || found[1] === undefined) return undefined;
    if (found[4] && /^m/i.test(found[4]) && !ETHERNET_M.includes(found[1])) return undefined;
    return Number(found[1].replace(",", ".")) * (found[3] ? 1e12 : found[2] ? 1e9 : 1e6);
  }

  // A number with so many digits, as the g of Python writes it: of two as near, the even one.
  function general(value, digits) {
    if (value !== value) return "nan";
    if (!isFinite(value)) return value > 0 ? "inf" : "-inf";
    if (value === 0) return Object.is(value, -0) ? "-0" : "0";
    let [mantissa, power] = value.toExponential(digits - 1).split("e");
    const exact = Math.abs(value).toPrecision(60).replace(/e.*/, "").replace(".", "").replace(/^0+/, "");
    if (exact[digits] === "5" && /^0*$/.test(exact.slice(digits + 1)) && "02468".includes(exact[digits - 1])) {
      const down = exact.slice(0, digits); // JavaScript rounds it up
      mantissa = (value < 0 ? "-" : "") + down[0] + (digits > 1 ? `.${down.slice(1)}` : "");
      power = Math.abs(value).toExponential(59).split("e")[1];
    }
    const at = Number(power), sign = mantissa.startsWith("-") ? "-" : "";
    const all = mantissa.replace("-", "").replace(".", "");
    const strip = (text) => (text.includes(".") ? text.replace(/\.?0*$/, "") : text);
    if (at < -4 || at >= digits)
      return `${sign}${strip(`${all[0]}.${all.slice(1)}`)}e${at < 0 ? "-" : "+"}${String(Math.abs(at)).padStart(2, "0")}`;
    if (at < 0) return sign + strip(`0.${"0".repeat(-at - 1)}${all}`);
    return sign + strip(`${all.slice(0, at + 1)}.${all.slice(at + 1)}`);
  }

  function plain(value, digits) {
    const written = general(value, digits);
    if (written.includes("e") && Math.abs(value) >= 1 && Math.abs(value) < 1e15) return Number(written).toFixed(0);
    return written;
  }

  // A number as people read it: what netcalc.units.show writes.
  function show(value, unit, digits = 4) {
    if (unit === "1") return general(value, digits);
    if (value !== value) return "not defined";
    if (unit === "ratio") {
      if (value !== 0 && Math.abs(value) < 1e-5)
        return Math.abs(value) >= 1e-9 ? `${plain(value * 1e6, digits)} ppm` : `${general(value, digits)} ratio`;
      if (value > 0.999 && value < 1 && digits >= 4)
        digits = Math.max(digits, Math.min(17, Math.ceil(-Math.log10(1 - value)) + 1));
      return `${plain(value * 100, digits)}%`;
    }
    let steps = get(tables.steps, unit);
    if (!steps) return `${general(value, digits)} ${unit}`;
    if (unit === "s" && digits > 12) steps = steps.slice(2);
    if (value === 0 || !isFinite(value)) return `${general(value, 6)} ${steps.find((step) => step[1] === 1)[2]}`;
    if (unit === "byte") {
      const found = binary(value, digits);
      if (found) return found;
    }
    const rounded = Math.abs(Number(general(value, digits)));
    const [, factor, name] = steps.find((step) => rounded >= step[0]) ?? steps[steps.length - 1];
    return `${plain(value / factor, digits)} ${name}`;
  }

  function binary(value, digits) {
    if (Math.abs(value) < 1e4 || Number(general(value, digits)) === value) return "";
    const whole = Object.entries(tables.binary).filter(([, factor]) => value % factor === 0);
    if (!whole.length) return "";
    const [name, factor] = whole[whole.length - 1];
    return Math.abs(value / factor) >= 1e4 ? "" : `${(value / factor).toFixed(0)} ${name}B`;
  }

  // The units that a typed unit may belong to, with one reading or several.
  function kindsOf(written) {
    return Object.keys(tables.units).filter((unit) => unit !== "1" && written !== "" && (has(tables.units[unit].ambiguous, written) || typedFactor(written, unit) !== undefined));
  }

  const written = (unit) => tables.units[unit].written, noun = (unit) => tables.units[unit].example.split(" such as ")[0];

  // The refusal of a conversion between units of two kinds.
  const notComparable = (from, to, fromKind, toKind) => new UnitError("units-incomparable", { shown: `'${from}'`, kind: noun(fromKind), to_unit: to, to_kind: noun(toKind) });

  return { UnitError, notComparable, parse, parseTyped, show, general, kindsOf, written };
}
if (typeof module !== "undefined") module.exports = netcalcUnits;
