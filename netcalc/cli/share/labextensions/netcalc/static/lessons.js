// The lessons in JupyterLab: a quiet first view, and a Run All that waits for the kernel and ends
// where it began.
//
// JupyterLab loads this file as it is: a container of module federation with one plugin, which
// asks for no module of others.
(() => {
  "use strict";

  const RUNS_ALL = new Set([
    "runmenu:run-all",
    "runmenu:restart-and-run-all",
    "notebook:run-all-cells",
    "notebook:restart-run-all",
    "notebook:restart-and-run-all",
  ]);
  const FIRST = "netcalc:first-view-done";
  const HANDS = ["wheel", "pointerdown", "keydown", "touchstart"];
  const PAUSE_MS = 100;
  const QUIET_MS = 1500;
  const KERNEL_LIMIT_MS = 60000;

  const scroller = (notebook) => notebook.node.querySelector(".jp-WindowedPanel-outer");

  /** The notebook that a command of the Run menu is for, if there is one. */
  const shown = (app) => {
    const panel = app.shell.currentWidget;
    const notebook = panel?.content;
    return notebook?.model?.cells && scroller(notebook) ? { panel, notebook } : null;
  };

  /** Where a reader is: the first cell in view, how far it is scrolled, the active cell. */
  const place = (notebook) => {
    const top = scroller(notebook).getBoundingClientRect().top;
    const first = notebook.widgets.find((cell) => {
      const box = cell.node.isConnected && cell.node.getBoundingClientRect();
      return box && box.bottom > top + 1;
    });
    const moved = first ? first.node.getBoundingClientRect().top - top : 0;
    return { first, moved, active: notebook.activeCellIndex, mode: notebook.mode };
  };

  const goTo = (notebook, { first, moved, active }) => {
    if (notebook.isDisposed) return;
    if (notebook.activeCellIndex !== active) notebook.activeCellIndex = active;
    if (!first || first.isDisposed) return;
    const box = scroller(notebook);
    const now = first.node.getBoundingClientRect().top - box.getBoundingClientRect().top;
    if (Math.abs(now - moved) > 1) box.scrollTop += now - moved;
  };

  const pause = (duration_ms) => new Promise((go) => setTimeout(go, duration_ms));

  /** Whether a kernel takes cells: before that JupyterLab clears all outputs and runs nothing. */
  const takesCells = ({ session, isReady }) =>
    session?.kernel ? session.kernel.connectionStatus === "connected" : isReady;

  const kernelOf = async ({ sessionContext }) => {
    for (let waited_ms = 0; waited_ms < KERNEL_LIMIT_MS; waited_ms += PAUSE_MS) {
      if (!sessionContext || sessionContext.isDisposed || takesCells(sessionContext)) return;
      await pause(PAUSE_MS);
    }
  };

  /** Keep a notebook where it is until a command is done and what it drew stands. */
  const stay = async (notebook, before, done) => {
    let left = false;
    const leave = ({ target }) => { // the answer to a restart is no leaving
      if (!target.closest?.(".jp-Dialog")) left = true;
    };
    HANDS.forEach((event) => window.addEventListener(event, leave, { capture: true }));
    let running = true;
    done.catch(() => {}).then(() => { running = false; });
    try {
      let quiet_ms = 0;
      while (!left && (running || quiet_ms < QUIET_MS)) {
        goTo(notebook, before);
        await pause(PAUSE_MS);
        quiet_ms = running ? 0 : quiet_ms + PAUSE_MS;
      }
    } finally {
      HANDS.forEach((event) => window.removeEventListener(event, leave, { capture: true }));
    }
  };

  /** Have each command that runs all cells end where it began. */
  const keepPlaces = (app) => {
    const execute = app.commands.execute.bind(app.commands);
    const inside = new Set(); // notebooks whose menu command runs that of the notebook
    app.commands.execute = (id, args) => {
      const { panel, notebook } = (RUNS_ALL.has(id) && shown(app)) || {};
      if (!notebook || inside.has(notebook)) return execute(id, args);
      const before = place(notebook);
      const run = async () => {
        await kernelOf(panel);
        inside.add(notebook);
        try {
          return await execute(id, args);
        } finally {
          inside.delete(notebook);
        }
      };
      const done = run();
      stay(notebook, before, done);
      return done;
    };
  };

  /** On the first opening show the lesson alone, from its top. */
  const beginQuietly = async (app) => {
    if (localStorage.getItem(FIRST)) return;
    await app.restored;
    localStorage.setItem(FIRST, "yes");
    app.shell.collapseLeft?.();
    app.shell.collapseRight?.();
  };

  const lessons = {
    id: "netcalc:lessons",
    description: "The first view of the lessons, and a Run All that ends where it began.",
    autoStart: true,
    activate: (app) => {
      keepPlaces(app);
      beginQuietly(app);
    },
  };

  const container = {
    init: () => {},
    get: async (module) => {
      if (module !== "./extension") throw new Error(`no module ${module}`);
      return () => ({ __esModule: true, default: [lessons] });
    },
  };
  (window._JUPYTERLAB ??= {}).netcalc = container;
})();
