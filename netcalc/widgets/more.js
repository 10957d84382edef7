// A button that shows and hides the controls behind it. The page alone does it: nothing waits for
// a kernel, and the style sheet hides the controls until the button says that they are shown.

function render({ model, el }) {
  const button = Object.assign(document.createElement("button"), { type: "button" });
  button.className = "netcalc-more-button";
  const words = model.get("words");
  const name = () => {
    const box = el.closest(".netcalc-panel")?.querySelector(".netcalc-more-controls");
    if (!box) return;
    box.id ||= `netcalc-more-${Math.random().toString(36).slice(2)}`;
    button.setAttribute("aria-controls", box.id);
  };
  const show = (open) => {
    button.setAttribute("aria-expanded", String(open));
    button.textContent = `${words[open ? "fewer" : "more"]} (${model.get("count")})`;
    name();
  };
  button.addEventListener("click", () => {
    const open = button.getAttribute("aria-expanded") !== "true";
    show(open);
    try {
      model.set("is_open", open); // another view of the panel begins as this one is
      model.save_changes();
    } catch {
      // No kernel is connected: the button works without.
    }
  });
  el.append(button);
  show(model.get("is_open"));
  requestAnimationFrame(name); // a front end may put it into its panel only now
  return () => el.replaceChildren();
}

export default { render };
