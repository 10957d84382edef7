// The table of the class, drawn again every two seconds. Names are text, never markup.
const base = document.body.dataset.base;
const form = document.getElementById("ends");
const rows = document.getElementById("rows");
const summary = document.getElementById("summary");
const crowds = document.getElementById("crowds");

let isPressed = false;
for (const place of [rows, crowds]) {
  for (const begins of ["pointerdown", "keydown"]) place.addEventListener(begins, () => { isPressed = true; });
}
for (const ends of ["pointerup", "pointercancel", "keyup", "blur"]) {
  addEventListener(ends, () => { isPressed = false; });
}

async function end(what, which) {
  const body = new URLSearchParams(new FormData(form));
  body.set("what", what);
  body.set("which", which);
  const answer = await fetch(`${base}teacher/end`, { method: "POST", body }).catch(() => null);
  await draw();
  if (answer && !answer.ok) window.alert(`That was refused (${answer.status}): load this page again.`);
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  const what = event.submitter.value;
  const question = what === "class" ? "End the class for everyone?" : "End all kernels?";
  if (window.confirm(question)) end(what, "");
});

function cell(row, text, kind) {
  const made = row.insertCell();
  made.textContent = text;
  if (kind) made.className = kind;
  return made;
}

function button(place, label, name, key, act) {
  const made = document.createElement("button");
  made.textContent = label;
  made.dataset.key = `${label} ${key}`;
  made.setAttribute("aria-label", `${label}: ${name}`);
  made.addEventListener("click", act);
  place.append(made, " ");
}

function since(seconds) {
  const minutes = Math.floor(seconds / 60);
  return minutes < 1 ? "now" : `${minutes} min`;
}

// What comes from one address, and the buttons against it. Drawn again only where it has changed: it is read aloud.
let crowdsDrawn = "";
function drawCrowds(told) {
  const drawn = JSON.stringify(told);
  if (drawn === crowdsDrawn) return;
  crowdsDrawn = drawn;
  crowds.replaceChildren();
  for (const { address, names, wrong } of told) {
    const line = document.createElement("p");
    const parts = [];
    if (names) parts.push(`${names} names from ${address} within a minute`);
    if (wrong) parts.push(`${wrong} wrong codes from ${address}`);
    line.append(`${parts.join("; ")}. `);
    if (names) {
      button(line, "Send away those without a lesson", address, address, () => end("idle of address", address));
      button(line, "Send away all of this address", address, address, () => {
        if (window.confirm(`Send away all who entered from ${address}, and end their lessons?`)) end("all of address", address);
      });
    }
    crowds.append(line);
  }
}

async function draw() {
  let told, isOut = false;
  try {
    const answer = await fetch(`${base}teacher/state`);
    isOut = answer.redirected || answer.status === 403 || answer.status === 404;
    if (!answer.ok || isOut) throw new Error(answer.status);
    told = await answer.json();
  } catch {
    summary.textContent = isOut
      ? "You are no longer logged in here: load this page again and enter the key."
      : "The server does not answer. If it was killed, continue the class: netcalc classroom --resume";
    return;
  }
  if (isPressed) return; // a button under the finger stays where it is
  drawCrowds(told.crowds);
  const focused = document.activeElement?.dataset.key;
  rows.replaceChildren();
  let kernels = 0, memory = 0;
  for (const one of told.rows) {
    const row = rows.insertRow();
    cell(row, one.name);
    cell(row, one.lesson);
    cell(row, since(told.now_s - one.since_s));
    cell(row, one.kernel ? `${Math.round(one.memory_bytes / 1e6)} MB` : "", "number");
    cell(row, one.doing);
    const buttons = row.insertCell();
    if (one.kernel) {
      button(buttons, "End kernel", `${one.name}, ${one.lesson}`, one.kernel, () => end("kernel", one.kernel));
      kernels += 1;
      memory += one.memory_bytes;
    }
    button(buttons, "Send away", one.name, one.kernel || one.student, () => {
      if (window.confirm(`Send ${one.name} away?`)) end("student", one.student);
    });
  }
  for (const one of rows.querySelectorAll("button")) {
    if (focused && one.dataset.key === focused) one.focus();
  }
  const more = told.not_shown ? `, ${told.not_shown} without a lesson not shown` : "";
  summary.textContent = `${told.students} students, ${kernels} kernels, ${Math.round(memory / 1e6)} MB${more}`;
}

draw();
setInterval(draw, 2000);
