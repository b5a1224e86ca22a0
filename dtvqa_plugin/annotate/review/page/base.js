"use strict";

// Shared by the scripts of the page, which the browser runs in the order of index.html.
// Texts come from models and reviewers: they reach the page through textContent and value only.

const at = (id) => document.getElementById(id);
const SVG = "http://www.w3.org/2000/svg";

const view = { reviewer: "", fixed: false, filter: "todo", style: "", boxes: true, full: false };
let pair = null;
let boxes = [];
let drafts = new Map();
let busy = false;

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
  if (!response.ok) throw new Error(body.error);
  return body;
}

// One action at a time: a key held down must not decide on a pair that is not shown yet.
async function alone(work) {
  if (busy) return;
  busy = true;
  try {
    await work();
  } catch (error) {
    const lost = error instanceof TypeError;
    say(lost ? "The server cannot be reached. Nothing was saved just now." : error.message, true);
  } finally {
    busy = false;
  }
}

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
