"use strict";
/* The filters of a leaderboard: which rows are shown, and over which items the values are. */
(() => {
  const { make, say, percent, load } = keju;
  const table = document.getElementById("board");
  const view = document.getElementById("view");
  const filters = [...document.querySelectorAll("[data-filter]")];
  const rows = [...table.querySelectorAll("tr[data-entry]")];
  const original = new Map();
  let data = null;

  const cell = (row, name) => row.querySelector(`[data-cell="${name}"]`);

  function fill(node, value, bounds, ifRight = value) {
    const ends = [value, ifRight].sort((a, b) => a - b).map(percent);
    node.textContent = [...new Set(ends)].join("–");
    node.classList.toggle("none", value === null);
    if (bounds) {
      const note = say("{} to {}", percent(bounds[0]), percent(bounds[1]));
      node.append(make("small", "", note));
    }
  }

  function keep() {
    for (const row of rows) {
      original.set(row, [...row.querySelectorAll("[data-cell]")].map((each) =>
        [each, [...each.childNodes].map((node) => node.cloneNode(true)), each.className]));
    }
  }

  function restore() {
    for (const cells of original.values()) {
      for (const [node, children, cls] of cells) {
        node.replaceChildren(...children.map((each) => each.cloneNode(true)));
        node.className = cls;
      }
    }
  }

  function drawView(name) {
    const place = data.views.indexOf(name);
    for (const row of rows) {
      const found = (data.rows[row.dataset.entry] || [])[place];
      data.protocols.forEach((protocol, index) => {
        const [value, bounds, ifRight] = (found && found[0][index]) || [null, null];
        fill(cell(row, `value-${protocol}`), value, bounds, ifRight);
        const rank = cell(row, `rank-${protocol}`);
        rank.textContent = "–";
        rank.classList.add("none");
      });
      cell(row, "tasks").textContent = found && found[1] ? found[1] : "–";
    }
  }

  function sort() {
    const value = (row) => {
      for (const protocol of ["strict", "official"]) {
        const node = cell(row, `value-${protocol}`);
        const found = node ? parseFloat(node.firstChild.textContent) : NaN;
        if (!Number.isNaN(found)) return found;
      }
      return -1e9;
    };
    for (const body of table.tBodies) {
      const its = rows.filter((row) => row.parentNode === body);
      const values = new Map(its.map((row) => [row, value(row)]));
      body.append(...its.sort((a, b) => values.get(b) - values.get(a)));
    }
  }

  function choose() {
    let shown = 0;
    for (const row of rows) {
      row.hidden = filters.some((each) => each.value && row.dataset[each.dataset.filter] !== each.value);
      if (!row.hidden) shown += 1;
    }
    for (const body of table.tBodies)
      body.hidden = !rows.some((row) => row.parentNode === body && !row.hidden);
    const note = view.value ? ` · ${say("Ranks are tested only over all items, not over a selection.")}` : "";
    document.getElementById("shown").textContent =
      say("{} of {} rows", shown, rows.length) + note;
  }

  async function change() {
    if (view.value && !data) {
      data = await load(`data/boards/${table.dataset.board}/board`).catch(() => null);
      if (!data) {
        view.value = "";
        document.getElementById("shown").textContent = say("A file of this site could not be loaded. Load the page again, or check that the site is complete.");
        return;
      }
    }
    if (view.value) drawView(view.value);
    else restore();
    sort();
    choose();
    remember();
  }

  function remember() {
    const state = new URLSearchParams();
    if (view.value) state.set("items", view.value);
    for (const each of filters) if (each.value) state.set(each.dataset.filter, each.value);
    history.replaceState(null, "", `${location.pathname}${state.size ? `#${state}` : ""}`);
    const other = document.getElementById("language");
    other.href = `${other.getAttribute("href").split("#")[0]}${state.size ? `#${state}` : ""}`;
  }

  function read() {
    const state = new URLSearchParams(location.hash.slice(1));
    const set = (select, value) => {
      if ([...select.options].some((each) => each.value === value)) select.value = value;
    };
    set(view, state.get("items") || "");
    for (const each of filters) set(each, state.get(each.dataset.filter) || "");
    return change();
  }

  keep();
  for (const each of [view, ...filters]) each.addEventListener("change", change);
  document.getElementById("filters").addEventListener("submit", (event) => event.preventDefault());
  window.addEventListener("hashchange", read);
  if (location.hash) read();
  else choose();
})();
