"use strict";
// The search of calculator/searching.py over its tables: the same questions find the same formulas.
function netcalcSearch(tables) {
  const { numbers, patterns, place } = tables;
  const fillers = new Set(tables.fillers), general = new Set(tables.general), places = new Set(tables.places);
  const whole = (pattern) => new RegExp(`^(?:${pattern})$`);
  const SMALL_NUMBER = whole(patterns.smallNumber), CARRIER = whole(patterns.carrier), NINES = whole(patterns.nines), K_OF_N = new RegExp(patterns.kOfN, "g");
  const formulas = Object.entries(tables.formulas).map(([name, one]) => ({
    ...one, name, fields: new Map(one.words.flatMap(([weight, text]) => text.split(" ").map((word) => [word, weight]))),
  }));
  const byShort = new Map([...formulas].reverse().map((one) => [one.short, one]));
  const synonyms = new Map(Object.entries(tables.synonyms).map(([word, others]) => [word, Object.entries(others)]));
  const counts = new Map();
  for (const one of formulas) for (const word of one.fields.keys()) counts.set(word, (counts.get(word) ?? 0) + 1);

  function stem(word) {
    for (const [british, american] of tables.spellings) word = word.replaceAll(british, american);
    if (word.endsWith("ss")) return word;
    const ending = tables.endings.find((one) => word.endsWith(one) && word.length - one.length >= 3);
    if (ending) word = word.slice(0, -ending.length);
    if (word.endsWith("e") && word.length > 4) word = word.slice(0, -1);
    return word.length > 4 && word.at(-1) === word.at(-2) ? word.slice(0, -1) : word;
  }

  const typed = (text) => text.toLowerCase().match(/[\p{L}\p{N}_]+/gu) ?? [];
  const plain = (text) => typed(text).map(stem).join(" ");
  const rarity = (times) => Math.log(1 + formulas.length / times) / Math.log(1 + formulas.length);

  function words(text) {
    let query = ` ${text.toLowerCase().replaceAll("'s ", " ").replace(/[^\p{L}\p{N}_./]+/gu, " ")} `.replace(K_OF_N, " kofn ");
    for (let again = 0; again < 2; again += 1) for (const [phrase, word] of tables.phrases) query = query.replaceAll(` ${phrase} `, ` ${word} `).replaceAll(` ${phrase}s `, ` ${word} `);
    return query.split(" ").filter((word) => word && !fillers.has(word)).flatMap((word) => {
      const meant = places.has(word) ? place : NINES.test(word) ? "nines" : CARRIER.test(word) ? "t1" : word;
      if (SMALL_NUMBER.test(meant)) return [];
      return /\d/.test(meant) ? [meant.replace(/[./]/g, "")] : meant.split(/[./_]+/);
    }).filter((word) => word && !fillers.has(word)).map(stem);
  }

  function isOneOff(one, other) {
    const [short, long] = one.length <= other.length ? [one, other] : [other, one];
    const differing = [...Array(short.length).keys()].filter((i) => short[i] !== long[i]), first = differing[0] ?? short.length;
    if (long.length === short.length + 1) return one.length > numbers.letters && short.slice(first) === long.slice(first + 1);
    if (long.length !== short.length || !differing.length) return false;
    if (differing.length === 1) return short.length >= numbers.longLetters;
    return differing.length === 2 && short.slice(first, first + 2) === long.slice(first + 1, first + 2) + long[first];
  }

  function known(word) {
    const meant = new Map([[word, 1], ...(synonyms.get(word) ?? []).filter(([other]) => other !== word)]);
    if ([...meant.keys()].some((one) => counts.has(one))) return meant;
    if (word.length < numbers.letters || !/^\p{L}+$/u.test(word)) return null;
    const near = [...counts.keys(), ...synonyms.keys()].find((one) => one[0] === word[0] && isOneOff(word, one));
    return near === undefined ? null : new Map([[near, 1], ...(synonyms.get(near) ?? [])]);
  }

  function score(asked, formula) {
    let total = 0, matched = 0;
    for (const meant of asked) {
      let best = 0, share = 0;
      for (const [word, factor] of meant) {
        if (!formula.fields.has(word)) continue;
        const value = formula.fields.get(word) * factor * rarity(counts.get(word));
        if (value > best) [best, share] = [value, factor];
      }
      total += best;
      if (best) matched += share;
    }
    return (total * matched) / asked.length;
  }

  function phraseScore(formula, phrase) {
    const count = Math.max(1, phrase.split(" ").filter(Boolean).length);
    return Math.max(0, ...formula.tags.filter((tag) => tag && ` ${phrase} `.includes(` ${tag} `)).map((tag) => (numbers.phrase * tag.split(" ").length) / count));
  }

  function ranked(asked, phrase) {
    if (!asked.length) return [];
    const scored = [];
    for (const formula of formulas) {
      const own = score(asked, formula);
      if (own >= numbers.leastScore) scored.push([(own + phraseScore(formula, phrase)) * (formula.needed ? numbers.needed : 1), formula]);
    }
    scored.sort((a, b) => b[0] - a[0]);
    return scored.filter(([own]) => own >= scored[0][0] * numbers.least).map(([, formula]) => formula);
  }

  function covered(carrying, formula) {
    let total = 0, found = 0;
    for (const meanings of carrying.values()) {
      const own = [...(meanings ?? [])].filter(([word]) => counts.has(word));
      const weight = own.length ? Math.max(...own.map(([word]) => rarity(counts.get(word)))) : 1;
      const shares = own.filter(([word]) => formula.fields.has(word)).map(([word, share]) => share * Math.min(1, formula.fields.get(word) / numbers.sure));
      total += weight;
      found += weight * Math.max(0, ...shares);
    }
    return total ? found / total : 1;
  }

  function termsOf(text, spellings) {
    const byMeaning = new Map();
    for (const term of [...spellings].sort((a, b) => b.stems.length - a.stems.length))
      if (text.includes(` ${term.stems} `) && !byMeaning.has(term.meaning)) byMeaning.set(term.meaning, term);
    return [...byMeaning.values()];
  }

  // The names of formulas that answer, what the words are, and what is nearest if none answers.
  function find(query) {
    const answer = (found, others = {}) => ({ terms: [], nearest: [], topic: "", unknown: [], ...others, formulas: [...new Set(found)].map((one) => one.name) });
    const namesOf = (found) => found.map((one) => one.name);
    const text = ` ${plain(query)} `, asked = words(query);
    for (const term of termsOf(text, tables.elsewhere)) {
      if (formulas.some((one) => one.named.some((named) => named.includes(` ${term.stems} `)))) continue;
      const nearest = term.formulas.map((name) => byShort.get(name)), own = new Set(term.stems.split(" "));
      const rest = asked.filter((word) => !own.has(word));
      const answering = nearest.filter((one) => rest.length && rest.every((word) => one.tags.includes(word)));
      return answer(answering, { terms: [[term.spelling, term.meaning]], nearest: answering.length ? [] : namesOf(nearest), topic: term.meaning });
    }
    const inside = termsOf(text, tables.terms);
    const meant = new Map(asked.map((word) => [word, known(word)]));
    const ranking = ranked([...meant.values()].filter(Boolean), asked.join(" "));
    const ofTerms = new Set(inside.flatMap((term) => term.stems.split(" ")));
    const carrying = new Map([...meant].filter(([word, one]) => !ofTerms.has(word) && !general.has(word) && (one || !/^\p{N}/u.test(word))));
    const unknown = [...carrying].filter(([, one]) => !one).map(([word]) => word);
    const isNamed = ranking.some((one) => one.named.some((named) => named.trim().includes(" ") && text.includes(named)));
    const least = unknown.length && !isNamed ? numbers.covered : numbers.coveredKnown;
    const answering = Math.max(0, ...ranking.map((one) => covered(carrying, one))) >= least ? ranking : [];
    if (inside.length) {
      const named = inside.flatMap((term) => term.formulas.map((name) => byShort.get(name)));
      const isKnown = answering.length && [...ofTerms].every((word) => meant.get(word));
      return answer(isKnown ? [...answering, ...named] : [...named, ...answering], { terms: inside.map((term) => [term.spelling, term.meaning]) });
    }
    if (answering.length) return answer(answering);
    const missing = unknown.map((word) => typed(query).findLast((one) => stem(one) === word) ?? word);
    return answer([], { nearest: namesOf(ranking.slice(0, numbers.nearest)), unknown: missing });
  }

  return find;
}
