// A file from the reader's machine, in pieces that every web socket carries; too large a file is
// refused before a byte of it is read.

const PIECE = 1 << 20;

function render({ model, el }) {
  const label = document.createElement("label");
  const accept = model.get("accept");
  const input = Object.assign(document.createElement("input"), { type: "file", accept });
  const note = Object.assign(document.createElement("span"), { className: "netcalc-note" });
  note.setAttribute("role", "status");
  label.append(`${model.get("label")}: `, input);
  el.classList.add("netcalc-upload");
  el.append(label, note);

  const say = (text) => (note.textContent = text);
  const send = async (file) => {
    const limit = model.get("max_bytes");
    const upload = Math.random().toString(36).slice(2);
    if (file.size > limit) {
      model.send({ kind: "refused", name: file.name, size: file.size });
      return;
    }
    for (let at = 0; at === 0 || at < file.size; at += PIECE) {
      const piece = await file.slice(at, at + PIECE).arrayBuffer();
      const last = at + PIECE >= file.size;
      model.send({ kind: "piece", upload, name: file.name, last }, undefined, [piece]);
      if (file.size > PIECE) say(`${Math.round((100 * Math.min(at + PIECE, file.size)) / file.size)} %`);
    }
    say("");
  };
  input.addEventListener("change", () => {
    const [file] = input.files;
    if (file) send(file).catch((error) => say(model.get("failed").replace("{reason}", () => error.message)));
    input.value = ""; // the same file can be chosen again
  });
  return () => el.replaceChildren();
}

export default { render };
