// The order of search results: pages before entries of the API, and first of all the page that a word stands for: the
// glossary for its terms, which docs/building/search_order.py puts in.
const TERMS = [];
const FIRST = [
  [/^(epsilon|delta|privacy|guarantees?)$/, "docs/guarantees"],
  [/^(teach\w*|courses?|labs?|students?)$/, "docs/labs"],
];
const asked = (new URLSearchParams(window.location.search).get("q") || "").trim().toLowerCase();

var Scorer = {
  score: ([page, , , , score]) => {
    if (page === "docs/glossary" && TERMS.includes(asked)) return score + 1000;
    if (FIRST.some(([words, first]) => page === first && words.test(asked))) return score + 1000;
    return page.startsWith("docs/generated/api") ? score : score + 20;
  },
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
