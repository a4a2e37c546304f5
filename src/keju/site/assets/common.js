"use strict";
/* Shared by the pages: texts, elements, and data files, which a page from a disk loads as scripts.
   Everything shown is set as text, never as markup: names and answers are untrusted. */
const keju = (() => {
  const words = JSON.parse(document.getElementById("words").textContent);
  const known = new Map();
  const waiting = new Map();
  const KEPT = 240;

  const make = (tag, cls, text) => {
    const node = document.createElement(tag);
    if (cls) node.className = cls;
    if (text !== undefined && text !== null) node.textContent = text;
    return node;
  };
  const say = (text, ...values) => {
    let next = 0;
    return (words[text] || text).replace(/\{(\d*)\}/g, (_, place) => values[place || next++]);
  };
  const percent = (value) => (value === null || value === undefined ? "–" : (100 * value).toFixed(1));

  function receive(key, data) {
    if (waiting.has(key)) {
      waiting.get(key)(data);
      waiting.delete(key);
    } else known.set(key, Promise.resolve(data));
  }

  function load(key) {
    const found = known.get(key) || new Promise((done, failed) => {
      waiting.set(key, done);
      const script = make("script");
      script.src = `${document.getElementById("main").dataset.root}${key}.js`;
      script.addEventListener("load", () => script.remove());
      script.addEventListener("error", () => {
        known.delete(key);
        failed(new Error(key));
      });
      document.head.append(script);
    });
    known.delete(key);
    known.set(key, found);
    const answers = [...known.keys()].filter((each) => each.includes("/answers/"));
    for (const old of answers.slice(0, Math.max(0, answers.length - KEPT))) known.delete(old);
    return found;
  }

  const label = (name) => words[`label ${name}`] || name;

  return { make, say, percent, load, receive, label };
})();
window.kejuData = keju.receive;
