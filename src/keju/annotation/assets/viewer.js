// The image viewer: zoom and move by wheel, pinch, drag and keys; draw boxes.

const LEAST = 0.02, MOST = 16, STEP = 1.25;

export function viewer(root, onBoxes = () => {}) {
  const stage = root.querySelector("[data-stage]");
  const draws = root.hasAttribute("data-draw");
  let zoom = 1, left = 0, top = 0, drawing = draws;
  const pointers = new Map();
  let hold = null;
  root.classList.add("live");

  function place() {
    stage.style.transform = `translate(${left}px, ${top}px) scale(${zoom})`;
    stage.style.setProperty("--zoom", zoom);
  }
  function show(wide) {
    const w = stage.offsetWidth, h = stage.offsetHeight, pad = 12;
    const across = (root.clientWidth - 2 * pad) / w, down = (root.clientHeight - 2 * pad) / h;
    zoom = Math.min(MOST, Math.max(LEAST, wide ? across : Math.min(across, down)));
    left = (root.clientWidth - w * zoom) / 2;
    top = wide ? pad : (root.clientHeight - h * zoom) / 2;
    place();
  }
  function zoomAt(factor, x, y) {
    const next = Math.min(MOST, Math.max(LEAST, zoom * factor));
    left = x - (x - left) * next / zoom;
    top = y - (y - top) * next / zoom;
    zoom = next;
    place();
  }
  const middle = () => [root.clientWidth / 2, root.clientHeight / 2];
  function move(dx, dy) { left += dx; top += dy; place(); }

  const boxes = boxesOn(root, () => zoom, onBoxes);
  const tools = {
    in: () => zoomAt(STEP, ...middle()), out: () => zoomAt(1 / STEP, ...middle()),
    fit: () => show(false), width: () => show(true),
    draw: () => draws && draw(!drawing),
    add: () => draws && boxes.addAt(...middle()), clear: () => boxes.clear(),
  };
  function draw(on) {
    drawing = on;
    root.classList.toggle("drawing", on);
    root.querySelector("[data-tool=draw]")?.setAttribute("aria-pressed", on);
  }
  draw(draws);
  for (const button of document.querySelectorAll("[data-tool]")) {
    button.addEventListener("click", () => tools[button.dataset.tool]());
  }

  root.addEventListener("wheel", (event) => {
    event.preventDefault();
    const frame = root.getBoundingClientRect();
    if (event.shiftKey && !event.ctrlKey) return move(-(event.deltaX || event.deltaY), 0);
    const lines = event.deltaMode === 1 ? 30 : 1;
    zoomAt(Math.exp(-event.deltaY * lines * (event.ctrlKey ? 0.01 : 0.0015)),
      event.clientX - frame.left, event.clientY - frame.top);
  }, { passive: false });

  root.addEventListener("pointerdown", (event) => {
    if (event.target.closest(".tools") || event.button > 1) return;
    pointers.set(event.pointerId, event);
    root.setPointerCapture(event.pointerId);
    if (pointers.size === 2) { boxes.drop(); hold = pinch(); return; }
    const on = drawing && event.button === 0 && !event.getModifierState("Shift");
    if (on && boxes.take(event)) return;
    root.focus({ preventScroll: true });
    hold = { x: event.clientX, y: event.clientY };
    root.classList.add("moving");
  });
  root.addEventListener("pointermove", (event) => {
    if (!pointers.has(event.pointerId)) return;
    pointers.set(event.pointerId, event);
    if (pointers.size === 2 && hold && hold.span) {
      const now = pinch(), frame = root.getBoundingClientRect();
      move(now.x - hold.x, now.y - hold.y);
      zoomAt(now.span / hold.span, now.x - frame.left, now.y - frame.top);
      hold = now;
    } else if (boxes.busy()) {
      boxes.drag(event);
    } else if (hold && !hold.span) {
      move(event.clientX - hold.x, event.clientY - hold.y);
      hold = { x: event.clientX, y: event.clientY };
    }
  });
  for (const end of ["pointerup", "pointercancel"]) {
    root.addEventListener(end, (event) => {
      if (!pointers.delete(event.pointerId)) return;
      if (end === "pointerup") boxes.let(); else boxes.drop();
      hold = null;
      root.classList.remove("moving");
    });
  }
  function pinch() {
    const [a, b] = [...pointers.values()];
    return { x: (a.clientX + b.clientX) / 2, y: (a.clientY + b.clientY) / 2,
      span: Math.max(1, Math.hypot(a.clientX - b.clientX, a.clientY - b.clientY)) };
  }

  root.addEventListener("keydown", (event) => {
    if (event.target !== root) return;
    const ways = { ArrowLeft: [60, 0], ArrowRight: [-60, 0], ArrowUp: [0, 60], ArrowDown: [0, -60] };
    if (ways[event.key]) { event.preventDefault(); move(...ways[event.key]); }
  });

  const images = [...stage.querySelectorAll("img")];
  Promise.all(images.map((image) => image.decode().catch(() => {}))).then(() => show(false));
  new ResizeObserver(() => show(false)).observe(root);
  show(false);
  return { keys: { "+": tools.in, "=": tools.in, "-": tools.out, "0": tools.fit, w: tools.width,
    p: () => root.focus(), ...(draws ? { m: tools.draw, n: tools.add } : {}) } };
}

// Boxes are stored in pixels of the image. Each is a button, so that it can be used by keys.
function boxesOn(root, zoom, onBoxes) {
  const picture = root.querySelector(".picture"), image = picture.querySelector("img");
  const width = Number(image.getAttribute("width")), height = Number(image.getAttribute("height"));
  let current = null;

  const all = () => [...picture.querySelectorAll("button.box")];
  const report = () => onBoxes(all().map((box) => box.edges.map((n) => Math.round(n * 10) / 10)));
  const within = (n, most) => Math.min(most, Math.max(0, n));
  function at(event) {
    const frame = image.getBoundingClientRect();
    return [within((event.clientX - frame.left) * width / frame.width, width),
      within((event.clientY - frame.top) * height / frame.height, height)];
  }
  function set(box, edges) {
    box.edges = [Math.min(edges[0], edges[2]), Math.min(edges[1], edges[3]),
      Math.max(edges[0], edges[2]), Math.max(edges[1], edges[3])];
    const [x0, y0, x1, y1] = box.edges;
    box.style.left = `${100 * x0 / width}%`; box.style.top = `${100 * y0 / height}%`;
    box.style.width = `${100 * (x1 - x0) / width}%`;
    box.style.height = `${100 * (y1 - y0) / height}%`;
    box.setAttribute("aria-label", `▭ ${box.edges.map(Math.round).join(", ")}`);
  }
  function make(edges) {
    const box = document.createElement("button");
    box.type = "button"; box.className = "box";
    box.append(document.createElement("i"));
    box.addEventListener("keydown", (event) => nudge(box, event));
    set(box, edges);
    picture.append(box);
    return box;
  }
  function nudge(box, event) {
    const step = event.shiftKey ? 10 : 1;
    const ways = { ArrowLeft: [-step, 0], ArrowRight: [step, 0], ArrowUp: [0, -step], ArrowDown: [0, step] };
    const way = ways[event.key];
    if (way) {
      const [x0, y0, x1, y1] = box.edges;
      set(box, event.altKey
        ? [x0, y0, within(Math.max(x0 + 1, x1 + way[0]), width), within(Math.max(y0 + 1, y1 + way[1]), height)]
        : moved([x0, y0, x1, y1], ...way));
    } else if (event.key === "Delete" || event.key === "Backspace") {
      const others = all(), next = others[others.indexOf(box) + 1] || others[others.indexOf(box) - 1];
      box.remove();
      (next || root).focus();
    } else return;
    event.preventDefault(); event.stopPropagation();
    report();
  }
  function moved([x0, y0, x1, y1], dx, dy) {
    const right = Math.max(-x0, Math.min(width - x1, dx)), down = Math.max(-y0, Math.min(height - y1, dy));
    return [x0 + right, y0 + down, x1 + right, y1 + down];
  }
  for (const edges of JSON.parse(picture.dataset.boxes || "[]")) make(edges);
  for (const edges of JSON.parse(picture.dataset.reference || "[]")) {
    const box = make(edges), still = document.createElement("div");
    still.className = "box reference-box"; still.style.cssText = box.style.cssText;
    box.replaceWith(still);
  }
  report();

  return {
    busy: () => current !== null,
    take(event) {
      const box = event.target.closest("button.box");
      if (!box && !picture.contains(event.target)) return false;
      const start = at(event);
      if (box) current = { box, start, edges: [...box.edges], how: event.target.tagName === "I" ? "size" : "move" };
      else current = { box: make([...start, ...start]), start, how: "new" };
      current.box.focus({ preventScroll: true });
      event.preventDefault();
      return true;
    },
    drag(event) {
      const { box, start, edges, how } = current, now = at(event);
      if (how === "new") set(box, [...start, ...now]);
      else if (how === "size") set(box, [edges[0], edges[1], Math.max(edges[0] + 1, now[0]), Math.max(edges[1] + 1, now[1])]);
      else set(box, moved(edges, now[0] - start[0], now[1] - start[1]));
    },
    let() {
      if (!current) return;
      const { box, how } = current;
      current = null;
      // Remove a box that was clicked rather than drawn.
      const small = 4 / zoom();
      if (how === "new" && (box.edges[2] - box.edges[0] < small || box.edges[3] - box.edges[1] < small)) box.remove();
      report();
    },
    drop() {
      if (current && current.how === "new") current.box.remove();
      current = null;
      report();
    },
    addAt(x, y) {
      const frame = root.getBoundingClientRect();
      const [cx, cy] = at({ clientX: frame.left + x, clientY: frame.top + y });
      const half = Math.max(4, Math.min(30 / zoom(), width / 4, height / 4));
      const box = make(moved([cx - half, cy - half, cx + half, cy + half], 0, 0));
      set(box, box.edges.map((n, i) => within(n, i % 2 ? height : width)));
      box.focus({ preventScroll: true });
      report();
    },
    clear() { all().forEach((box) => box.remove()); report(); },
  };
}
