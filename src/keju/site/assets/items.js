"use strict";
/* The items of a board: a list with a search, and one item with every model's answer. An item has
   a permanent address: #t=TASK&i=ID. */
(async () => {
  const { make, say, percent, load, label } = keju;
  const pick = (id) => document.getElementById(id);
  const board = pick("browser").dataset.board;
  const LIMIT = 200;
  const PER_SHARD = 32;
  const folder = `data/boards/${board}`;
  const [index, entries] = await Promise.all([load(`${folder}/index`), load(`${folder}/entries`)]);
  const places = [];
  index.forEach(([name, , , ids, words], task) => ids.forEach((id, number) => places.push(
    { task, number, id, name, words: `${id}\n${words[number]}`.toLowerCase() })));
  const order = new Map(entries.map(([id], place) => [id, place]));
  const bundles = [...new Set(entries.map(([, , bundle]) => bundle))];
  const state = { shown: places, limit: LIMIT, open: null };
  const links = new Map();

  function search() {
    const task = pick("task").value;
    const word = pick("word").value.trim().toLowerCase();
    state.shown = places.filter((each) =>
      (!task || each.name === task) && (!word || each.words.includes(word)));
    state.limit = LIMIT;
    drawList();
  }

  function drawList() {
    pick("count").textContent = say("{} of {} items", state.shown.length, places.length);
    links.clear();
    const rows = state.shown.slice(0, state.limit).map((place) => {
      const link = make("a", "", "");
      link.href = address(place);
      links.set(place, link);
      link.append(make("span", "id", place.id), make("small", "", place.name));
      const row = make("li");
      row.append(link);
      return row;
    });
    if (state.shown.length > state.limit) {
      const more = make("button", "", say("Show more"));
      more.type = "button";
      more.addEventListener("click", () => {
        state.limit += LIMIT;
        drawList();
      });
      const row = make("li");
      row.append(more);
      rows.push(row);
    }
    pick("list").replaceChildren(...rows);
    markOpen();
  }

  // The list is not drawn again when an item opens: the link that has the keyboard would go.
  function markOpen() {
    for (const [place, link] of links)
      if (place === state.open) link.setAttribute("aria-current", "true");
      else link.removeAttribute("aria-current");
  }

  const address = (place) => `#${new URLSearchParams({ t: place.name, i: place.id })}`;
  const taskName = (name) =>
    [...pick("task").options].find((each) => each.value === name)?.textContent || name;

  async function open(place) {
    state.open = place;
    markOpen();
    const panel = pick("item");
    const shard = Math.floor(place.number / PER_SHARD);
    const at = place.number % PER_SHARD;
    const file = `${index[place.task][1]}-${shard}`;
    const head = make("div");
    head.append(make("h2", "", place.id), make("p", "soft", taskName(place.name)));
    panel.replaceChildren(head, make("p", "soft", say("Loading …")));
    const item = (await load(`${folder}/items/${file}`).catch(() => []))[at];
    const found = await Promise.all(bundles.map((bundle) =>
      load(`data/bundles/${bundle}/answers/${board}/${file}`).then((rows) => rows[at] || [])
        .catch(() => null)));
    if (state.open !== place) return;
    const answers = found.flatMap((each) => each || []);
    answers.sort((a, b) => order.get(a[0]) - order.get(b[0]) || a[1] - b[1]);
    panel.replaceChildren(head, ...describe(item), ...missing(found), ...table(place, answers),
      ...answers.map((answer) => draw(place, answer)));
  }

  const missing = (found) => found.includes(null) ? [make("p", "notice", say("A file of this site could not be loaded. Load the page again, or check that the site is complete."))] : [];

  function describe(item) {
    if (!item) return [];
    const [hash, group, filters, images, texts] = item;
    const nodes = [];
    if (texts) {
      const [question, options, reference, metadata] = texts;
      if (question) nodes.push(make("p", "question", question));
      if (options.length) {
        const list = make("ol", "options");
        list.append(...options.map((each) => make("li", "", each)));
        nodes.push(list);
      }
      nodes.push(make("h3", "", say("Reference")), make("div", "plain", reference || "–"));
      if (metadata.length)
        nodes.push(make("p", "soft", metadata.map((pair) => pair.join(": ")).join(" · ")));
    } else {
      const known = filters.filter((each) => each);
      if (known.length) nodes.push(make("p", "soft", known.join(" · ")));
    }
    const hashes = make("details");
    hashes.append(make("summary", "", say("Hashes")),
      make("p", "mono", `${say("Item with its reference, SHA-256")} ${hash}`));
    if (group) hashes.append(make("p", "mono", `${say("Group")} ${group}`));
    for (const each of images) hashes.append(make("p", "mono", `${say("Image")} ${each}`));
    return [...nodes, hashes];
  }

  function table(place, answers) {
    const metrics = index[place.task][2];
    const grid = make("table");
    grid.append(make("caption", "", say("Scores of this item")));
    const top = make("tr");
    const column = (cls, text, note) => {
      const cell = make("th", cls, text);
      cell.scope = "col";
      if (note) cell.append(make("small", "", note));
      top.append(cell);
    };
    column("", say("model"));
    metrics.forEach(([protocol, metric]) => column("num", metric, protocol));
    const body = make("tbody");
    for (const [entry, round, , values] of answers) {
      const row = make("tr");
      const name = make("th", "name");
      name.scope = "row";
      const link = make("a", "", named(entry, round));
      link.href = `#a-${entry}-${round}`;
      link.addEventListener("click", (event) => {
        event.preventDefault();
        pick(`a-${entry}-${round}`).scrollIntoView();
      });
      name.append(link);
      row.append(name, ...values.map((value) =>
        make("td", value === null ? "num none" : "num", percent(value))));
      body.append(row);
    }
    const head = make("thead");
    head.append(top);
    grid.append(head, body);
    const scroll = make("div", "scroll");
    scroll.tabIndex = 0;
    scroll.setAttribute("role", "region");
    scroll.setAttribute("aria-label", say("Scores of this item"));
    scroll.append(grid);
    return [scroll];
  }

  const named = (entry, round) =>
    (entries[order.get(entry)] || [entry, entry])[1] + (round > 1 ? ` (${round})` : "");

  function draw(place, [entry, round, status, , verdict, reason, text, length, extracted]) {
    const box = make("section", "answer-of");
    box.id = `a-${entry}-${round}`;
    const head = make("h3", "", named(entry, round));
    if (status !== "answered") head.append(" ", make("span", "tag bad", label(status)));
    if (verdict !== "ok" && verdict !== "answered")
      head.append(" ", make("span", "tag", label(verdict)));
    box.append(head);
    if (text && entries[order.get(entry)]?.[4]) {
      box.append(make("div", "plain", text));
      if (length > text.length)
        box.append(make("p", "soft", say("The first {} of {} characters; the bundle contains the whole answer.", text.length, length)));
      if (extracted) box.append(make("p", "soft", say("Extracted answer: {}", extracted)));
    } else if (text && length)
      box.append(make("p", "mono", say("{} characters, SHA-256 {}", length, text)));
    if (reason) box.append(make("p", "soft", reason));
    return box;
  }

  function follow() {
    const wanted = new URLSearchParams(location.hash.slice(1));
    const task = wanted.get("t");
    const id = wanted.get("i");
    const other = pick("language");
    other.href = `${other.getAttribute("href").split("#")[0]}${location.hash}`;
    if (task !== null && id === null && pick("task").value !== task) {
      pick("task").value = index.some(([name]) => name === task) ? task : "";
      search();
    }
    const place = id === null ? state.shown[0]
      : places.find((each) => each.name === task && each.id === id);
    if (place) open(place);
    else pick("item").replaceChildren(make("p", "", say("This board has no such item.")));
  }

  let turn = 0;
  pick("word").addEventListener("input", () => {
    cancelAnimationFrame(turn);
    turn = requestAnimationFrame(search);
  });
  pick("task").addEventListener("change", search);
  pick("choose").addEventListener("submit", (event) => event.preventDefault());
  window.addEventListener("hashchange", follow);
  search();
  follow();
  performance.mark("searchable");
})();
