"use strict";
/* Items on several pages: links to items lead to the page of each, which shows it when opened. */
(() => {
  const { first, starts } = JSON.parse(document.getElementById("data").textContent).pages;
  const pageOf = (place) => starts.filter((start) => start <= place).length - 1;
  const here = pageOf(first);
  for (const button of document.querySelectorAll("button[data-item]")) {
    const place = Number(button.dataset.item), page = pageOf(place);
    if (page === here) button.dataset.item = String(place - first);
    else {
      const link = document.createElement("a");
      const folder = here ? "../" : "";
      link.href = `${folder}${page ? `part-${page + 1}/` : ""}index.html#item-${place}`;
      link.textContent = button.textContent;
      button.replaceWith(link);
    }
  }
  const wanted = /^#item-([0-9]+)$/.exec(location.hash);
  if (wanted && pageOf(Number(wanted[1])) === here) {
    const opener = document.createElement("button");
    opener.hidden = true;
    opener.dataset.item = String(Number(wanted[1]) - first);
    document.body.append(opener);
    document.addEventListener("DOMContentLoaded", () => opener.click());
  }
})();
