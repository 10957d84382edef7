"use strict";
// What functions made of recorded models call: the operations of numpy that JavaScript lacks or
// has otherwise. A list of numbers is an Array; each operation takes numbers, lists or both.
var netcalc = (function () {
  class Refusal extends Error {
    constructor(code, values) {
      super(code);
      this.name = "Refusal";
      this.code = code;
      this.values = values;
    }
  }

  const scalar = {
    add: (a, b) => a + b,
    subtract: (a, b) => a - b,
    multiply: (a, b) => a * b,
    divide: (a, b) => a / b,
    negative: (a) => -a,
    positive: (a) => +a,
    number: (a) => +a,
    less: (a, b) => a < b,
    less_equal: (a, b) => a <= b,
    greater: (a, b) => a > b,
    greater_equal: (a, b) => a >= b,
    equal: (a, b) => a == b,
    not_equal: (a, b) => a != b,
    logical_and: (a, b) => a && b,
    logical_or: (a, b) => a || b,
    logical_not: (a) => !a,
    isnan: (a) => a !== a,
    isfinite: (a) => isFinite(a),
    isinf: (a) => a === Infinity || a === -Infinity,
    signbit: (a) => a < 0 || Object.is(a, -0),
    where: (c, a, b) => (c ? a : b),
    maximum: (a, b) => Math.max(a, b),
    minimum: (a, b) => Math.min(a, b),
    fmax: (a, b) => (a !== a ? b : b !== b ? a : Math.max(a, b)),
    fmin: (a, b) => (a !== a ? b : b !== b ? a : Math.min(a, b)),
    absolute: (a) => Math.abs(a),
    fabs: (a) => Math.abs(a),
    sign: (a) => (a > 0 ? 1 : a < 0 ? -1 : a === 0 ? 0 : NaN),
    sqrt: Math.sqrt,
    cbrt: Math.cbrt,
    exp: Math.exp,
    exp2: (a) => Math.pow(2, a),
    expm1: Math.expm1,
    log: Math.log,
    log2: Math.log2,
    log10: Math.log10,
    log1p: Math.log1p,
    tanh: Math.tanh,
    sin: Math.sin,
    cos: Math.cos,
    tan: Math.tan,
    arctan: Math.atan,
    hypot: Math.hypot,
    floor: Math.floor,
    ceil: Math.ceil,
    trunc: Math.trunc,
    reciprocal: (a) => 1 / a,
    // 1 to any power is 1, as is -1 to an infinite one: IEEE 754, not ECMAScript. numpy takes the
    // square root for the power of a half, which differs for -0 and -inf.
    power: (a, b) => (b === 0.5 ? Math.sqrt(a) : a === 1 || (a === -1 && (b === Infinity || b === -Infinity)) ? 1 : Math.pow(a, b)),
    // The even one of two whole numbers that are equally near; 2^52 and beyond have no fractions.
    rint(a) {
      if (!(Math.abs(a) < 4503599627370496)) return a;
      const low = Math.floor(a), part = a - low;
      const near = part < 0.5 ? low : part > 0.5 ? low + 1 : low % 2 === 0 ? low : low + 1;
      return near === 0 && (a < 0 || Object.is(a, -0)) ? -0 : near;
    },
    // The remainder has the sign of the divisor.
    remainder(a, b) {
      const found = a % b;
      if (found === 0) return b < 0 ? -0 : 0;
      return found < 0 !== b < 0 ? found + b : found;
    },
    fmod: (a, b) => a % b,
    floor_divide(a, b) {
      if (b === 0) return a / b;
      const rest = scalar.remainder(a, b), found = (a - rest) / b;
      return found === 0 ? (a / b < 0 ? -0 : 0) : scalar.near_floor(found);
    },
    near_floor: (a) => (a - Math.floor(a) > 0.5 ? Math.floor(a) + 1 : Math.floor(a)),
    copysign: (a, b) => (scalar.signbit(b) ? -Math.abs(a) : Math.abs(a)),
    logaddexp(a, b) {
      if (a === b) return a + Math.LN2;
      const most = Math.max(a, b);
      return most === Infinity ? most : most + Math.log1p(Math.exp(-Math.abs(a - b)));
    },
    logaddexp2(a, b) {
      if (a === b) return a + 1;
      const most = Math.max(a, b);
      return most === Infinity ? most : most + Math.log1p(Math.pow(2, -Math.abs(a - b))) / Math.LN2;
    },
    spacing(a) {
      const size = Math.abs(a);
      if (!isFinite(size)) return NaN;
      if (size < 2.2250738585072014e-308) return 5e-324;
      let power = Math.floor(Math.log2(size));
      if (Math.pow(2, power) > size) power -= 1;
      else if (Math.pow(2, power + 1) <= size) power += 1;
      return Math.max(Math.pow(2, power - 52), 5e-324);
    },
    // The normal distribution: erfc as in Cephes (S. Moshier), its inverse by Halley's method.
    erfc(a) {
      if (a !== a) return NaN;
      if (a < 0) return 2 - scalar.erfc(-a);
      if (a < 1) return 1 - (a * polynomial(a * a, ERF_T)) / polynomial(a * a, ERF_U);
      if (a > 27.3) return 0;
      const scale = exp_of_square(a);
      return a < 8
        ? (scale * polynomial(a, ERFC_P)) / polynomial(a, ERFC_Q)
        : (scale * polynomial(a, ERFC_R)) / polynomial(a, ERFC_S);
    },
    ndtr: (a) => 0.5 * scalar.erfc(-a * Math.SQRT1_2),
    ndtri(p) {
      if (!(p >= 0 && p <= 1)) return NaN;
      if (p === 0 || p === 1) return p === 0 ? -Infinity : Infinity;
      if (p > 0.5) return p > 0.999999 ? -scalar.ndtri(1 - p) : -lower_normal(1 - p);
      return lower_normal(p);
    },
    betainc(a, b, x) {
      if (!(a > 0 && b > 0 && x >= 0 && x <= 1)) return NaN;
      if (x === 0 || x === 1) return x;
      return x > (a + 1) / (a + b + 2) ? 1 - beta_share(b, a, 1 - x, x) : beta_share(a, b, x, 1 - x);
    },
    gammaincc(a, x) {
      if (!(a >= 0 && x >= 0) || a === Infinity) return NaN;
      if (a === 0) return x === 0 ? NaN : 0;
      return x === 0 ? 1 : x === Infinity ? 0 : upper_gamma(a, x);
    },
    gammaln: (a) => (a > 0 ? (a === Infinity ? a : stirling_error(a) + (a - 0.5) * Math.log(a) - a + HALF_LOG_2PI) : a <= 0 && Number.isInteger(a) ? Infinity : NaN),
    frexp_exponent(a) {
      if (a === 0 || !isFinite(a)) return 0;
      const size = Math.abs(a);
      let power = Math.floor(Math.log2(size)) + 1;
      while (Math.pow(2, power - 1) > size) power -= 1;
      while (Math.pow(2, power) <= size) power += 1;
      return power;
    },
    frexp_mantissa: (a) => a / Math.pow(2, scalar.frexp_exponent(a)),
  };

  const ERF_T = [9.60497373987051638749, 90.0260197203842689217, 2232.00534594684319226, 7003.32514112805075473, 55592.3013010394962768];
  const ERF_U = [1, 33.5617141647503099647, 521.357949780152679795, 4594.32382970980127987, 22629.0000613890934246, 49267.3942608635921086];
  const ERFC_P = [2.46196981473530512524e-10, 0.564189564831068821977, 7.46321056442269912687, 48.6371970985681366614, 196.520832956077098242, 526.445194995477358631, 934.528527171957607540, 1027.55188689515710272, 557.535335369399327526];
  const ERFC_Q = [1, 13.2281951154744992508, 86.7072140885989742329, 354.937778887819891062, 975.708501743205489753, 1823.90916687909736289, 2246.33760818710981792, 1656.66309194161350182, 557.535340817727675546];
  const ERFC_R = [0.564189583547755073984, 1.27536670759978104416, 5.01905042251180477414, 6.16021097993053585195, 7.40974269950448939160, 2.97886665372100240670];
  const ERFC_S = [1, 2.26052863220117276590, 9.39603524938001434673, 12.0489539808096656605, 17.0814450747565897222, 9.60896809063285878198, 3.36907645100081516050];

  const polynomial = (x, factors) => factors.reduce((sum, factor) => sum * x + factor, 0);

  // exp(-a * a) to full precision: the rounding of the square is made good.
  function exp_of_square(a) {
    const high = Math.round(a * 128) / 128, low = a - high;
    return Math.exp(-high * high) * Math.exp(-(2 * high * low + low * low));
  }

  function lower_normal(p) {
    const t = Math.sqrt(-2 * Math.log(p));
    let x = -(t - (2.515517 + t * (0.802853 + t * 0.010328)) / (1 + t * (1.432788 + t * (0.189269 + t * 0.001308))));
    for (let i = 0; i < 4; i++) {
      const density = exp_of_square(x * Math.SQRT1_2) / Math.sqrt(2 * Math.PI);
      if (density === 0) break;
      const step = (scalar.ndtr(x) - p) / density;
      x -= step / (1 + (x * step) / 2);
    }
    return x;
  }

  // Incomplete beta and gamma functions: continued fractions, and in front of them the binomial and
  // the Poisson probability by C. Loader's saddle-point form, which keeps all digits of large counts.
  const HALF_LOG_2PI = 0.918938533204672741780;

  function stirling_error(n) {
    let found = 0;
    for (; n < 16; n += 1) found += (n + 0.5) * Math.log1p(1 / n) - 1;
    const square = n * n;
    return found + (1 / 12 - (1 / 360 - (1 / 1260 - (1 / 1680 - 1 / 1188 / square) / square) / square) / square) / n;
  }

  function deviance(x, mean) {
    const apart = x / 2 - mean / 2, both = x / 2 + mean / 2; // halves: no sum overflows
    if (Math.abs(apart) >= 0.1 * both) return x * (Math.log(x / mean) + mean / x - 1);
    const ratio = apart / both;
    let found = (x - mean) * ratio, term = 2 * x * ratio;
    for (let i = 1; i < 100; i++) {
      term *= ratio * ratio;
      const next = found + term / (2 * i + 1);
      if (next === found) break;
      found = next;
    }
    return found;
  }

  function beta_share(a, b, x, y) {
    const n = a + b, TINY = 1e-300;
    const exponent = stirling_error(n) - stirling_error(a) - stirling_error(b) - deviance(a, n * x) - deviance(b, n * y);
    const front = exponent < -800 ? 0 : Math.exp(exponent) * Math.sqrt((a * (b / n)) / (2 * Math.PI)) / a;
    if (front === 0) return 0;
    let c = 1, d = 1 - ((a + b) / (a + 1)) * x;
    d = 1 / (Math.abs(d) < TINY ? TINY : d);
    let found = d;
    for (let m = 1; m < 100000; m++) {
      let change = 1;
      for (const factor of [(m / (a + 2 * m - 1)) * ((b - m) / (a + 2 * m)) * x, -((a + m) / (a + 2 * m)) * ((a + b + m) / (a + 2 * m + 1)) * x]) {
        d = 1 + factor * d;
        d = 1 / (Math.abs(d) < TINY ? TINY : d);
        c = 1 + factor / c;
        if (Math.abs(c) < TINY) c = TINY;
        change = c * d;
        found *= change;
      }
      if (Math.abs(change - 1) < 2e-16) break;
    }
    return front * found;
  }

  function upper_gamma(a, x) {
    const front = Math.exp(-stirling_error(a) - deviance(a, x)) / Math.sqrt(2 * Math.PI * a); // x^a e^-x / gamma(a + 1)
    if (x < a + 1) {
      let term = 1, found = 1;
      for (let n = 1; n < 1e6 && term > found * 1e-17; n++) found += term *= x / (a + n);
      return 1 - front * found;
    }
    let b = x + 1 - a, c = 1e300, d = 1 / b, found = d;
    for (let n = 1; n < 1e6; n++) {
      const factor = -n * (n - a);
      b += 2;
      d = 1 / (factor * d + b || 1e-300);
      c = b + factor / c || 1e-300;
      found *= c * d;
      if (Math.abs(c * d - 1) < 2e-16) break;
    }
    return front * a * found;
  }

  function each(name, ...inputs) {
    return map(scalar[name], ...inputs);
  }

  function map(operation, ...inputs) {
    let length = 1, has_list = false;
    for (const one of inputs)
      if (Array.isArray(one)) {
        has_list = true;
        if (one.length !== 1) length = one.length;
      }
    if (!has_list) return operation(...inputs);
    const found = new Array(length);
    for (let i = 0; i < length; i++)
      found[i] = operation(...inputs.map((one) => (Array.isArray(one) ? one[one.length === 1 ? 0 : i] : one)));
    return found;
  }

  const list = (values) => (Array.isArray(values) ? values : [values]);

  function folded(operation, values) {
    let found = values[0];
    for (let i = 1; i < values.length; i++) found = operation(found, values[i]);
    return found;
  }

  function running(operation, values) {
    const found = values.slice();
    for (let i = 1; i < found.length; i++) found[i] = operation(found[i - 1], found[i]);
    return found;
  }

  // numpy adds eight numbers at a time, and halves of long lists.
  function sum(values) {
    const count = values.length;
    if (count < 8) return values.reduce((a, b) => a + b, 0);
    if (count > 128) {
      let half = Math.floor(count / 2);
      half -= half % 8;
      return sum(values.slice(0, half)) + sum(values.slice(half));
    }
    const part = values.slice(0, 8);
    let i = 8;
    for (; i < count - (count % 8); i += 8) for (let j = 0; j < 8; j++) part[j] += values[i + j];
    let found = part[0] + part[1] + (part[2] + part[3]) + (part[4] + part[5] + (part[6] + part[7]));
    for (; i < count; i++) found += values[i];
    return found;
  }

  // nan comes last, as numpy sorts.
  const order = (a, b) => (a !== a ? (b !== b ? 0 : 1) : b !== b ? -1 : a - b || 0);
  const compare = (a, b) => (a === b ? 0 : order(a, b));

  const lists = {
    sum: (values) => sum(list(values).map(Number)),
    prod: (values) => folded(scalar.multiply, list(values)),
    max: (values) => folded(Math.max, list(values)),
    min: (values) => folded(Math.min, list(values)),
    largest: (values) => folded(scalar.fmax, list(values)),
    least: (values) => folded(scalar.fmin, list(values)),
    any: (values) => list(values).some(Boolean),
    all: (values) => list(values).every(Boolean),
    cumsum: (values) => running(scalar.add, values),
    cumprod: (values) => running(scalar.multiply, values),
    cummax: (values) => running(Math.max, values),
    cummin: (values) => running(Math.min, values),
    sort: (values) => values.slice().sort(compare),
    argsort: (values) => values.map((_, i) => i).sort((i, j) => compare(values[i], values[j]) || i - j),
    argmax(values) {
      let at = 0;
      for (let i = 1; i < values.length; i++) {
        if (values[at] !== values[at]) return at;
        if (values[i] > values[at] || values[i] !== values[i]) at = i;
      }
      return at;
    },
    median(values) {
      if (values.some((value) => value !== value)) return NaN;
      const sorted = lists.sort(values), middle = Math.floor(sorted.length / 2);
      return sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
    },
    concatenate: (...parts) => [].concat(...parts),
    stack: (...parts) => parts,
    at: (values, index) => values[index < 0 ? values.length + index : index],
    slice(values, start, stop, step) {
      if (step === -1 && start === null && stop === null) return values.slice().reverse();
      const part = values.slice(start ?? 0, stop ?? values.length);
      return step === null || step === 1 ? part : part.filter((_, i) => i % step === 0);
    },
    take: (values, places) => map((place) => values[place], places),
    lookup: (values, places) => map((place) => values[place < 0 ? values.length + place : place], places),
    fill: (value, length) => (Array.isArray(value) ? (value.length === length ? value : new Array(length).fill(value[0])) : new Array(length).fill(value)),
    flat: (value) => (Array.isArray(value) ? value : [value]),
    lone: (value) => (Array.isArray(value) ? value[0] : value),
  };

  function note(notes, code, values) {
    if (notes && !notes.some((one) => one.code === code && one.values.name === values.name)) notes.push({ code, values });
  }

  // Notes of numbers outside a range; nan and infinities are rules of their own.
  function judge(values, where, spec, notes) {
    if (!notes) return;
    const [low, high, below, beyond, said] = spec;
    let least = Infinity, most = -Infinity;
    map((value, holds) => {
      if (holds && isFinite(value)) {
        if (value < least) least = value;
        if (value > most) most = value;
      }
    }, values, where);
    if (most > high) note(notes, beyond, { ...said, value: most, limit: high });
    if (least < low) note(notes, below, { ...said, value: least, limit: low });
  }

  // An argument as a check returns it: what is not finite as nan, what cannot be refused.
  function check(value, rule, notes) {
    const { name, code, low, high, low_open, allow_inf, is_ratio, above, limits, is_whole } = rule;
    if (is_whole) {
      for (const one of list(value))
        if (isFinite(one) && one !== Math.floor(one)) throw refusal(code, name, value, one, { low });
      return value;
    }
    let least = Infinity, most = -Infinity;
    const kept = map((one) => {
      if (one !== one || one === -Infinity || (one === Infinity && !allow_inf)) return NaN;
      if (one < least) least = one;
      if (one > most) most = one;
      return one + 0; // -0 is 0
    }, value);
    if (least <= most) {
      if (least < low || (low_open && least === low)) throw refusal(code, name, value, least, { low, high });
      if (most > high) throw is_ratio
        ? refusal("percent-for-ratio", name, value, most, { low, high, percent: most, ratio: most / 100 })
        : refusal(above || code, name, value, most, { low, high });
      if (limits && notes)
        judge([least, most], true, [...limits, "below-published-range", "beyond-published-range", { name }], notes);
    }
    return kept;
  }

  function choice(name, value, choices) {
    if (!choices.includes(value)) throw new Refusal("not-a-choice", { name, value, choices });
  }

  // The form in which an argument is given: left out, a number, a list.
  const form = (value) => (value === null || value === undefined ? "-" : Array.isArray(value) ? "*" : "+");

  // The function for these words and forms, with its own numbers.
  function picked(bodies, numbers, keys, parts) {
    const found = numbers[keys[parts.join("|")]];
    if (!found) throw new Refusal("not-on-this-page", { name: null, value: null });
    return (given, notes) => bodies[found[0]](given, notes, found[1]);
  }

  // Lists of which each is longer than the first by a number of elements.
  function lengths(given, longer, count) {
    const names = Object.keys(given);
    const first = count ?? given[names[0]].length;
    names.forEach((name, i) => {
      const expected = first + (longer[i] ?? 0);
      if (given[name].length !== expected)
        throw new Refusal("wrong-count", { name, value: null, count: given[name].length, expected });
    });
  }

  function refusal(code, name, values, value, others) {
    const index = Array.isArray(values) && values.length > 1 ? values.indexOf(value) : null;
    return new Refusal(code, { name, value, index, ...others });
  }

  return { Refusal, scalar, each, map, ...lists, lists, note, judge, check, choice, form, picked, lengths };
})();
if (typeof module !== "undefined") module.exports = netcalc;
