"use strict";
/* The root opens the pages in the reader's language. */
location.replace(`${/^zh/i.test(navigator.language) ? "zh" : "en"}/index.html`);
