"use strict";
/* The tables by stratum and option: one shown at a time, chosen by the reader. */
(() => {
  const data = JSON.parse(document.getElementById("views").textContent);
  const pick = (id) => document.getElementById(id);
  const make = (tag, cls, text) => {
    const node = document.createElement(tag);
    if (cls) node.className = cls;
    if (text !== undefined && text !== null) node.textContent = text;
    return node;
  };
  const say = (text, ...values) => {
    let next = 0;
    return (data.words[text] || text).replace(/\{(\d*)\}/g, (_, place) => values[place || next++]);
  };
  const percent = (value) => (value === null ? "–" : (100 * value).toFixed(1));
  const signed = (value) => (value === null ? "–" : (value > 0 ? "+" : "") + percent(value));
  /* Both ends of a value while answers are unclear, the lower one first; else one number. */
  const range = (write, join) => (value, other) =>
    join([...new Set([value, other].sort((a, b) => a - b).map(write))]);
  const percents = range(percent, (shown) => shown.join("–"));
  const differences = range(signed, (shown) => (shown.length > 1 ? say("{} to {}", ...shown) : shown[0]));

  function fill(select, names, label) {
    const before = select.value;
    select.replaceChildren(...names.map((name) => {
      const option = make("option", "", label(name));
      option.value = name;
      return option;
    }));
    if (names.includes(before)) select.value = before;
  }

  function draw(table, heads, rows) {
    const head = make("tr");
    heads.forEach(([text, numeric]) => head.append(make("th", numeric ? "num" : "", text)));
    const body = make("tbody");
    for (const cells of rows) {
      const row = make("tr");
      cells.forEach((cell, index) => {
        const [text, note] = Array.isArray(cell) ? cell : [cell, ""];
        const node = make("td", heads[index][1] ? "num" : "task", text);
        if (note) node.append(make("small", "", note));
        row.append(node);
      });
      body.append(row);
    }
    const top = make("thead");
    top.append(head);
    table.replaceChildren(top, body);
  }

  const models = data.models.map((name) => [name, true]);
  const kinds = new Map(data.breakdowns.map((table) => [table.kind, table.kind_label]));

  function drawStrata() {
    const kind = pick("stratum-kind").value;
    const tasks = data.breakdowns.filter((table) => table.kind === kind).map((table) => table.task);
    fill(pick("stratum-task"), tasks, (task) => task || say("all tasks"));
    const task = pick("stratum-task").value;
    const found = data.breakdowns.find((table) => table.kind === kind && table.task === task);
    const write = task ? percent : signed;
    const both = task ? percents : differences;
    pick("stratum-note").textContent = found.rows.length < found.of
      ? say("{} of {} rows", found.rows.length, found.of) +
        say(": hardest and easiest")
      : say("{} rows", found.of);
    draw(pick("stratum-table"), [[kinds.get(kind), false], [say("items"), true], [say("mean"), true], ...models],
      found.rows.map(([name, items, mean, low, high, values, meanIfRight, ifRight]) => [name, items,
        [both(mean, meanIfRight), low === null ? "" : say("{} to {}", write(low), write(high))],
        ...values.map((value, index) => both(value, ifRight[index]))]));
  }

  function drawOptions() {
    const found = data.options.find((table) => table.task === pick("option-task").value);
    pick("option-note").textContent = found.rows.length < found.of
      ? say("{} of {} options", found.rows.length, found.of)
      : say("{} options", found.of);
    draw(pick("option-table"),
      [[say("option"), false], [say("as reference"), true], ...models,
        [say("chosen instead"), false], [say("wrongly chosen"), true]],
      found.rows.map(([name, items, rates, instead, wrongly, ifRight]) =>
        [name, items, ...rates.map((rate, index) => percents(rate, ifRight[index])), instead, wrongly]));
  }

  if (data.breakdowns.length) {
    fill(pick("stratum-kind"), [...kinds.keys()], (kind) => kinds.get(kind));
    for (const id of ["stratum-kind", "stratum-task"])
      pick(id).addEventListener("change", drawStrata);
    drawStrata();
  }
  if (data.options.length) {
    fill(pick("option-task"), data.options.map((table) => table.task), (task) => task);
    pick("option-task").addEventListener("change", drawOptions);
    drawOptions();
  }
})();
