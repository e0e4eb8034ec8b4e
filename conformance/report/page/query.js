"use strict";
// The search: terms such as op:permute or is:failing, and plain words. One key's values are alternatives.

const KEYS = ["op", "clause", "backend", "outcome", "dtype", "requirement", "is"];
const IS = {
  failing: ["fail", "should_fail"], passing: ["pass"], known: ["known"], fail: ["fail"], should_fail: ["should_fail"], differs: ["differs"],
  shadowed: ["shadowed"], unsupported: ["unsupported"], not_run: ["not_run"],
};

function parseQuery(text) {
  const query = { words: [], strange: [] };
  for (const key of KEYS) query[key] = [];
  for (const [token, key, , quoted] of text.matchAll(/(?:([a-z]+):)?("([^"]*)"?|[^\s"]+)/gi)) {
    const known = key && KEYS.includes(key.toLowerCase());
    if (key && !known) { query.strange.push(token); continue; }
    const value = (quoted ?? token.slice(key ? key.length + 1 : 0)).toLowerCase();
    const values = (quoted === undefined && known ? value.split(",") : [value]).filter(Boolean);
    if (!known) query.words.push(...values);
    else if (key.toLowerCase() !== "is") query[key.toLowerCase()].push(...values);
    else for (const one of values) (IS[one] ? query.is : query.strange).push(IS[one] ? one : token);
  }
  return query;
}

// Return the text with the terms of one key replaced by a single value (none when it is empty).
function withTerm(text, key, value) {
  const rest = text.replace(new RegExp(`(^|\\s)${key}:("[^"]*"?|[^\\s"]*)`, "gi"), " ").trim().replace(/\s+/g, " ");
  if (!value) return rest;
  return `${rest} ${key}:${/[\s,"]/.test(value) ? `"${value}"` : value}`.trim();
}

const contains = (values, text) => !values.length || values.some((value) => text.toLowerCase().includes(value));
const equals = (values, text) => !values.length || values.includes(text.toLowerCase());
const wantedStates = (query) => query.is.flatMap((word) => IS[word]);

function rowMatches(query, row) {
  const text = `${row.op} ${row.clause || ""} ${row.text} ${row.aliases} ${row.summary || ""}`.toLowerCase();
  return contains(query.op, row.op) && (!query.clause.length || (row.clause !== null && contains(query.clause, row.clause)))
    && (!query.requirement.length || equals(query.requirement, row.requirement)) && query.words.every((word) => text.includes(word));
}

function cellMatches(query, cell) {
  if (query.is.length && !wantedStates(query).includes(cell.state)) return false;
  return !query.outcome.length || query.outcome.some((outcome) => cell.counts[outcome]);
}

function findingMatches(query, data, words) {
  const state = data.known ? "known" : { must: "fail", should: "should_fail", may: "differs" }[data.requirement];
  return contains(query.op, data.op) && contains(query.clause, data.clause) && contains(query.backend, data.backend)
    && equals(query.outcome, data.outcome) && equals(query.requirement, data.requirement)
    && (!query.is.length || wantedStates(query).includes(state))
    && (!query.dtype.length || data.dtypes.split(" ").some((dtype) => query.dtype.includes(dtype)))
    && query.words.every((word) => words.includes(word));
}
