// The page of a queue: keys, the timer, storage of unsent text, and submission.
import { viewer } from "/assets/viewer.js";

const words = JSON.parse(document.body.dataset.words || "{}");
const say = (text) => words[text] || text;
const form = document.querySelector("form.panel");
const keys = {};

// The clock stops while the page is hidden.
const clock = document.querySelector("[data-timer]");
let looked = 0, since = document.hidden ? null : performance.now();
const spent = () => (looked + (since === null ? 0 : performance.now() - since)) / 1000;
document.addEventListener("visibilitychange", () => {
  if (document.hidden) { looked = spent() * 1000; since = null; } else since = performance.now();
});
if (clock) {
  const before = Number(clock.dataset.before) || 0;
  const tick = () => {
    const whole = Math.floor(before + spent());
    clock.textContent = `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, "0")}`;
  };
  setInterval(tick, 500);
  tick();
}

let picture = null;
// Reload a page from the back/forward cache: it is out of date, and its buttons are disabled.
addEventListener("pageshow", (event) => { if (event.persisted) location.reload(); });

const frame = document.querySelector("[data-viewer]");
if (frame) {
  const hidden = form && form.elements.boxes;
  const count = document.querySelector("[data-count]");
  picture = viewer(frame, (boxes) => {
    if (hidden) hidden.value = JSON.stringify(boxes);
    if (count) count.textContent = boxes.length;
  });
  Object.assign(keys, picture.keys);
}

if (form) {
  keepUnsent();
  form.addEventListener("submit", (event) => { event.preventDefault(); send(event.submitter); });
}

async function send(button) {
  const data = new FormData(form, button);
  // At least a tenth: in a response, 0 seconds say that the time is not known.
  data.set("seconds", Math.max(spent(), 0.1).toFixed(1));
  const buttons = [...form.querySelectorAll("button")];
  buttons.forEach((each) => { each.disabled = true; });
  let trouble = "", way = null;
  try {
    const reply = await fetch(form.action, { method: "POST", body: data, headers: { "X-Keju": "script" } });
    const said = await reply.json().catch(() => ({}));
    if (reply.ok && said.next) { forget(); location.assign(said.next); return; }
    trouble = said.error || say("The server did not store your answer. Your text is still here. Try again.");
    if (said.link) {
      way = document.createElement("a");
      way.href = said.link;
      way.textContent = said.label;
    }
  } catch {
    trouble = say("The server does not respond. Your text is still here. Try again when the server runs.");
  }
  buttons.forEach((each) => { each.disabled = false; });
  const place = form.querySelector("[data-error]");
  place.hidden = false;
  place.textContent = trouble;
  if (way) place.append(" ", way);
  place.scrollIntoView({ block: "nearest" });
}

// Text that is not yet submitted is stored in this browser, for a reload or a new window.
function keepUnsent() {
  const fields = [...form.querySelectorAll("textarea, input[name=answer][lang], [data-marks] input")];
  const name = (field) => `keju:${form.dataset.keep}:${field.name}`;
  for (const field of fields) {
    try {
      const kept = localStorage.getItem(name(field));
      if (kept !== null && field.type === "radio") field.checked ||= kept === field.value;
      else if (kept !== null && kept !== field.value) field.value = kept;
      field.addEventListener(field.type === "radio" ? "change" : "input", () => localStorage.setItem(name(field), field.value));
    } catch { return; }
  }
}
function forget() {
  try {
    for (const name of Object.keys(localStorage)) {
      if (name.startsWith(`keju:${form.dataset.keep}:`)) localStorage.removeItem(name);
    }
  } catch { /* The browser does not allow storage. */ }
}

// Linked fields: the range and the number, the steps and the exact score.
for (const range of document.querySelectorAll("[data-mirror]")) {
  const field = document.getElementById(range.dataset.mirror);
  range.addEventListener("input", () => { field.value = range.value; });
  field.addEventListener("input", () => { range.value = field.value; });
}
const score = document.getElementById("f-score");
if (score) {
  const steps = [...document.querySelectorAll("[data-score]")];
  for (const step of steps) step.addEventListener("change", () => { score.value = step.dataset.score; });
  score.addEventListener("input", () => {
    for (const step of steps) step.checked = Number(step.dataset.score) === Number(score.value) && score.value !== "";
  });
  keys["."] = () => {
    if (score.value !== "" && Number(score.value) <= 9.5) {
      score.value = Number(score.value) + 0.5;
      score.dispatchEvent(new Event("input"));
    }
  };
}
const groups = [...document.querySelectorAll("[data-marks]")];
const reach = (group) => group && group.querySelector("input:checked").focus();
if (groups.length) keys.f = () => reach(groups[0]);
groups.forEach((group, place) => group.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const mark = group.querySelector(`[data-digit="${CSS.escape(event.key)}"]`);
  // Otherwise Enter would submit the form with its first button, which accepts.
  if (!mark && event.key !== "Enter") return;
  event.preventDefault(); event.stopPropagation();
  if (mark) press(mark);
  reach(groups[place + 1]);
}));
const tens = document.querySelector("[data-digits]");
if (tens) {
  for (let digit = 0; digit < 10; digit += 1) {
    keys[String(digit)] = () => { tens.value = digit * 10; tens.dispatchEvent(new Event("input")); };
  }
}

// Keys of choices and buttons are in their data-key; those of the image are in `keys`.
const writes = (field) => field.matches("textarea, select, input:not([type=radio]):not([type=range])");
const dialog = document.querySelector("[data-dialog]");
for (const button of document.querySelectorAll("[data-help]")) button.addEventListener("click", () => dialog.showModal());
document.addEventListener("keydown", (event) => {
  if (event.isComposing || (dialog && dialog.open)) return;
  const target = event.target;
  if (event.key === "Escape" && writes(target)) { target.blur(); return; }
  if (event.key === "Enter") return enter(event);
  if (event.ctrlKey || event.metaKey || event.altKey || writes(target)) return;
  const key = event.key.toLowerCase();
  const found = [...document.querySelectorAll("[data-key]")].find((each) => each.dataset.key.toLowerCase() === key);
  if (found) { event.preventDefault(); press(found); return; }
  if (keys[event.key] || keys[key]) { event.preventDefault(); (keys[event.key] || keys[key])(); }
});
function enter(event) {
  const target = event.target;
  if (event.altKey || event.shiftKey) return;
  const large = target.matches("textarea"), strong = event.ctrlKey || event.metaKey;
  if ((large && !strong) || (target.matches("button, a, summary") && !target.matches(".box") && !strong)) return;
  const first = document.querySelector("[data-key=Enter]");
  if (first) { event.preventDefault(); press(first); }
}
function press(element) {
  if (element.matches("input[type=radio]")) {
    element.checked = true;
    element.focus();
    element.dispatchEvent(new Event("change", { bubbles: true }));
  } else if (form && element.form === form && element.type === "submit") {
    if (!element.disabled) form.requestSubmit(element);
  } else element.click();
}
