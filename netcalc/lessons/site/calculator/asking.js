"use strict";
// Questions in a sentence: what netcalc.calculator.sentences and asking do, with their table.
// `model(name, texts)` computes a formula from texts, or is undefined where this page lacks it.
function netcalcAsking(table, units, model) {
  class Refused extends Error {
    constructor(code, values) {
      super(code);
      this.name = "Refusal";
      this.code = code;
      this.values = values;
    }
  }

  const W = "[\\p{L}\\p{N}_]", NOT_W = `(?!${W})`;
  const sticky = (pattern, flags = "") => new RegExp(pattern, `uy${flags}`);
  const NUMBER = sticky("[+-]?(?:\\p{Nd}+(?:[.,'\\u00a0\\u202f]\\p{Nd}+)*|\\.\\p{Nd}+)(?:[eE][+-]?\\p{Nd}+)?(?!\\.?\\p{Nd})");
  const POWER = sticky("10\\s?\\^\\s?-\\d+|10\\*\\*-\\d+");
  const ODDS = sticky("(?:1|one)\\s*(?:/|\\s(?:in|of|out of)\\s(?:every\\s)?)\\s*(\\d[\\d,]*)(?![\\p{L}\\p{N}_.])(?:\\s+(?:packets?|segments?|frames|calls)\\b)?", "i");
  const PERCENTILE = sticky("(?:p\\s?(\\d{2}(?:\\.\\d+)?)|(\\d{1,2}(?:\\.\\d+)?)\\s?(?:st|nd|rd|th)?\\s?(?:%\\s?ile\\b|percentile\\b))(?:\\s+percentile\\b)?(?![\\p{L}\\p{N}_.]*\\d)", "i");
  const CHUNK = sticky("\\s*-?\\s*([^\\s\\p{Nd},;:?!()=+]+)(?![^\\s,;:?!()=+])");
  const GROUPED = /^\p{Nd}{1,3}(?:,\p{Nd}{3})+$/u, DOUBTFUL = /^[1-9]\d{0,2}\.000$/;
  const WHOLE = ["", "b", "byte", "bytes", "octets"];
  const A_TIME = /\b(?:an?|each|every) (?=(?:second|sec|minute|hour|day|week|month|year)\b)/g;
  const A_YEAR = sticky("\\s*(?:(?:/|\\bper\\b|\\bp\\.|\\ban?\\b|\\beach\\b|\\bevery\\b)\\s*(?:year|yr|annum|y|a)\\b\\.?|\\byearly\\b|\\bannually\\b|\\bpa\\b|\\byoy\\b|\\bannual\\b|\\byear[ \\-](?:over|on)[ \\-]year\\b)", "i");
  const A_MONTH = sticky("\\s*(?:(?:/|\\bper\\b|\\ba\\b|\\beach\\b|\\bevery\\b)\\s*month\\b|\\bmonthly\\b)", "i");
  const ETHERNET = /^(?:[gtm](?:ig\w*|be|e)?\b|g\w* ethernet|base)/i, BITS = /^(?:[kmgt]bits?|(?:kilo|mega|giga|tera)bits?)$/i;
  const GIG = { gig: "GB", gigs: "GB", meg: "MB", megs: "MB", tera: "TB", g: "GB", t: "TB" };
  const BINARY = { k: 1024, K: 1024, M: 1024 ** 2 };
  const TARGET = sticky("(?:in|to|as|into|what|how (?:many|much)|wie\\s?viele?)\\s+(?:(?:average|mean|avg)\\s+)?", "i"), A_VOLUME = /B(?:ytes?)? per (?:hour|day|week|month|year)$/i;
  const LINE = sticky("(?:T|DS|E|OC|STM|STS)-?\\d+c?(?![\\p{L}\\p{N}_-])", "i");
  const WORD = sticky(`(?:(?<!\\S)--?)?\\p{L}(?:[\\p{L}\\p{N}_'’./\\-]*${W})?`);
  const SPREAD = /day|week|month|year|hour|\bh\b|\/h|minute|min\b/;
  const OVER = ["over", "in", "inside", "on", "through", "via", "within"];
  const YEARLY = "ratio/year", MONTHLY = "ratio/month", QUANTILE = "quantile", ALIKE = 0.01, MOST_READINGS = 3, MOST_UNKNOWN = 3, MOST_WORDS = 4;

  const at = (pattern, text, position) => ((pattern.lastIndex = position), pattern.exec(text));
  const plainPhrase = (text) => text.toLowerCase().replace(/(?<=[\p{L}\p{N}_])[\s-]+(?=[\p{L}\p{N}_])/gu, " ");
  const has = (object, name) => Object.prototype.hasOwnProperty.call(object, name);
  const isLetters = (text) => /^\p{L}+$/u.test(text);
  const shown = (text) => (text.length > 60 ? `${text.slice(0, 57)}...` : text);
  const same = (one, other) => one.length === other.length && one.every((item, i) => item === other[i]);

  function token(kind, text, start, more = {}) {
    return { kind, text, start, words: [], value: "", meanings: {}, error: null, soft: false, readAs: "", ...more };
  }

  const lexicon = (() => {
    const phrases = new Map();
    function add(phrase, kind, word = "", more = {}) {
      const key = plainPhrase(phrase), before = phrases.get(key);
      if (before && !(before.kind === "word" && kind === "word")) return;
      phrases.set(key, token(kind, phrase, 0, { words: word ? [...(before ? before.words : []), word] : [], ...more }));
    }
    for (const [phrase, [text, unit, value]] of Object.entries(table.quantities)) add(phrase, "quantity", "", { meanings: { [unit]: [{ value, text: text.replaceAll(" ", ""), note: "" }] } });
    for (const [phrase, number] of Object.entries(table.numbers)) add(phrase, "quantity", "", { meanings: { 1: [{ value: number, text: String(number), note: "" }] } });
    for (const [role, entries] of Object.entries(table.names)) for (const [phrase, value] of Object.entries(entries)) add(phrase, "name", role, { value });
    for (const [concept, entries] of Object.entries(table.concepts)) for (const phrase of entries) add(phrase, "word", concept);
    for (const [role, facts] of Object.entries(table.roles)) {
      for (const phrase of facts.words) add(phrase, "word", role);
      for (const phrase of facts.soft ?? []) add(phrase, "word", role, { soft: true });
      for (const phrase of [...(facts.ahead ?? []), ...(facts.after ?? [])]) add(phrase, "word", role);
    }
    for (const [kind, list] of [["question", table.questions], ["break", table.breaks], ["filler", table.fillers]]) for (const phrase of list) add(phrase, kind);
    for (const phrase of table.other) add(phrase, "word", `other: ${phrase}`);
    for (const [phrase, like] of Object.entries(table.aliases)) {
      if (!like) add(phrase, "filler");
      else if (!phrases.has(plainPhrase(phrase))) phrases.set(plainPhrase(phrase), phrases.get(plainPhrase(like)));
    }
    for (const phrase of table.common) add(phrase, "filler");
    const longest = [...phrases.keys()].sort((one, other) => other.length - one.length);
    const either = longest.map((phrase) => phrase.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&").replaceAll(" ", "[\\s\\-]+")).join("|");
    return { phrases, pattern: sticky(`(?:${either})${NOT_W}`, "i") };
  })();

  const kindsOf = (unit) => units.kindsOf(unit);
  function read(work) {
    try {
      return work();
    } catch (error) {
      if (error.name !== "UnitError") throw error;
      return error;
    }
  }
  const isError = (value) => value instanceof Error;

  function tokens(sentence) {
    const found = [];
    let position = 0;
    while (position < sentence.length) {
      const part = /\s/.test(sentence[position]) ? null : next(sentence, position);
      if (part) found.push(part);
      position = part ? part.start + part.text.length : position + 1;
    }
    return stacked(quiet(found.map((part) => (part.kind === "unknown" ? nearest(part) : part))));
  }

  // Take the word "one" that counts nothing, and what is said twice, as fillers.
  function quiet(parts) {
    const found = [...parts];
    parts.forEach((part, index) => {
      const filler = token("filler", part.text, part.start), text = part.text.toLowerCase();
      if (table.pronouns.includes(text)) {
        const after = parts.slice(index + 1).find((one) => !["filler", "name"].includes(one.kind));
        if (!after || after.kind !== "word" || after.soft || !counts(after)) found[index] = filler;
      }
      const repeats = part.kind === "name" && parts.slice(0, index).some((other) => other.kind === "name" && same(other.words, part.words) && other.value === part.value);
      if (repeats || (part.words.includes("latency") && index && found[index - 1].words.includes("oneway"))) found[index] = filler;
      const line = at(LINE, part.text, 0);
      if (part.kind === "quantity" && (has(table.quantities, text) || (line && line[0] === part.text))) {
        const near = parts.slice(Math.max(index - 3, 0), index + 4).filter((one) => one !== part);
        if (near.some((other) => ["bit/s", "byte", "s"].some((unit) => part.meanings[unit] && other.meanings[unit] && part.meanings[unit][0].value === other.meanings[unit][0].value))) found[index] = filler;
      }
    });
    return found;
  }

  function next(sentence, position) {
    const starts = position === 0 || !/[\p{L}\p{N}]/u.test(sentence[position - 1]);
    const mark = String.fromCodePoint(sentence.codePointAt(position));
    let match;
    if (mark === "-" && (match = at(WORD, sentence, position))) return token("unknown", match[0], position);
    if ((match = at(PERCENTILE, sentence, position))) {
      const share = Number(match[1] ?? match[2]) / 100;
      return token("quantity", match[0], position, { meanings: { [QUANTILE]: [{ value: share, text: `${units.general(share * 100, 12)}%`, note: "" }] } });
    }
    if ((match = at(LINE, sentence, position))) {
      const rate = read(() => units.parse(match[0], "bit/s"));
      if (isError(rate)) return token("unknown", match[0], position);
      return token("quantity", match[0], position, { meanings: { "bit/s": [{ value: rate, text: match[0], note: "" }] } });
    }
    const wanted = target(sentence, position);
    if (wanted) return wanted;
    if (starts && "1oO".includes(mark) && (match = at(ODDS, sentence, position))) return quantity(sentence, position, match[0]);
    if (starts && (match = at(lexicon.pattern, sentence, position)) && has(table.numbers, match[0].toLowerCase())) {
      const part = spoken(sentence, position, match[0]);
      if (part) return part;
    }
    const known = starts && (match = at(lexicon.pattern, sentence, position)) && lexicon.phrases.get(plainPhrase(match[0]));
    if (known) return { ...known, text: match[0], start: position }; // none where letters are alike in capitals alone, as s and ſ
    if ((match = at(NUMBER, sentence, position))) return quantity(sentence, position, match[0]);
    if ((match = at(WORD, sentence, position))) {
      const kinds = match[0].includes("/") ? kindsOf(match[0]) : [];
      if (kinds.length) return token("target", match[0], position, { words: kinds.map((kind) => `in ${kind}`), value: match[0] });
      return token("unknown", match[0], position);
    }
    if (lexicon.phrases.has(mark)) return { ...lexicon.phrases.get(mark), text: mark, start: position };
    return "?!.\"'’“”…/*".includes(mark) ? null : token("unknown", mark, position);
  }

  function target(sentence, position) {
    const match = at(TARGET, sentence, position);
    if (!match) return null;
    for (const [unit, end] of unitsBehind(sentence, position + match[0].length)) {
      const plain = translated(unit).replace(A_TIME, "per "), text = sentence.slice(position, end);
      const asksMuch = /^(?:how|wie)/i.test(match[0]), asksTime = asksMuch && has(units.written("s"), plain);
      const known = lexicon.phrases.has(plainPhrase(unit)) || plain.startsWith("per ") || (asksMuch && A_VOLUME.test(plain));
      if (!known && plain.length > 1 && kindsOf(plain).length)
        return token("target", text, position, { words: [...(asksTime ? ["howlong"] : []), ...kindsOf(plain).map((kind) => `in ${kind}`)], value: plain });
      if (plain === "s" || plain === "h") return token("target", text, position, { words: ["in s"], value: plain });
    }
    return null;
  }

  function unitsBehind(sentence, position) {
    const ends = [], written = [];
    for (let count = 0; count < MOST_WORDS; count++) {
      const match = at(CHUNK, sentence, position);
      if (!match || (written.length && ![" ", "\t"].includes(match[0][0]))) break;
      const text = match[1].replace(/[.'"’”]+$/, "");
      if (!text) break;
      written.push(text);
      ends.push(position + match[0].length - match[1].length + text.length);
      position += match[0].length;
      if (text !== match[1]) break;
    }
    const found = written.map((_, i) => [written.slice(0, i + 1).join(" "), ends[i]]).reverse();
    if (written.length && written[0].startsWith("%/")) found.push(["%", ends[0] - written[0].length + 1]); // 15 %/yr
    return found;
  }

  function quantity(sentence, position, number) {
    let match;
    const plain = (text, meanings) => token("quantity", text, position, { meanings });
    if ((match = at(POWER, sentence, position))) {
      const text = `1e-${match[0].slice(match[0].lastIndexOf("-") + 1)}`;
      return plain(match[0], { 1: [{ value: Number(text), text, note: "" }] });
    }
    if ((match = at(ODDS, sentence, position))) {
      const digits = match[1].replaceAll(",", ""), of = Number(digits);
      return plain(match[0], { ratio: [{ value: of ? 1 / of : 0, text: `1/${digits}`, note: "" }] });
    }
    for (const [unit, end] of unitsBehind(sentence, position + number.length)) {
      const [meanings, refused] = meaningsOf(number, translated(unit).replace(A_TIME, "per ")), text = sentence.slice(position, end);
      const found = Object.keys(meanings).length > 0;
      const year = has(meanings, "ratio") && at(A_YEAR, sentence, end);
      if (year) return plain(text + year[0], { [YEARLY]: meanings.ratio });
      const month = has(meanings, "ratio") && at(A_MONTH, sentence, end);
      if (month) return plain(text + month[0], { [MONTHLY]: meanings.ratio });
      if (found) return plain(text, meanings);
      if (refused && (refused.code === "ambiguous-unit" || kindsOf(unit).length)) return token("quantity", text, position, { error: refused, meanings: octetsOf(number, unit) });
    }
    if (DOUBTFUL.test(number)) {
      const [head, tail] = number.split(".");
      return token("quantity", number, position, { error: new Refused("ambiguous-number", { text: number, shown: `'${number}'`, expected: "a whole number", readings: [head + tail, head] }) });
    }
    const grouped = GROUPED.test(number) ? number.replaceAll(",", "") : pointed(number), value = read(() => units.parse(grouped, "1"));
    return isError(value) ? token("quantity", number, position, { error: value }) : plain(number, { 1: [{ value, text: grouped, note: "" }] });
  }

  // A number in a word with its unit of time, if it has one: "two hours".
  function spoken(sentence, position, word) {
    const number = String(table.numbers[word.toLowerCase()]);
    for (const [unit, end] of unitsBehind(sentence, position + word.length)) {
      const [meanings] = meaningsOf(number, translated(unit));
      if (has(meanings, "s") && (unit.length > 2 || unit === "ms")) return token("quantity", sentence.slice(position, end), position, { meanings });
    }
    return null;
  }

  // What an ambiguous "50 gb" is beside a word of a size.
  function octetsOf(number, unit) {
    if (!/^[kmgt]bs?$/.test(unit)) return {};
    const octets = unit.toUpperCase().replace("K", "k"), value = read(() => units.parse(`${number} ${octets}`, "byte"));
    return isError(value) ? {} : { colloquial: [{ value, text: `${number}${octets}`, note: octets }] };
  }

  const translated = (unit) => unit.split(/\s+/).map((word) => (has(table.unit_words, word.toLowerCase()) ? table.unit_words[word.toLowerCase()] : word)).join(" ");

  // A number without a decimal comma, as a list has commas, too.
  const pointed = (number) => (/^[^.,]*,[^.,]*$/.test(number) && !GROUPED.test(number) ? number.replace(",", ".") : number);

  function meaningsOf(number, unit) {
    const found = {};
    let error = null;
    if (GROUPED.test(number) && WHOLE.includes(unit.toLowerCase())) number = number.replaceAll(",", "");
    number = pointed(number);
    const spaced = `${number} ${unit}`, text = unit.includes(" ") ? spaced : `${number}${unit}`, kinds = kindsOf(unit);
    for (const kind of table.kinds) {
      if (!kinds.includes(kind) && !(kind === "bit/s" && ETHERNET.test(unit))) continue;
      if (/(?:be|ethernet|base\S*) (?:per|a) /i.test(unit)) continue;
      const value = read(() => units.parseTyped(spaced, kind));
      if (!isError(value)) found[kind] = [{ value, text, note: "" }];
      else if (["ambiguous-unit", "ambiguous-number", "number-too-large"].includes(value.code)) {
        if (!error) error = value;
        else if (error.code === value.code && value.code === "ambiguous-unit") error.values.readings.push(...value.values.readings); // 3 mb: a rate, or a size
      }
    }
    const one = /^[kKMG]$/.test(unit) && read(() => units.parseTyped(`${number}${unit}`, "1"));
    if (typeof one === "number") found[1] = [{ value: one, text: number + unit, note: "" }];
    if (has(found, "byte") && !has(found, "bit/s") && BITS.test(unit)) {
      const loose = `${number}${unit}/s`, value = read(() => units.parseTyped(loose, "bit/s"));
      if (!isError(value)) found.loose = [{ value, text: loose, note: `${unit}/s` }];
    }
    if (has(BINARY, unit) || unit === "KB") {
      const value = units.parse(number, "1");
      if (unit === "KB") found.byte = [{ value: value * 1024, text: `${number}KiB`, note: "" }, { value: value * 1000, text: `${number}kB`, note: "" }];
      else found.binary = [{ value: value * BINARY[unit], text: `${number}${unit.toUpperCase()}iB`, note: "1024" }];
    }
    const gig = GIG[unit.toLowerCase()];
    if (gig && (has(found, "bit/s") || ["ig", "eg"].includes(unit.toLowerCase().slice(1, 3)))) {
      found.colloquial = [{ value: units.parse(`${number} ${gig}`, "byte"), text: `${number}${gig}`, note: gig }];
      if (!has(found, "bit/s")) {
        const rate = `${number}${gig[0]}bit/s`;
        found.loose = [{ value: units.parse(rate, "bit/s"), text: rate, note: `${gig[0]}bit/s` }];
        if (unit.toLowerCase().endsWith("s")) found.byte = found.colloquial;
      }
    }
    return [found, Object.keys(found).length ? null : error];
  }

  function nearest(part) {
    const word = part.text.toLowerCase(), { phrases } = lexicon;
    if (!isLetters(word) || word.length < 4) return part;
    const plural = word.endsWith("s") && phrases.get(word.slice(0, -1));
    if (plural) return { ...plural, text: part.text, start: part.start };
    if (word.length < 5) return part;
    const most = word.length >= 9 ? 2 : 1, near = new Map();
    for (const [phrase, known] of phrases)
      if (["word", "name"].includes(known.kind) && !known.words[0].startsWith("other") && Math.abs(phrase.length - word.length) <= most && isLetters(phrase) && phrase[0] === word[0] && distance(word, phrase, most) <= most)
        near.set(known.words.join("|"), phrase);
    if (near.size !== 1) return part;
    const [phrase] = near.values();
    return { ...phrases.get(phrase), text: part.text, start: part.start, readAs: phrase };
  }

  function distance(first, second, most) {
    let before = [], row = Array.from({ length: second.length + 1 }, (_, i) => i);
    for (let i = 1; i <= first.length; i++) {
      const last = before;
      before = row;
      row = [i];
      for (let j = 1; j <= second.length; j++) {
        let cost = Math.min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (first[i - 1] === second[j - 1] ? 0 : 1));
        if (i > 1 && j > 1 && first[i - 1] === second[j - 2] && first[i - 2] === second[j - 1]) cost = Math.min(cost, last[j - 2] + 1);
        row.push(cost);
      }
      if (Math.min(...row) > most) return most + 1;
    }
    return row[row.length - 1];
  }

  const is = (part, role) => part.words.length === 1 && part.words[0] === role;

  function stacked(parts) {
    const joined = [];
    for (const part of parts) {
      joined.push(part);
      if (joined.length > 1 && is(joined.at(-2), "stack") && is(joined.at(-1), "ipversion")) {
        const [first, last] = joined.splice(-2);
        joined.push({ ...first, text: `${first.text} ${last.text}`, value: outside(first, last) });
      }
      while (joined.length > 2 && joined.at(-1).kind === "name" && is(joined.at(-3), "stack")) {
        const [first, between, last] = joined.slice(-3), over = OVER.includes(between.text.toLowerCase());
        let value;
        if (is(last, "ipversion") && over) value = outside(first, last);
        else if (is(last, "stack") && (over || ["+", "and", "plus"].includes(between.text))) value = over ? `${first.value} over ${last.value}` : ranked(first, last);
        else break;
        joined.splice(-3, 3, { ...first, text: `${first.text} ${between.text} ${last.text}`, value });
      }
    }
    return carried(joined);
  }

  function carried(parts) {
    const places = (role) => parts.map((part, i) => (is(part, role) ? i : -1)).filter((i) => i >= 0);
    const tunnels = places("stack"), versions = places("ipversion");
    if (tunnels.length !== 1 || versions.length !== 1) return parts;
    const [tunnel] = tunnels, [version] = versions;
    const isOver = version > 0 && ["over", "on"].includes(parts[version - 1].text.toLowerCase());
    if (parts.some((part) => part.words.includes("mss")) && !isOver) return parts;
    const joined = [...parts];
    joined[tunnel] = { ...parts[tunnel], value: outside(parts[tunnel], parts[version]) };
    joined.splice(version, 1);
    return joined;
  }

  function outside(tunnel, version) {
    const cut = tunnel.value.indexOf(" "), innermost = cut < 0 ? tunnel.value : tunnel.value.slice(0, cut);
    return innermost.replace(/[46]*(?=_|$)/, version.value) + (cut < 0 ? "" : tunnel.value.slice(cut));
  }

  function ranked(first, last) {
    const rank = ({ value }) => (table.layers.includes(value) ? table.layers.indexOf(value) : table.layers.length);
    const [outer, inner] = rank(last) < rank(first) ? [last, first] : [first, last];
    return `${inner.value} over ${outer.value}`;
  }

  const saidOf = (name) => (table.roles[name] ?? {}).said || table.said[name] || name;
  const rolesOf = (part) => part.words.filter((word) => has(table.roles, word));
  const counts = (part) => rolesOf(part).some((role) => same(table.roles[role].units, ["1"]));
  const isOnSide = (part, side) => rolesOf(part).some((role) => (table.roles[role][side] ?? []).includes(plainPhrase(part.text)));

  // Which quantity each word of a role belongs to, by their positions among the parts.
  function attached(parts) {
    let pairs = [];
    parts.forEach((part, index) => {
      if (part.kind !== "word" || !rolesOf(part).length) return;
      for (const step of [1, -1])
        for (let place = index + step, cost = 0; place >= 0 && place < parts.length && cost <= 3 + Number(step > 0); place += step, cost++) {
          const other = parts[place];
          if (other.kind === "quantity") {
            const fits = rolesOf(part).some((role) => mayBe(role, other, step > 0).length);
            if (fits && !isOnSide(part, step < 0 ? "ahead" : "after")) {
              pairs.push([cost, index, place]);
              break;
            }
            if (step > 0 || !counts(part)) break;
          } else if (!["filler", "name", "unknown"].includes(other.kind) && !other.soft && !(step > 0 && ["to", "from"].includes(other.text.toLowerCase()))) break;
        }
      const before = parts.slice(0, index).reverse().find((one) => one.kind !== "filler");
      if (before && before.kind === "question") pairs = pairs.filter((pair) => pair[1] !== index || pair[2] > index);
    });
    const found = new Map();
    while (pairs.length) {
      const count = (index) => pairs.filter((pair) => pair[1] === index).length;
      const key = (p) => [Number(parts[p[1]].soft), Number(count(p[1]) > 1), p[0], Number(p[2] > p[1]), p[1]];
      const [, index, place] = pairs.reduce((one, other) => (less(key(other), key(one)) ? other : one));
      found.set(index, place);
      pairs = pairs.filter((pair) => pair[1] !== index && pair[2] !== place);
    }
    return found;
  }

  function less(one, other) {
    const at = one.findIndex((item, i) => item !== other[i]);
    return at >= 0 && one[at] < other[at];
  }

  function mayBe(role, part, behind) {
    const facts = table.roles[role], side = facts.number ?? null, plain = part.meanings[1] ?? [];
    const hasNumber = typeof side === "boolean" ? side : side === (behind ? "behind" : "before");
    if (same(facts.units, ["1"]) && ((side !== null && !hasNumber) || has(part.meanings, "bit/s"))) return [];
    for (const kind of ["binary", "loose", "colloquial"]) if (facts[kind] && part.meanings[kind]) return part.meanings[kind];
    for (const unit of facts.units) if (part.meanings[unit]) return part.meanings[unit];
    if (plain.length && hasNumber && plain[0].value >= (facts.least_number ?? 1)) return [{ value: plain[0].value, text: `${plain[0].text}B`, note: "" }];
    if (plain.length && facts.units.includes("ratio") && plain[0].value >= 0 && plain[0].value < 1) return plain;
    return [];
  }

  // Answer a question: its readings, each with formula, arguments, command and, if this page has the formula, value.
  function ask(sentence) {
    if (sentence.length > table.limit) throw new Refused("sentence-too-long", { value: shown(sentence), limit: table.limit });
    const parts = tokens(sentence), unknown = parts.filter((part) => part.kind === "unknown");
    const cues = attached(parts);
    checkParts(sentence, parts, unknown, cues);
    if (asksTwice(parts, cues)) throw new Refused("sentence-asks-twice", { value: shown(sentence) });
    const fits = table.rows.flatMap((row) => fitsOf(row, parts, cues));
    const whole = fits.filter((fit) => !fit.missing.length);
    if (!whole.length) throw refusedAll(sentence, parts, cues, fits);
    const best = Math.max(...whole.map((fit) => fit.score)), wanted = (parts.find((part) => part.kind === "target") ?? { value: "" }).value;
    const readings = [];
    let refused = null;
    for (const fit of whole.filter((one) => one.score === best)) {
      try {
        readings.push(reading(fit, wanted));
      } catch (error) {
        if (error.code !== "sentence-above-line") throw error;
        refused = error;
      }
    }
    if (!readings.length && refused) throw refused;
    const distinct = distinctOf(readings);
    if (distinct.length > MOST_READINGS) throw new Refused("sentence-many-readings", { value: shown(sentence), titles: distinct.map((one) => one.title) });
    return { readings: distinct, notUnderstood: unknown.map((part) => part.text), readAs: parts.filter((part) => part.readAs).map((part) => [part.text, part.readAs]) };
  }

  function checkParts(sentence, parts, unknown, cues) {
    const cued = [...cues.values()];
    const value = shown(sentence), failed = parts.find((part, i) => part.error && !(Object.keys(part.meanings).length && cued.includes(i)));
    if (failed) throw failed.error;
    if (!parts.some((part) => ["quantity", "name"].includes(part.kind))) throw new Refused("sentence-asks-nothing", { value });
    const heavy = parts.filter((part) => part.kind !== "filler");
    const numbers = unknown.filter((part) => /\p{N}/u.test(part.text)), options = unknown.filter((part) => part.text.startsWith("-"));
    const asked = heavy.filter((part, i) => part.kind === "unknown" && i > 0 && ["question", "target"].includes(heavy[i - 1].kind));
    asked.push(...heavy.filter((part, i) => part.kind === "unknown" && heavy[i + 1]?.kind === "word" && !heavy[i + 1].soft && heavy[i + 1].words.some((word) => has(table.concepts, word))));
    asked.push(...parts.filter((part, i) => i > 0 && part.kind === "unknown" && same(Object.keys(parts[i - 1].meanings), ["1"]) && !cued.includes(i - 1)));
    const bad = [numbers, options, asked, unknown.length > MOST_UNKNOWN ? unknown : []].find((list) => list.length);
    if (bad) throw new Refused("sentence-part-unknown", { value, parts: bad.slice(0, 4).map((part) => `'${shown(part.text)}'`).join(", ") });
    const ends = [...sentence.matchAll(/[^?]+/g)].map((span) => span.index + span[0].length);
    const asking = parts.filter((part, i) => ["word", "target"].includes(part.kind) && !cues.has(i));
    if (new Set(asking.map((part) => ends.find((end) => part.start < end) ?? 0)).size > 1) throw new Refused("sentence-asks-twice", { value });
  }

  // Whether two words of what is asked have an "and" between them.
  function asksTwice(parts, cues) {
    const alone = parts.filter((part, i) => part.kind !== "filler" && !(part.kind === "word" && cues.has(i)));
    const at = alone.findIndex((between, i) => ["and", "&"].includes(between.text.toLowerCase()) && [alone[i - 1], alone[i + 1]].every((one) => one && one.kind === "word" && !one.soft));
    return at > 0 && ![alone[at - 1], alone[at + 1]].some((one) => one.words.includes("nagle") || one.words.includes("delayedack"));
  }

  function fitsOf(row, parts, cues) {
    const asks = new Set(row.asks ?? []), must = row.must ?? [], takes = row.takes ?? {};
    if (parts.some((part) => (row.never ?? []).includes(part.text.toLowerCase()))) return [];
    const places = new Set([...asks, ...must, ...(row.also ?? []), ...table.any]), own = [...row.needs, ...Object.keys(takes)], there = new Set(), apart = [], unsaid = new Set();
    for (const [index, part] of parts.entries()) {
      const fitting = part.words.filter((word) => places.has(word));
      if (cues.has(index)) fitting.filter((word) => !has(table.roles, word)).forEach((word) => there.add(word));
      else if (part.kind === "target" || part.kind === "word") {
        if (part.kind === "word" && !fitting.length && !part.soft) {
          if (!part.words.every((word) => has(table.roles, word))) return [];
          apart.push(part);
        }
        fitting.forEach((word) => there.add(word));
        if (!part.soft && !counts(part)) part.words.filter((word) => has(takes, word) && !asks.has(word) && !must.includes(word)).forEach((word) => unsaid.add(word));
      }
    }
    const named = [...there].filter((word) => asks.has(word)).length;
    if (!must.every((word) => there.has(word)) || (asks.size && !named && !row.given)) return [];
    if (!named && !must.length && asksMore(parts)) return [];
    if (row.formula !== "convert" && asksNumber(parts) && ["ratio", "dB", "s", "m", "Hz"].includes(table.formulas[row.formula].unit)) return [];
    const options = optionsOf(row, own, parts, cues);
    if (!options) return [];
    const fits = [];
    for (const filled of filledBy(options)) {
      if (!namedSo(row, filled) || !isApiece(row, filled, parts)) continue;
      if (!apart.every((word) => word.words.some((name) => filled[name] && !filled[name].by && laterThan(word, filled[name].token, parts)))) continue;
      if (!named && Array.isArray(row.given) && !row.given.every((name) => filled[name] && filled[name].by && hasOwnWord(name, filled[name]))) continue;
      const missing = [...row.needs, ...unsaid].filter((name) => !has(filled, name));
      if (!missing.length || named) fits.push({ row, roles: filled, score: 2 * new Set(must).size + named, missing });
    }
    return fits;
  }

  // The ways to give each part a role of its own.
  const filledBy = (options) => options.reduce((ways, list) => ways.flatMap((way) => list.filter(([name]) => !has(way, name)).map(([name, one]) => ({ ...way, [name]: one }))), [{}]);

  // Whether a quantity comes later than a word, and not behind a "for": "line rate needed for 900 Mbit/s goodput".
  const laterThan = (word, one, parts) => one.start > word.start && parts.slice(1).some((after, i) => after.start === one.start && parts[i].text.toLowerCase() !== "for");

  // Whether a number of what a word is for is asked: "how many parallel links".
  const asksNumber = (parts) => parts.some((part, index) => part.text.toLowerCase() === "many" && parts.slice(index + 1).find((one) => one.kind !== "filler")?.kind === "word");

  function asksMore(parts) {
    return parts.some((part, index) => {
      if (part.kind !== "question") return false;
      const after = parts.slice(index).find((one) => !["question", "filler"].includes(one.kind));
      return after !== undefined && ["word", "unknown"].includes(after.kind);
    });
  }

  // Whether a role is not read from the word of another one.
  const hasOwnWord = (name, one) => one.said === "" || one.said === table.roles[name].said;

  const matches = (rules, filled, wanted) => Object.entries(rules ?? {}).every(([name, pattern]) => !filled[name] || new RegExp(table.patterns[pattern]).test(filled[name].token.text) === wanted);

  // Whether as many are listed as are counted: "two lines of 99% and 98%".
  function isTally(row, filled) {
    const [count, listed] = (row.tally ?? []).map((name) => filled[name]);
    return !count || !listed || count.meaning.value === listed.meaning.text.split(";").length;
  }

  // Whether a size is of each that is counted: not "2 GB in 3 files" and "2 GB total".
  function isApiece(row, filled, parts) {
    const [count, size] = (row.apiece ?? []).map((name) => filled[name]);
    if (!count || !size) return true;
    const after = parts.filter((part) => part.start > size.token.start).slice(0, 2).map((part) => part.text.toLowerCase());
    return (count.token.start < size.token.start || after.includes("each")) && !after.some((word) => ["total", "overall", "combined"].includes(word));
  }

  function namedSo(row, filled) {
    const { small, large, sorted = [] } = row, value = (name) => filled[name].meaning.value;
    return Object.entries(row.only ?? {}).every(([name, texts]) => !filled[name] || texts.includes(filled[name].meaning.text))
      && !Object.entries(row.except ?? {}).some(([name, texts]) => filled[name] && texts.includes(filled[name].meaning.text))
      && !(small && filled[small[0]] && value(small[0]) > small[1])
      && !sorted.slice(1).some((name, i) => filled[sorted[i]] && filled[name] && value(sorted[i]) >= value(name))
      && (row.spread ?? []).every((name) => !filled[name] || SPREAD.test(filled[name].token.text))
      && matches(row.like, filled, true) && matches(row.unlike, filled, false) && isTally(row, filled)
      && (row.strict ?? []).every((name) => !filled[name] || hasOwnWord(name, filled[name]))
      && !Object.entries(row.no_sizes ?? {}).some(([name, values]) => filled[name] && values.includes(value(name)))
      && !(large && filled[large[0]] && value(large[0]) <= large[1]);
  }

  const role = (part, meaning, unit, by = "", factor = 1, said = "") => ({ token: part, meaning, unit, by, factor, said });

  function optionsOf(row, own, parts, cues) {
    const wordOf = new Map([...cues].map(([index, place]) => [place, index])), options = [], bare = [], taken = new Set();
    for (const [index, part] of parts.entries()) {
      const word = wordOf.has(index) ? parts[wordOf.get(index)] : null;
      if (part.kind === "name") {
        if (!own.includes(part.words[0])) return null;
        options.push([[part.words[0], role(part, { value: 0, text: part.value, note: "" }, "text")]]);
      } else if (part.kind === "quantity" && word && !word.words.includes(row.many)) {
        const found = ofWord(own, word, part, wordOf.get(index) < index);
        if (!found.length) return null;
        found.forEach(([name]) => taken.add(name));
        options.push(found);
      } else if (part.kind === "quantity") bare.push(part);
    }
    return bareOptions(row, own, bare, taken, options);
  }

  function bareOptions(row, own, parts, taken, options) {
    const free = parts.map((part) => freeRoles(row, own, part, taken)), order = row.sorted ?? [];
    if (!free.every((list) => list.length)) return null;
    const names = free.map((list) => new Set(list.map(([name]) => name)));
    if (row.many && parts.length > 1 && names.every((one) => one.has(row.many))) {
      const text = free.map((list) => list[0][1].meaning.text).join("; ");
      return [...options, [[row.many, role({ ...parts[0], text: parts.map((part) => part.text).join(", ") }, { value: 0, text, note: "" }, "text")]]];
    }
    const doubtful = parts.map((_, i) => i).filter((i) => names.some((other, k) => k !== i && [...other].some((name) => names[i].has(name))));
    if (doubtful.length && (doubtful.length !== order.length || !order.every((name) => names[0].has(name)))) return null;
    parts.forEach((part, i) => {
      if (!doubtful.includes(i)) options.push(Object.keys(part.meanings).length > 1 ? free[i].slice(0, 1) : free[i]);
    });
    doubtful.sort((i, k) => free[i][0][1].meaning.value - free[k][0][1].meaning.value);
    order.slice(0, doubtful.length).forEach((name, i) => options.push(free[doubtful[i]].filter(([one]) => one === name)));
    return options;
  }

  function freeRoles(row, own, part, taken) {
    const found = [];
    for (const name of own) {
      if (taken.has(name) || !has(table.roles, name)) continue;
      const facts = table.roles[name], isBare = (facts.bare ?? true) || (row.bare ?? []).includes(name);
      if (!isBare || (row.cued ?? []).includes(name)) continue;
      if ((row.plain ?? []).includes(name) && same(Object.keys(part.meanings), ["1"])) {
        const size = part.meanings[1][0];
        if (size.value >= 64 && size.value <= 9216) found.push([name, role(part, { value: size.value, text: `${size.text}B`, note: "" }, facts.units[0])]);
        continue;
      }
      for (const unit of facts.bare_units ?? facts.units)
        for (const meaning of ((unit !== "1" || ((row.counts ?? []).includes(name) && same(Object.keys(part.meanings), ["1"]))) && part.meanings[unit]) || [])
          if (meaning.value >= (facts.least_bare ?? -Infinity) && meaning.value <= (facts.most_bare ?? Infinity)) found.push([name, role(part, meaning, unit)]);
    }
    return row.sorted ? found : found.filter(([name]) => name === found[0][0]);
  }

  function ofWord(own, word, part, behind) {
    const found = [];
    for (const name of rolesOf(word)) {
      const meanings = mayBe(name, part, behind), facts = table.roles[name];
      if (!meanings.length) continue;
      let unit = [...facts.units, "1"].find((one) => one === "1" || has(part.meanings, one));
      if (unit === "1" && !same(facts.units, ["1"])) unit = facts.units[0];
      if (facts.most !== undefined && meanings[0].value > facts.most) throw new Refused("sentence-beyond", { value: part.text, role: facts.said, limit: units.show(facts.most, unit) });
      for (const [other, factor] of own.includes(name) ? [[name, 1]] : facts.as ?? [])
        if (own.includes(other)) for (const meaning of meanings) found.push([other, role(part, meaning, unit, word.text, factor, facts.said)]);
    }
    return found;
  }

  // Answers.
  function reading(fit, wanted) {
    const { row } = fit, assumed = row.said ? [row.said] : [];
    if (row.formula === "convert") return converted(fit, wanted);
    const form = table.formulas[row.formula], steps = [], texts = textsOf(form, row.args, fit, steps);
    let command = commandOf(form, texts), answer, { unit } = form;
    if (row.solve) {
      const parameter = form.parameters.find((one) => one.name === row.solve), goal = textOf(row.for, fit, steps, form.unit);
      command += ` --solve ${parameter.option} --for ${quoted(goal)}`;
      unit = parameter.unit;
    } else answer = model(row.formula, texts);
    for (const [name, text] of Object.entries(row.takes ?? {})) if (text && !fit.roles[name]) assumed.push(`${saidOf(name)} ${text}`);
    const loads = (row.below ?? []).map((each) => numberOf(each, fit, [], "1") ?? 0);
    if ((answer !== undefined && !Number.isFinite(answer.value)) || (loads.length === 2 && loads[0] >= loads[1])) throw new Refused("sentence-unbounded", { value: row.title });
    const value = answer === undefined ? undefined : answer.value, bound = fit.roles[row.at_most];
    const layer = (unit === "bit/s" && (row.layer ?? (fit.roles.layer && table.layer_names[fit.roles.layer.meaning.text]))) || form.layer;
    let text = value === undefined ? "" : units.show(value, unit) + (layer ? ` (${layer})` : "");
    if (bound && value > bound.meaning.value) throw new Refused("sentence-above-line", { value: text, line: bound.token.text });
    if (wanted && value !== undefined) text = inUnit(value, unit, wanted, text);
    return {
      question: row.name, minor: Boolean(row.minor), title: row.title, formula: row.formula, value, unit, text, texts, command, steps: [...new Set(steps)],
      given: given(fit), assumed: [...new Set(assumed)], silent: row.silent ?? [],
    };
  }

  function textsOf(form, args, fit, steps) {
    const texts = {};
    for (const parameter of form.parameters) {
      const text = has(args, parameter.name) ? textOf(args[parameter.name], fit, steps, parameter.unit) : "";
      if (text) texts[parameter.name] = text;
    }
    return texts;
  }

  function textOf(expression, fit, steps, unit) {
    if (typeof expression === "string") {
      if (expression.startsWith("=")) return expression.slice(1).replaceAll(" ", "");
      const found = fit.roles[expression];
      if (!found) return String((fit.row.takes ?? {})[expression] ?? "").replaceAll(" ", "");
      if (found.factor === 1) return found.meaning.text;
    }
    const number = numberOf(expression, fit, steps, unit);
    return number === null ? "" : written(number, unit);
  }

  function numberOf(expression, fit, steps, unit) {
    if (typeof expression === "number") return expression;
    if (typeof expression === "string") {
      const found = fit.roles[expression];
      if (found && found.unit !== "text") return found.meaning.value * found.factor;
      const text = textOf(expression, fit, steps, unit);
      let [kind] = (table.roles[expression] ?? { units: [unit] }).units;
      if (expression.startsWith("=")) {
        const kinds = kindsOf(text.replace(/^[\d.]+/, ""));
        kind = !kinds.length || kinds.includes(unit) ? unit : kinds[0];
      }
      return text ? units.parseTyped(text, kind) : null;
    }
    const [operation, ...operands] = expression;
    if (operation === "f") {
      const form = table.formulas[operands[0]], texts = textsOf(form, operands[1], fit, steps), answer = model(operands[0], texts);
      steps.push(commandOf(form, texts));
      if (answer === undefined) throw new Refused("not-on-this-page", { name: form.command });
      return answer.value;
    }
    const numbers = operands.map((operand) => numberOf(operand, fit, steps, unit));
    if (numbers.includes(null)) return null;
    const result = computed(operation, ...numbers);
    if (!Number.isFinite(result)) throw new Refused("sentence-no-answer", { value: fit.row.title });
    return result;
  }

  function computed(operation, first, ...rest) {
    const product = rest.reduce((one, other) => one * other, 1);
    if (operation === "*") return first * product;
    if (operation === "/") return first / product;
    if (operation === "+") return rest.reduce((one, other) => one + other, first);
    if (operation === "^") return Math.pow(first, rest[0]);
    return first - rest.reduce((one, other) => one + other, 0);
  }

  function written(number, unit) {
    let text = unit === "1" ? units.general(number, 15) : units.show(number, unit, 15);
    if (unit === "byte" && units.parseTyped(text, unit) !== number) text = `${units.general(number, 15)}B`;
    return text.replace(/(?<=\d) (?=[A-Za-zµ%])/g, "");
  }
  const quoted = (text) => (/^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\"'\"'")}'`);

  function commandOf(form, texts) {
    const words = form.parameters.flatMap(({ name, option }, i) => (has(texts, name) ? [(i ? `--${option} ` : "") + quoted(texts[name])] : []));
    return [`netcalc calc ${form.command}`, ...words].join(" ");
  }

  function given(fit) {
    const found = Object.entries(fit.roles).map(([name, one]) => {
      const notes = [], said = saidOf(name);
      if (one.said && one.said !== said) notes.push(one.factor === 1 ? "read as" : `read as ${units.general(one.factor, 6)} times`);
      if (one.meaning.note) notes.push(`read as ${one.meaning.text}`);
      return { source: one.token.text, start: one.token.start, by: one.by, said: notes.length ? `${said} (${notes.join(", ")})` : said };
    });
    return found.sort((one, other) => one.start - other.start);
  }

  function inUnit(value, unit, wanted, text) {
    const kinds = kindsOf(wanted);
    if (!kinds.includes(unit)) throw units.notComparable(unit, wanted, unit, kinds[0] ?? "1");
    return `${units.general(value / units.parseTyped(`1 ${wanted}`, unit), 6)} ${wanted} (${text})`;
  }

  function converted(fit, wanted) {
    const [[name, one]] = Object.entries(fit.roles), { value } = one.meaning, { unit } = one;
    const target_ = wanted || (unit === "bit/s" ? "Mbit/s" : unit);
    return {
      question: fit.row.name, minor: false, title: fit.row.title, formula: "convert", value, unit, text: inUnit(value, unit, target_, units.show(value, unit)), texts: { [name]: one.token.text },
      command: `netcalc convert ${quoted(one.meaning.text)} ${quoted(target_)}`, steps: [], given: [{ source: one.token.text, start: one.token.start, by: "", said: "quantity" }], assumed: [],
    };
  }

  function distinctOf(readings) {
    const every = readings.filter((one, i) => readings.findIndex((other) => other.command === one.command) === i);
    return every.filter((one) => !one.minor || !every.some((other) => other !== one && Math.abs(one.value - other.value) <= ALIKE * Math.abs(other.value)));
  }

  function refusedAll(sentence, parts, cues, fits) {
    const value = shown(sentence), list = (found) => found.map((part) => `'${part.text}'`).join(", ");
    if (fits.length) {
      const nearestFit = fits.reduce((one, other) => (less([-other.score, other.missing.length], [-one.score, one.missing.length]) ? other : one));
      return new Refused("sentence-lacks", { value, title: nearestFit.row.title, lacking: nearestFit.missing.map(saidOf).join(", ") });
    }
    const cued = new Set(cues.values()), plain = parts.filter((part, i) => part.kind === "quantity" && same(Object.keys(part.meanings), ["1"]) && !cued.has(i));
    if (plain.length) return new Refused("sentence-no-unit", { value, parts: list(plain) });
    return new Refused("sentence-no-formula", { value, parts: list(parts.filter((part) => ["word", "name", "quantity", "unknown"].includes(part.kind)).slice(0, 8)) });
  }

  return { ask, tokens };
}
if (typeof module !== "undefined") module.exports = netcalcAsking;
