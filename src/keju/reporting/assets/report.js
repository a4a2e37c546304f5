"use strict";
/* The item browser. Everything shown is set as text, never as markup: answers are hostile. */
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const list = document.getElementById("list");
  const panel = document.getElementById("item");
  const pick = (id) => document.getElementById(id);
  const state = { shown: [], at: 0, limit: 200 };

  const make = (tag, cls, text) => {
    const node = document.createElement(tag);
    if (cls) node.className = cls;
    if (text !== undefined && text !== null) node.textContent = text;
    return node;
  };
  const percent = (value) => (value === null ? "–" : (100 * value).toFixed(1));
  const answerBy = (item, model) => item.answers.find((answer) => answer.model === model);
  const mainOf = (answer) => (answer && answer.main !== undefined ? answer.main : null);

  function choose() {
    const task = pick("task").value;
    const model = pick("model").value;
    const word = pick("word").value.trim().toLowerCase();
    const order = pick("order").value;
    state.shown = data.items.filter((item) =>
      (!task || item.task === task) && (!model || answerBy(item, model)) &&
      (!word || item.search.includes(word)));
    const value = (item) => {
      const shown = item.answers.filter((a) => !model || a.model === model);
      const real = shown.filter((a) => !a.model.startsWith("baseline:"));
      const values = (real.length ? real : shown).map(mainOf).filter((v) => v !== null);
      return values.length ? values.reduce((a, b) => a + b) / values.length : null;
    };
    state.value = value;
    if (order !== "file") {
      const sign = order === "worst" ? 1 : -1;
      const rank = new Map(state.shown.map((item) => [item, value(item)]));
      state.shown.sort((a, b) => {
        const x = rank.get(a), y = rank.get(b);
        if (x === null || y === null) return (x === null) - (y === null);
        return sign * (x - y);
      });
    }
    state.limit = 200;
    state.at = 0;
    drawList();
    drawItem();
  }

  function drawList() {
    list.replaceChildren();
    pick("count").textContent = `${state.shown.length} of ${data.items.length} items`;
    state.shown.slice(0, state.limit).forEach((item, index) => {
      const button = make("button");
      button.type = "button";
      const name = make("span", "id", item.id);
      name.append(make("small", "", `${item.task} ${item.task_name}`));
      button.append(name, make("span", "val", percent(state.value(item))));
      button.addEventListener("click", () => go(index));
      const row = make("li");
      row.append(button);
      list.append(row);
    });
    if (state.shown.length > state.limit) {
      const more = make("button", "", `show ${Math.min(200, state.shown.length - state.limit)} more`);
      more.type = "button";
      more.addEventListener("click", () => { state.limit += 200; drawList(); mark(); });
      const row = make("li");
      row.append(more);
      list.append(row);
    }
    mark();
  }

  function mark() {
    [...list.querySelectorAll("button")].forEach((button, index) => {
      button.setAttribute("aria-current", String(index === state.at));
    });
  }

  function go(index) {
    if (index < 0 || index >= state.shown.length) return;
    state.at = index;
    if (index >= state.limit) { state.limit = index + 200; drawList(); }
    mark();
    const button = list.querySelectorAll("button")[index];
    if (button) button.scrollIntoView({ block: "nearest" });
    drawItem();
  }

  function difference(pairs) {
    const box = make("div", "diff");
    const cell = (kind, above, below, words) => {
      const span = make("span", kind);
      if (words) span.title = words;
      span.append(make("b", "", above), make("b", "", below));
      box.append(span);
    };
    for (const [kind, truth, answer] of pairs) {
      const above = Array.from(truth), below = Array.from(answer);
      if (kind === "brk") box.append(make("span", "brk"));
      else if (kind === "eq") above.forEach((c, i) => cell("eq", c, below[i]));
      else if (kind === "del") above.forEach((c) => cell("del", c, "▁", `missing: ${c}`));
      else if (kind === "ins") below.forEach((c) => cell("ins", "▁", c, `added: ${c}`));
      else above.forEach((c, i) => cell(kind, c, below[i],
        kind === "var" ? `variant: ${below[i]} for ${c}` : `read ${below[i]} for ${c}`));
    }
    return box;
  }

  function drawAnswer(item, answer) {
    const part = make("section", "answer-of");
    const head = make("h4", "", answer.model);
    if (answer.status !== "answered") head.append(make("span", "tag bad", answer.status));
    if (answer.verdict && answer.verdict !== "ok" && answer.verdict !== answer.status)
      head.append(make("span", "tag bad", answer.verdict));
    if (answer.extracted)
      head.append(make("span", "tag", `taken: ${answer.extracted} (${answer.extracted_from})`));
    part.append(head);
    const scores = make("ul", "scores");
    for (const [protocol, metric, value, reason, main] of answer.scores) {
      const row = make("li", main ? "main" : "",
        `${protocol} ${metric} ${value === null ? "unscored" : percent(value)}`);
      if (reason) row.title = reason;
      scores.append(row);
    }
    part.append(scores);
    if (answer.error) part.append(make("p", "soft", answer.error));
    if (answer.diff) {
      part.append(make("p", "soft", "truth above, answer below"), difference(answer.diff));
      const raw = make("details");
      raw.append(make("summary", "", "the answer as it came"), make("div", "plain", answer.text));
      part.append(raw);
    } else if (answer.text) {
      part.append(make("div", "plain", answer.text));
    }
    return part;
  }

  function drawItem() {
    panel.replaceChildren();
    const item = state.shown[state.at];
    if (!item) { panel.append(make("p", "soft", "no item fits")); return; }
    panel.append(make("h3", "", `${item.id} · ${item.task} ${item.task_name}`));
    const view = make("div", item.images.length ? "pair-view" : "");
    if (item.images.length) {
      const pictures = make("div");
      for (const index of item.images) {
        const picture = make("img", "picture");
        picture.src = data.images[index];
        picture.alt = `picture of ${item.id}`;
        picture.addEventListener("click", () => picture.classList.toggle("full"));
        pictures.append(picture);
      }
      view.append(pictures);
    }
    const side = make("div");
    side.append(make("p", "question", item.question));
    if (item.options.length) {
      const options = make("ul", "options");
      item.options.forEach((text, index) => {
        const letter = String.fromCharCode(65 + index);
        const row = make("li", letter === item.truth ? "true" : "",
          `${letter}、${text}${letter === item.truth ? "  ✓" : ""}`);
        options.append(row);
      });
      side.append(options);
    } else {
      const truth = make("details");
      truth.append(make("summary", "", "the true answer"), make("div", "plain", item.truth));
      side.append(truth);
    }
    if (item.note) side.append(make("p", "soft", item.note));
    const wanted = pick("model").value;
    item.answers.filter((a) => !wanted || a.model === wanted)
      .forEach((answer) => side.append(drawAnswer(item, answer)));
    view.append(side);
    panel.append(view);
  }

  function show(item) {
    if (!state.shown.includes(item)) {
      for (const id of ["task", "model", "word"]) pick(id).value = "";
      choose();
    }
    go(state.shown.indexOf(item));
    pick("items").scrollIntoView();
  }

  for (const button of document.querySelectorAll("button[data-item]"))
    button.addEventListener("click", () => show(data.items[Number(button.dataset.item)]));
  for (const id of ["task", "model", "order"]) pick(id).addEventListener("change", choose);
  pick("word").addEventListener("input", choose);
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (/^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName)) return;
    if (event.key === "j") go(state.at + 1);
    else if (event.key === "k") go(state.at - 1);
  });
  choose();
})();
