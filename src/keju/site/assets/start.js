"use strict";
/* The search on the start page: shows the models and tasks whose names contain a word. */
(() => {
  const find = document.getElementById("find");
  const names = [...document.querySelectorAll("#models li, #tasks li")];
  const words = names.map((each) => each.textContent.toLowerCase());
  find.addEventListener("input", () => {
    const word = find.value.trim().toLowerCase();
    let shown = 0;
    names.forEach((each, place) => {
      each.hidden = !words[place].includes(word);
      if (!each.hidden) shown += 1;
    });
    document.getElementById("found").textContent = word ? `${shown} / ${names.length}` : "";
  });
})();
