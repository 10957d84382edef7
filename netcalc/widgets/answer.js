// A field for one answer, with a button that checks it and one that asks for new numbers. It only
// sends; what is said about an answer comes from the kernel beside it.

const WATCH_MS = 1000; // between two looks at the kernel's connection

function made(tag, properties, attributes = {}) {
  const node = Object.assign(document.createElement(tag), properties);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  return node;
}

function render({ model, el }) {
  const words = model.get("words");
  const form = made("form", { className: "netcalc-answer" });
  const label = made("label", {});
  const field = made("input", { type: "text", autocomplete: "off", spellcheck: false, maxLength: 200 });
  const check = made("button", { type: "submit", textContent: words.check });
  const fresh = made("button", { type: "button", textContent: words.new });
  label.append(made("span", { textContent: `${words.answer} ` }), field);
  form.append(label, check, fresh);
  el.append(form);

  const describe = () => {
    field.setAttribute("aria-label", model.get("label"));
    field.placeholder = model.get("example");
    check.setAttribute("aria-label", words.check_aloud);
    fresh.setAttribute("aria-label", words.new_aloud);
  };
  describe();
  field.value = model.get("text"); // of a page that was loaded again

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    event.stopPropagation();
    model.send({ kind: "answer", text: field.value });
  });
  fresh.addEventListener("click", () => {
    field.value = "";
    model.send({ kind: "new numbers" });
    field.focus();
  });
  // Keys of a field are not commands of the notebook.
  form.addEventListener("keydown", (event) => event.stopPropagation());

  // With a kernel the text of the notebook's file is not shown beside this; without one, this is not.
  const watch = async () => {
    const own = await model.widget_manager.get_model(model.get("_own_id"));
    const live = own.comm_live && own.comm?.jsServicesComm?.isDisposed !== true;
    el.classList.toggle("netcalc-answerable", live);
    form.inert = !live;
    const box = el.closest(".netcalc-exercise");
    box?.setAttribute("role", "group");
    box?.setAttribute("aria-label", model.get("exercise"));
    // The element stays and its text changes: so it is read aloud.
    box?.querySelector(".netcalc-said")?.setAttribute("role", "status");
  };
  const watcher = setInterval(() => watch().catch(() => {}), WATCH_MS);
  watch().catch(() => {});
  return () => {
    clearInterval(watcher);
    el.replaceChildren();
  };
}

export default { render };
