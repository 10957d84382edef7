// The table of the class, drawn again every two seconds. Names are text, never markup.
const base = document.body.dataset.base;
const form = document.getElementById("ends");
const rows = document.getElementById("rows");
const summary = document.getElementById("summary");

let isPressed = false;
for (const begins of ["pointerdown", "keydown"]) rows.addEventListener(begins, () => { isPressed = true; });
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
      : "The server does not answer: the class has ended.";
    return;
  }
  if (isPressed) return; // a button under the finger stays where it is
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
  const students = new Set(told.rows.map((one) => one.student)).size;
  summary.textContent = `${students} students, ${kernels} kernels, ${Math.round(memory / 1e6)} MB`;
}

draw();
setInterval(draw, 2000);
