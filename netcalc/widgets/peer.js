// Where an experiment runs: with a peer on a second machine, if its address is typed. The token goes
// to the kernel as a message: a part of the model would be saved with the notebook.

function render({ model, el }) {
  const words = model.get("words");
  const box = Object.assign(document.createElement("details"), { className: "netcalc-peer" });
  const summary = document.createElement("summary");
  const help = Object.assign(document.createElement("p"), { textContent: words.help });
  const field = (text, input) => {
    const label = Object.assign(document.createElement("label"), { textContent: `${text} ` });
    label.append(input);
    box.append(label);
    return input;
  };
  const input = (type) => {
    const made = Object.assign(document.createElement("input"), { type, autocomplete: "off" });
    return Object.assign(made, { spellcheck: false, autocapitalize: "off", size: 22 });
  };
  box.append(summary);
  const address = field(words.address, input("text"));
  const token = field(words.token, input("password"));
  token.autocomplete = "new-password"; // browsers offer to keep any other
  const directions = Object.entries(model.get("directions"));
  const direction = document.createElement("select");
  direction.append(...directions.map(([value, text]) => new Option(text, value)));
  if (directions.length) field(words.direction, direction);
  box.append(help);
  el.append(box);

  const set = (name, value) => {
    model.set(name, value);
    model.save_changes();
  };
  const whenTyped = (typed, take) => {
    typed.addEventListener("change", take);
    typed.addEventListener("keydown", ({ key }) => key === "Enter" && take()); // front ends take it
  };
  whenTyped(address, () => set("address", address.value.trim()));
  whenTyped(direction, () => set("direction", direction.value));
  whenTyped(token, () => {
    if (token.value) model.send({ token: token.value });
    token.value = "";
  });
  // Each by itself: what comes for the one must not undo what is being typed into the other.
  const showAddress = () => {
    const at = (address.value = model.get("address"));
    summary.textContent = at ? `${words.title}: ${at}` : words.title;
  };
  const showDirection = () => (direction.value = model.get("direction"));
  const showToken = () => (token.placeholder = model.get("has_token") ? words.has_token : "");
  const shows = { address: showAddress, direction: showDirection, has_token: showToken };
  for (const [name, show] of Object.entries(shows)) {
    model.on(`change:${name}`, show);
    show();
  }
  return () => {
    for (const [name, show] of Object.entries(shows)) model.off(`change:${name}`, show);
    el.replaceChildren();
  };
}

export default { render };
