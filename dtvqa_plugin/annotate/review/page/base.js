"use strict";

// Shared by the scripts of the page, which the browser runs in the order of index.html.
// Texts come from models and reviewers: they reach the page through textContent and value only.

const at = (id) => document.getElementById(id);
const SVG = "http://www.w3.org/2000/svg";

const view = {
  reviewer: "", filter: "todo", style: "", flag: "", search: "", sort: "image",
  boxes: true, scale: null, last: null, noPair: 0,
};
let pair = null;
let boxes = [];
let drafts = new Map();
let busy = false;

const shownView = () => ({
  filter: view.filter, style: view.style, flag: view.flag, search: view.search, sort: view.sort,
});

// --- asking the server ---

async function ask(path, values) {
  const query = new URLSearchParams({ reviewer: view.reviewer, ...values });
  return answer(await fetch(`${path}?${query}`));
}

async function tell(path, values) {
  return answer(await fetch(path, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ reviewer: view.reviewer, ...values }),
  }));
}

async function answer(response) {
  const body = await response.json();
  if (response.ok) return body;
  throw Object.assign(new Error(body.error), { overturns: Boolean(body.overturns) });
}

// One action at a time, in the order of keys and clicks. What is pressed while the server saves
// waits; after a fault it is dropped, since it was meant for what did not happen.
const waiting = [];

function queue(work) {
  waiting.push(work);
  if (!busy) drain();
}

async function drain() {
  busy = true;
  while (waiting.length) {
    try {
      await waiting.shift()();
    } catch (error) {
      const dropped = waiting.splice(0).length;
      const lost = error instanceof TypeError;
      say((lost ? UNREACHABLE : error.message) + (dropped ? ` Keys dropped: ${dropped}.` : ""), true);
    }
  }
  busy = false;
}

const UNREACHABLE = "The server cannot be reached. Nothing was saved just now. Where the review was "
  + "started again, open the address that it printed.";

let fading = 0;
function say(text, fault = false) {
  const message = at("message");
  message.textContent = text;
  message.classList.toggle("fault", fault);
  clearTimeout(fading);
  if (!fault) fading = setTimeout(() => { message.textContent = ""; }, 2600);
}

// --- small tools ---

function make(tag, name = "", text = "") {
  const element = document.createElement(tag);
  if (name) element.className = name;
  if (text) element.textContent = text;
  return element;
}

function remembered(name, value) {
  // Private windows may have no storage; the name is then asked for again.
  try {
    if (value === undefined) return localStorage.getItem(name) || "";
    localStorage.setItem(name, value);
  } catch {
    return "";
  }
  return value;
}
