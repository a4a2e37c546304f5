/* The item browser. Everything shown is set as text, never as markup: answers are hostile. */
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const pick = (id) => document.getElementById(id);
  const list = pick("list");
  const panel = pick("item");
  const state = { shown: [], at: 0, limit: 200, words: [], read: 0 };
  const CHUNKS = Math.ceil(data.items.length / data.per_chunk);
  const KEPT = 12;

  const make = (tag, cls, text) => {
    const node = document.createElement(tag);
    if (cls) node.className = cls;
    if (text !== undefined && text !== null) node.textContent = text;
    return node;
  };
  const words = JSON.parse(document.getElementById("views").textContent).words;
  const say = (text, ...values) => {
    let next = 0;
    return (words[text] || text).replace(/\{(\d*)\}/g, (_, place) => values[place || next++]);
  };
  /* A value, or both ends of one while answers are unclear. */
  const ends = (value) => (Array.isArray(value) ? value : [value, value]);
  const percent = (value) => (value === null ? "–"
    : [...new Set(ends(value).map((end) => (100 * end).toFixed(1)))].join("–"));
  const kindOf = (place) => data.kinds[data.items[place][1]];

  /* Chunks of details: elements of this page, or scripts beside it. The last few are kept. */
  const chunks = new Map();
  const waiting = new Map();
  const parsed = new Promise((done) => {
    if (document.readyState !== "loading") done();
    else document.addEventListener("DOMContentLoaded", done);
  });
  window.kejuChunk = (number, items) => {
    if (waiting.has(number)) waiting.get(number)(items);
  };

  function fetchChunk(number) {
    if (data.single) {
      return parsed.then(() => JSON.parse(pick(`chunk-${number}`).textContent));
    }
    return new Promise((done, failed) => {
      waiting.set(number, done);
      const script = make("script");
      script.src = `items/${number}.js`;
      script.addEventListener("load", () => script.remove());
      script.addEventListener("error", () => failed(new Error(script.src)));
      document.head.append(script);
    });
  }

  function need(number) {
    const known = chunks.get(number) || fetchChunk(number);
    chunks.delete(number);
    chunks.set(number, known);
    if (chunks.size > KEPT) chunks.delete(chunks.keys().next().value);
    return known;
  }

  const details = (place) =>
    need(Math.floor(place / data.per_chunk)).then((items) => items[place % data.per_chunk]);

  /* For the search every item's words are read once, while nothing else is to do. */
  async function readWords() {
    const idle = window.requestIdleCallback || ((run) => setTimeout(run, 1));
    for (let number = 0; number < CHUNKS; number++) {
      const items = await need(number);
      items.forEach((item, index) => {
        const place = number * data.per_chunk + index;
        const searched = [data.items[place][0], item.question, item.truth, item.note,
          ...item.options, ...item.answers.map((answer) => answer.text)];
        state.words[place] = searched.join("\n").toLowerCase();
      });
      state.read = Math.min(data.items.length, (number + 1) * data.per_chunk);
      if (number % 8 === 0) showCount();
      await new Promise((done) => idle(done));
    }
    showCount();
    performance.mark("searchable");
    if (pick("word").value.trim()) choose();
  }

  function showCount() {
    const wanted = pick("word").value.trim();
    const shown = say("{} of {} items", state.shown.length, data.items.length);
    pick("count").textContent = wanted && state.read < data.items.length
      ? say("{} · answers loaded so far: {} of {}", shown, state.read, data.items.length) : shown;
  }

  function valueOf(place, model) {
    const values = data.items[place][2];
    if (model >= 0) return values[model];
    const there = values.map((v, index) => [v, data.floors[index]])
      .filter(([v]) => typeof v === "number" || Array.isArray(v));
    const real = there.filter(([, floor]) => !floor);
    const kept = real.length ? real : there;
    const half = kept.length / 2;
    const median = (side) => {
      const sorted = kept.map(([v]) => ends(v)[side]).sort((a, b) => a - b);
      return (sorted[Math.ceil(half) - 1] + sorted[Math.floor(half)]) / 2;
    };
    return kept.length ? [median(0), median(1)] : null;
  }

  function choose() {
    chooseItems();
    drawItem();
  }

  function chooseItems() {
    const task = pick("task").value;
    const model = data.models.indexOf(pick("model").value);
    const word = pick("word").value.trim().toLowerCase();
    const order = pick("order").value;
    const fits = (place) => {
      if (task && kindOf(place).task !== task) return false;
      if (model >= 0 && data.items[place][2][model] === false) return false;
      if (!word) return true;
      const searched = state.words[place];
      return searched === undefined ? data.items[place][0].toLowerCase().includes(word)
        : searched.includes(word);
    };
    state.shown = data.items.map((_, place) => place).filter(fits);
    state.value = (place) => valueOf(place, model);
    if (order !== "file") {
      const sign = order === "worst" ? 1 : -1;
      const rank = new Map(state.shown.map((place) => [place, state.value(place)]));
      state.shown.sort((a, b) => {
        const x = rank.get(a), y = rank.get(b);
        if (x === null || y === null) return (x === null) - (y === null);
        return sign * (ends(x)[0] - ends(y)[0] || ends(x)[1] - ends(y)[1]);
      });
    }
    state.limit = 200;
    state.at = 0;
    drawList();
  }

  function drawList() {
    showCount();
    const rows = state.shown.slice(0, state.limit).map((place, index) => {
      const [id] = data.items[place], kind = kindOf(place);
      const button = make("button");
      button.type = "button";
      const name = make("span", "id", id);
      name.append(make("small", "", `${kind.task} ${kind.name}`));
      button.append(name, make("span", "val", percent(state.value(place))));
      button.addEventListener("click", () => go(index));
      const row = make("li");
      row.append(button);
      return row;
    });
    if (state.shown.length > state.limit) {
      const more = make("button", "",
        say("show {} more", Math.min(200, state.shown.length - state.limit)));
      more.type = "button";
      more.addEventListener("click", () => { state.limit += 200; drawList(); });
      const row = make("li");
      row.append(more);
      rows.push(row);
    }
    list.replaceChildren(...rows);
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

  function difference(item, parts) {
    const box = make("div", "diff");
    const truth = Array.from(item.counted);
    let at = 0;
    const cell = (kind, above, below, title) => {
      const span = make("span", kind);
      if (title) span.title = title;
      span.append(make("b", "", above), make("b", "", below));
      box.append(span);
    };
    for (const part of parts) {
      if (part === 0) box.append(make("span", "brk"));
      else if (part > 0) for (const c of truth.slice(at, at += part)) cell("eq", c, c);
      else if (part < 0)
        for (const c of truth.slice(at, at -= part)) cell("del", c, "▁", say("missing: {}", c));
      else {
        const [kind, ...answer] = Array.from(part);
        for (const c of answer) {
          if (kind === "i") cell("ins", "▁", c, say("added: {}", c));
          else {
            const above = truth[at++];
            if (kind === "v") cell("var", above, c, say("variant: {} for {}", c, above));
            else cell("sub", above, c, say("read {} for {}", c, above));
          }
        }
      }
    }
    return box;
  }

  function picture(number, alt) {
    const image = make("img", "picture");
    image.src = data.single
      ? `data:image/jpeg;base64,${pick(`picture-${number}`).textContent}`
      : `pictures/${number}.jpg`;
    image.alt = alt;
    image.addEventListener("click", () => image.classList.toggle("full"));
    return image;
  }

  /* A page with its lines as numbered boxes. Those out of order have a filled number, a thick
     dashed outline and hatching, those across several true ones a square number and upright
     hatching; arrows show where the order leaves the true one. */
  const SVG = "http://www.w3.org/2000/svg";
  const shape = (name, attributes, text) => {
    const node = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
    if (text !== undefined) node.textContent = text;
    return node;
  };

  const KINDS = ["kept", "moved", "across"];

  function drawOrder(item, lines, title, size) {
    const [width, height] = size || item.order.size;
    const unit = Math.max(width, height) / 42;
    const figure = make("figure", "order");
    const page = make("div", "page");
    const image = picture(item.images[0], title);
    const svg = shape("svg", { viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: "none" });
    const middle = ([x0, y0, x1, y1]) => [(x0 + x1) / 2, (y0 + y1) / 2];
    lines.forEach((line, index) => {
      const [x0, y0, x1, y1, , kind] = line;
      svg.append(shape("rect", { x: x0, y: y0, width: x1 - x0, height: y1 - y0,
        class: KINDS[kind], "stroke-width": unit / (kind ? 5 : 9),
        "stroke-dasharray": kind ? `${unit / 2} ${unit / 3}` : "none" }));
      if (kind === 2) for (let x = x0 + unit; x < x1; x += unit)
        svg.append(shape("line", { x1: x, y1: y0, x2: x, y2: y1, class: "hatch",
          "stroke-width": unit / 16 }));
      if (kind === 1) for (let y = y0 + unit; y < y1; y += unit)
        svg.append(shape("line", { x1: x0, y1: y, x2: x1, y2: y - unit / 2, class: "hatch",
          "stroke-width": unit / 16 }));
    });
    const known = lines.filter((line) => line[4] !== null);
    known.slice(1).forEach((line, index) => {
      const from = known[index];
      const jump = line[4] !== from[4] + 1;
      const [ax, ay] = [middle(from)[0], from[3]], [bx, by] = [middle(line)[0], line[1]];
      if (!jump) return;
      const bend = Math.sign(bx - ax || 1) * unit;
      svg.append(shape("path", { class: "jump", "stroke-width": unit / 5,
        d: `M ${ax} ${ay} Q ${(ax + bx) / 2 + bend} ${(ay + by) / 2} ${bx} ${by}` }));
      const turn = Math.atan2(by - (ay + by) / 2, bx - ((ax + bx) / 2 + bend));
      const tip = (off) => `${bx - unit * Math.cos(turn + off)},${by - unit * Math.sin(turn + off)}`;
      svg.append(shape("polygon", { class: "tip", points: `${bx},${by} ${tip(0.4)} ${tip(-0.4)}` }));
    });
    lines.forEach((line, index) => {
      const [x, y] = [middle(line)[0], line[1]];
      const r = unit * 0.9;
      svg.append(line[5] === 2
        ? shape("rect", { x: x - r, y: y - r, width: 2 * r, height: 2 * r, class: "square" })
        : shape("circle", { cx: x, cy: y, r, class: KINDS[line[5]], "stroke-width": unit / 10 }));
      svg.append(shape("text", { x, y: y + unit * 0.36, "font-size": unit,
        class: KINDS[line[5]] }, index + 1));
    });
    page.append(image, svg);
    figure.append(page, make("figcaption", "soft", title));
    return figure;
  }

  function orderOf(item, order) {
    const count = (kind) => order.lines.filter((line) => line[5] === kind).length;
    const box = make("details", "orders");
    box.append(make("summary", "", item.order
      ? say("reading order: {} lines, {} out of order, {} across columns", order.lines.length, count(1), count(2))
      : say("reading order: {} lines as they were read", order.lines.length)));
    box.addEventListener("toggle", () => {
      if (!box.open || box.children.length > 1) return;
      const both = make("div", "both");
      if (!item.order) {
        both.append(drawOrder(item, order.lines, say("order as read"), order.size));
        box.append(both, make("p", "soft", say("Numbers are the order.")));
        return;
      }
      const right = item.order.lines.map((line, index) => [...line, index, 0]);
      both.append(drawOrder(item, order.lines, say("order as read")),
        drawOrder(item, right, say("reference order")));
      box.append(both, make("p", "soft", say("Numbers show the order. Dashed and hatched: a line that is out of order. Square number and vertical hatching: a line across several reference lines. Arrow: the next line is not the next line of the reference.")));
    });
    return box;
  }

  function drawRanking(ranked) {
    const row = make("div", "ranking");
    if (ranked.tie) row.append(make("p", "soft",
      say("{} candidates or more tie for first", ranked.tie)));
    for (const one of ranked.shown) {
      const figure = make("figure", one.true ? "true" : "");
      one.images.forEach((number) => figure.append(picture(number, say("candidate {}", one.place))));
      const named = `${one.rank} ${say("candidate {}", one.place)}`;
      figure.append(make("figcaption", "", one.true ? say("{} ✓ relevant", named) : named));
      row.append(figure);
    }
    return row;
  }

  function drawAnswer(item, kind, answer) {
    const part = make("section", "answer-of");
    const head = make("h4", "", data.models[answer.m]);
    const tag = (cls, text, title) => {
      const span = make("span", cls, text);
      if (title) span.title = title;
      head.append(span);
    };
    if (answer.round) tag("tag", say("round {}", answer.round));
    if (answer.status) tag("tag bad", answer.status);
    if (answer.verdict && answer.verdict !== answer.status) tag("tag bad", answer.verdict);
    if (answer.taken && answer.taken[0]) {
      const from = answer.taken[1] ? ` (${answer.taken[1]})` : "";
      tag("tag", say("extracted: {}", answer.taken[0] + from));
    }
    if (answer.pattern) {
      const [pattern, what] = data.patterns[answer.pattern];
      if ((data.doubtful[data.models[answer.m]] || []).includes(answer.pattern))
        tag("tag", say("doubtful reading pattern: {}", pattern), what);
      else tag("tag bad", say("reading pattern: {}", pattern), what);
    }
    part.append(head);
    const rows = new Map();
    kind.metrics.forEach(([protocol, metric, main, definition], index) => {
      if (!rows.has(protocol)) {
        rows.set(protocol, make("ul", "scores"));
        rows.get(protocol).append(make("li", "", protocol));
      }
      const value = answer.values[index];
      const text = value === null ? say("unscored") : percent(value);
      const row = make("li", main ? "main" : "");
      const name = make("abbr", "", metric);
      name.title = definition;
      row.append(name, ` ${text}`);
      rows.get(protocol).append(row);
    });
    part.append(...[...rows.values()].reverse());
    if (answer.reasons) part.append(make("p", "soft",
      say("unscored: {}", answer.reasons.join(say("; ")))));
    if (answer.error) part.append(make("p", "soft", answer.error));
    if (answer.ranked) part.append(drawRanking(answer.ranked));
    if (answer.order && (item.order || answer.order.size) && item.images.length) part.append(orderOf(item, answer.order));
    if (answer.undrawn) part.append(make("p", "soft", say("The reading order cannot be drawn on the page, because the result is text without line boxes or the item has several images.")));
    if (answer.diff) {
      part.append(make("p", "soft", say("reference above, answer below")),
        difference(item, answer.diff));
      const raw = make("details");
      raw.append(make("summary", "", say("unchanged response")),
        make("div", "plain", answer.text));
      part.append(raw);
    } else if (answer.text && !answer.ranked) {
      part.append(make("div", "plain", answer.text));
    }
    const more = (title, text) => {
      if (!text) return;
      const details = make("details");
      details.append(make("summary", "", title), make("div", "plain", text));
      part.append(details);
    };
    more(say("the content as it was returned, which official scores"), answer.content);
    more(say("reasoning from a separate field"), answer.thought);
    return part;
  }

  async function drawItem() {
    const place = state.shown[state.at];
    if (place === undefined) {
      panel.replaceChildren(make("p", "soft", say("no matching item")));
      return;
    }
    let item;
    try {
      item = await details(place);
    } catch (error) {
      panel.replaceChildren(make("p", "soft", say("not readable: {}", error.message)));
      return;
    }
    if (state.shown[state.at] === place) panel.replaceChildren(...drawn(place, item));
  }

  function drawn(place, item) {
    const [id] = data.items[place], kind = kindOf(place);
    const view = make("div", item.images.length ? "pair-view" : "");
    if (item.images.length) {
      const pictures = make("div", item.gallery ? "gallery" : "");
      item.images.forEach((number, index) => {
        if (item.gallery && index === 0) pictures.append(make("h4", "", say("query image")));
        if (item.gallery && index === 1) pictures.append(make("h4", "", say("relevant images")));
        pictures.append(picture(number, say("image {} of {}", index + 1, id)));
      });
      view.append(pictures);
    }
    const side = make("div");
    if (item.unsent)
      side.append(make("p", "soft", say("OCR engines are sent the image alone. The task's prompt for models:")));
    for (const [variants, text] of item.prompts || [["", item.question]]) {
      if (variants) side.append(make("p", "soft", say("prompt as it was sent: {}", variants)));
      side.append(make("p", "question", text));
    }
    if (item.gallery) {
      side.append(make("p", "soft",
        say("one query image against {} candidates; {} are relevant", item.gallery, item.truth)));
    } else if (item.options.length) {
      const options = make("ul", "options");
      item.options.forEach((text, index) => {
        const letter = String.fromCharCode(65 + index);
        const right = letter === item.truth;
        options.append(make("li", right ? "true" : "", `${letter}、${text}${right ? "  ✓" : ""}`));
      });
      side.append(options);
    } else {
      const truth = make("details");
      truth.append(make("summary", "", say("reference")),
        item.no_truth ? make("p", "soft", item.no_truth) : make("div", "plain", item.truth));
      side.append(truth);
    }
    if (item.note) side.append(make("p", "soft", item.note));
    const wanted = data.models.indexOf(pick("model").value);
    item.answers.filter((answer) => wanted < 0 || answer.m === wanted)
      .forEach((answer) => side.append(drawAnswer(item, kind, answer)));
    view.append(side);
    return [make("h3", "", `${id} · ${kind.task} ${kind.name}`), view];
  }

  function show(place) {
    if (!state.shown.includes(place)) {
      for (const id of ["task", "model", "word"]) pick(id).value = "";
      choose();
    }
    go(state.shown.indexOf(place));
    pick("items").scrollIntoView();
  }

  for (const button of document.querySelectorAll("button[data-item]"))
    button.addEventListener("click", () => show(Number(button.dataset.item)));
  for (const id of ["task", "model", "order"]) pick(id).addEventListener("change", choose);
  /* While somebody types, the list follows at once and the item when the typing rests. */
  let resting;
  pick("word").addEventListener("input", () => {
    clearTimeout(resting);
    chooseItems();
    resting = setTimeout(drawItem, 250);
  });
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (/^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName)) return;
    if (event.key === "j") go(state.at + 1);
    else if (event.key === "k") go(state.at - 1);
    else if (event.key === "/") { event.preventDefault(); pick("word").focus(); }
  });
  choose();
  performance.mark("tables");
  parsed.then(readWords);
})();
