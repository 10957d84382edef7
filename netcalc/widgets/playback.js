// Packets along a path: the page draws one moment; a button lets time go on, slowly.

const SVG = "http://www.w3.org/2000/svg";
const LASTS_S = [4, 8, 20, 60]; // how long the whole is played
const STEP_MS = 1000; // between two events where motion is to be reduced

const share = (at, start, end) =>
  at >= end ? 1 : Math.max(0, (at - start) / (end - start));

function timeText(seconds) {
  for (const [factor, unit] of [[1, "s"], [1e3, "ms"], [1e6, "µs"]]) {
    if (seconds * factor >= 1 || unit === "µs") return `${(seconds * factor).toPrecision(4)} ${unit}`;
  }
}

function element(name, attributes, text) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text !== undefined) made.textContent = text;
  return made;
}

function html(name, attributes, text) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text !== undefined) made.textContent = text;
  return made;
}

function render({ model, el }) {
  el.classList.add("netcalc-playback");
  const reduced = window.matchMedia("(prefers-reduced-motion: reduce)");
  const size = model.get("size");
  const words = model.get("words");
  const filled = (template, values) =>
    template.replace(/\{(\w+)\}/g, (_, name) => values[name]);
  const picture = element("svg", { viewBox: `0 0 ${size.width} ${size.height}`, role: "img" });
  const play = html("button", { type: "button" }, words.play);
  const back = html("button", { type: "button" }, words.back);
  const forth = html("button", { type: "button" }, words.forth);
  const slider = html("input", { type: "range", min: "0", max: "1000", value: "0", "aria-label": words.time });
  const slowness = html("select", { "aria-label": words.slowness });
  const clock = html("span", { class: "netcalc-play-clock" });
  const said = html("p", { role: "status" });
  const board = html("div", { class: "netcalc-play-board" });
  board.append(play, back, forth, slider, clock, slowness);
  el.append(picture, board, said);

  let at = 0; // [s] of the packets' time
  let playing = false;
  let before = null; // when the last frame was [ms]
  let timer = null;

  const x = (node) =>
    size.margin + (node * (size.width - 2 * size.margin)) / Math.max(model.get("nodes").length - 1, 1);
  const end = () => model.get("end_s");

  function events() {
    const times = [0, end()];
    for (const one of model.get("crossings")) {
      times.push(one.leaves_s, one.left_s, one.reaches_s, one.reached_s);
    }
    for (const one of model.get("waitings")) times.push(one.start_s, one.end_s);
    return [...new Set(times)].sort((one, other) => one - other);
  }

  function packet(one) {
    const span = one.end - one.start;
    const head = x(one.start + span * share(at, one.leaves_s, one.reaches_s));
    const tail = x(one.start + span * share(at, one.left_s, one.reached_s));
    const thick = one.small ? size.thick / 2 : size.thick;
    const drawn = element("rect", {
      x: Math.min(head, tail),
      y: size.line + (span > 0 ? -size.apart : size.apart) - thick / 2,
      width: Math.max(Math.abs(head - tail), size.least),
      height: thick,
      rx: 2,
      ...(one.kind === "captured"
        ? { style: "fill: var(--netcalc-accent, #0072b2)", "fill-opacity": 0.75 }
        : { fill: "none", stroke: "currentColor", "stroke-width": 2 }),
    });
    drawn.append(element("title", {}, one.packet));
    return drawn;
  }

  function draw() {
    const nodes = model.get("nodes");
    const moving = model.get("crossings").filter((one) => one.leaves_s <= at && at <= one.reached_s);
    const waiting = model.get("waitings").filter((one) => one.start_s <= at && at < one.end_s);
    const line = { x1: x(0), y1: size.line, x2: x(nodes.length - 1), y2: size.line, stroke: "currentColor" };
    const parts = [element("line", line), ...moving.map(packet)];
    nodes.forEach((name, node) => {
      parts.push(element("circle", { cx: x(node), cy: size.line, r: 6, fill: "currentColor" }));
      const place = { x: x(node), y: size.line + 48, "text-anchor": "middle", fill: "currentColor" };
      parts.push(element("text", place, name));
      const does = waiting.filter((one) => one.node === node).map((one) => one.text);
      if (does.length) {
        const anchor = node === 0 ? "start" : node === nodes.length - 1 ? "end" : "middle";
        const above = { x: x(node), y: size.line - 48, "text-anchor": anchor, fill: "currentColor" };
        parts.push(element("text", above, [...new Set(does)].join(", ")));
      }
    });
    picture.replaceChildren(...parts);
    picture.setAttribute("aria-label", model.get("description"));
    clock.textContent = timeText(at);
    slider.value = end() ? String(Math.round((1000 * at) / end())) : "0";
    slider.setAttribute("aria-valuetext", timeText(at));
    play.textContent = playing ? words.pause : at >= end() && end() ? words.again : words.play;
    if (!playing) {
      const parts_said = [
        ...moving.map((one) => filled(words.moves, {
          packet: one.packet, kind: words[one.kind], start: nodes[one.start], end: nodes[one.end],
        })),
        ...waiting.map((one) => `${nodes[one.node]} ${one.text} (${words[one.kind]})`),
      ];
      said.textContent = parts_said.length
        ? `${timeText(at)}: ${parts_said.slice(0, 6).join("; ")}${parts_said.length > 6 ? "; …" : ""}.`
        : `${filled(words.still, { time: timeText(at) })} ${model.get("description")}`;
    }
  }

  function fill() {
    const chosen = slowness.selectedIndex;
    slowness.replaceChildren(
      ...LASTS_S.map((lasts) => {
        const times = end() ? lasts / end() : 1;
        const shown = Number((times >= 1 ? times : 1 / times).toPrecision(2)).toLocaleString("en");
        const word = filled(times >= 1 ? words.slower : words.faster, { times: shown });
        return html("option", { value: String(lasts) }, word);
      }),
    );
    slowness.selectedIndex = chosen < 0 ? 1 : chosen;
  }

  function stop() {
    playing = false;
    before = null;
    clearTimeout(timer);
    draw();
  }

  function step(direction) {
    const tiny = end() * 1e-9;
    const times = events();
    const next = direction > 0
      ? times.find((time) => time > at + tiny)
      : times.findLast((time) => time < at - tiny);
    if (next !== undefined) at = next;
    draw();
    return next !== undefined && at < end();
  }

  function frame(now) {
    if (!playing || !el.isConnected) return;
    const passed = before === null ? 0 : (now - before) / 1000;
    before = now;
    at = Math.min(end(), at + (passed * end()) / Number(slowness.value));
    if (at >= end()) return stop();
    draw();
    requestAnimationFrame(frame);
  }

  function event() {
    if (!playing || !el.isConnected) return;
    if (!step(1)) return stop();
    timer = setTimeout(event, STEP_MS);
  }

  play.addEventListener("click", () => {
    if (playing) return stop();
    if (at >= end()) at = 0;
    playing = true;
    draw();
    if (reduced.matches) event();
    else requestAnimationFrame(frame);
  });
  back.addEventListener("click", () => { stop(); step(-1); });
  forth.addEventListener("click", () => { stop(); step(1); });
  slider.addEventListener("input", () => {
    at = (Number(slider.value) / 1000) * end();
    stop();
  });

  const renew = () => { at = 0; fill(); stop(); };
  model.on("change:crossings", renew);
  model.on("change:waitings", renew);
  fill();
  draw();
  return () => {
    playing = false;
    clearTimeout(timer);
    model.off("change:crossings", renew);
    model.off("change:waitings", renew);
  };
}

export default { render };
