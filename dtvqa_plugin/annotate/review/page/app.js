"use strict";

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

// --- state and progress ---

async function refresh() {
  const state = await ask("api/state", {});
  document.title = `Review: ${state.name}`;
  at("set-name").textContent = state.name;
  at("who").textContent = `${view.reviewer}, ${state.mine} decided`;
  at("progress").replaceChildren(...state.styles.map((style) => goal(style, state.target)));
  fillStyles(state.styles.map((style) => style.name));
  at("kappa").textContent = state.agreement
    .filter((part) => [part.first, part.second].includes(view.reviewer))
    .map((part) => `κ ${kappa(part)} with ${part.first === view.reviewer ? part.second : part.first}`)
    .join(", ");
  at("agreement").textContent = state.agreement.map(agreementLine).join("\n")
    || "No pair has been decided on by two reviewers yet.";
}

function goal(style, target) {
  const box = make("div", "goal");
  const count = make("span", "count");
  const number = make("b", "", String(style.accepted));
  count.append(number, ` of ${target}`);
  if (style.disputed) count.append(`, ${style.disputed} disputed`);
  box.append(make("span", "name", style.name), count, rail(Math.min(1, style.accepted / target)));
  box.title = `${style.accepted} accepted, ${style.rejected} rejected, ${style.disputed} disputed, `
    + `${style.pairs} pairs`;
  return box;
}

function rail(share) {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("viewBox", "0 0 100 4");
  svg.setAttribute("preserveAspectRatio", "none");
  for (const [name, width] of [["rail", 100], ["fill", 100 * share]]) {
    const part = document.createElementNS(SVG, "rect");
    part.setAttribute("class", name);
    part.setAttribute("width", width);
    part.setAttribute("height", 4);
    svg.append(part);
  }
  return svg;
}

function kappa(part) {
  return part.kappa === null ? "undefined" : part.kappa.toFixed(2);
}

function agreementLine(part) {
  return `${part.first} and ${part.second}: ${part.same_verdict} of ${part.both} alike, `
    + `Cohen's kappa ${kappa(part)}`;
}

function fillStyles(names) {
  const select = at("style");
  if (select.options.length === names.length + 1) return;
  select.replaceChildren(...["", ...names].map((name) => {
    const option = make("option", "", name || "all");
    option.value = name;
    return option;
  }));
  at("style-label").hidden = names.length < 2;
}

// --- one pair ---

async function go(step, from = pair && pair.pair) {
  keepDraft();
  const values = { filter: view.filter, style: view.style, step };
  if (from) values.from = from;
  show(await ask("api/pair", values));
}

function show(found) {
  pair = found.pair;
  at("main").hidden = pair === null;
  at("empty").hidden = pair !== null;
  if (pair === null) {
    const done = view.filter === "todo";
    at("empty-title").textContent = done ? "All decided" : "Nothing here";
    at("empty-text").textContent = done
      ? "You have decided on every pair of this view. Undo (U) takes the last decision back."
      : "No pair fits this view.";
    return;
  }
  at("place").textContent = found.place ? `${found.place} of ${found.total}` : "";
  at("file").textContent = pair.file;
  at("file").title = pair.file;
  const [place, count] = pair.of_image;
  at("meta").textContent = `${pair.style}, by ${pair.model} (${pair.round}), pair ${place} of `
    + `${count} of this image`;
  at("flags").replaceChildren(...pair.flags.map(flag));
  const text = drafts.get(pair.pair) || pair.mine || pair;
  at("question").value = text.question;
  setAnswers(text.answers);
  showVerdicts();
  showImage();
  mark();
}

function flag([code, reason]) {
  const item = make("li");
  item.append(make("b", "", code.replaceAll("-", " ")), reason);
  return item;
}

function setAnswers(answers) {
  at("answers").replaceChildren(...answers.map(answerRow));
}

function answerRow(text) {
  const row = make("li");
  const input = make("input");
  input.value = text;
  input.setAttribute("aria-label", "Acceptable answer");
  input.spellcheck = false;
  input.addEventListener("input", mark);
  const remove = make("button", "quiet", "×");
  remove.type = "button";
  remove.title = "Remove this answer";
  remove.setAttribute("aria-label", `Remove the answer ${text}`);
  remove.addEventListener("click", () => { row.remove(); mark(); });
  row.append(input, remove);
  return row;
}

function currentAnswers() {
  const texts = [...at("answers").querySelectorAll("input")].map((input) => input.value.trim());
  return [...new Set(texts.filter(Boolean))];
}

function changed() {
  return at("question").value.trim() !== pair.question
    || JSON.stringify(currentAnswers()) !== JSON.stringify(pair.answers);
}

function keepDraft() {
  if (pair === null) return;
  const before = pair.mine || pair;
  const now = { question: at("question").value, answers: currentAnswers() };
  const same = now.question === before.question
    && JSON.stringify(now.answers) === JSON.stringify(before.answers);
  if (same) drafts.delete(pair.pair);
  else drafts.set(pair.pair, now);
}

// Whatever was typed or toggled: marks, proposals, highlighted boxes, field heights.
function mark() {
  at("edited").hidden = !changed();
  showProposals();
  highlight();
  const question = at("question");
  question.style.height = "auto";
  question.style.height = `${question.scrollHeight + 2}px`;
}

function showProposals() {
  const taken = currentAnswers();
  at("proposals-block").hidden = pair.proposals.length === 0;
  at("proposals").replaceChildren(...pair.proposals.map(([text, , reason], place) => {
    const row = make("li");
    const button = make("button");
    button.type = "button";
    button.setAttribute("aria-pressed", String(taken.includes(text)));
    button.append(
      make("kbd", "", place < 9 ? String(place + 1) : "+"),
      make("span", "text", text),
      make("span", "why", reason),
    );
    button.addEventListener("click", () => toggle(place));
    row.append(button);
    return row;
  }));
}

function toggle(place) {
  if (place >= pair.proposals.length) return;
  const text = pair.proposals[place][0];
  const answers = currentAnswers();
  setAnswers(answers.includes(text) ? answers.filter((a) => a !== text) : [...answers, text]);
  mark();
}

function showVerdicts() {
  const parts = [];
  if (pair.mine) parts.push(verdict("You", pair.mine, false));
  for (const [who, held] of Object.entries(pair.others)) parts.push(verdict(who, held, true));
  at("verdicts").replaceChildren(...parts);
}

function verdict(who, held, other) {
  const box = make("div", `verdict ${held.verdict}`);
  box.append(`${who}: `, make("b", "", `${held.verdict}ed`));
  if (other && held.verdict === "accept") {
    const text = make("div", "", `${held.question} | ${held.answers.join(" | ")}`);
    const take = make("button", "quiet", "Take these texts");
    take.type = "button";
    take.addEventListener("click", () => {
      at("question").value = held.question;
      setAnswers(held.answers);
      mark();
    });
    box.append(text, take);
  }
  return box;
}

// --- the image ---

function showImage() {
  const image = at("image");
  const source = `image/${pair.image}`;
  if (image.dataset.of === pair.image) {
    fit();
    return;
  }
  image.dataset.of = pair.image;
  boxes = [];
  drawBoxes();
  image.alt = pair.file;
  image.src = source;
  at("canvas").scrollTo(0, 0);
  fit();
  loadBoxes(pair.image);
}

async function loadBoxes(image) {
  try {
    const found = await ask(`boxes/${image}`, {});
    if (pair === null || pair.image !== image) return;
    boxes = found.boxes;
    at("boxes-button").disabled = !found.known;
    at("box-text").textContent = found.known ? "" : "The text of this image is not known.";
    drawBoxes();
    highlight();
  } catch (error) {
    say(error.message, true);
  }
}

function drawBoxes() {
  const overlay = at("overlay");
  overlay.setAttribute("viewBox", `0 0 ${pair.width || 1} ${pair.height || 1}`);
  overlay.setAttribute("preserveAspectRatio", "none");
  overlay.replaceChildren(...boxes.map(([text, quad]) => {
    const shape = document.createElementNS(SVG, "polygon");
    shape.setAttribute("points", quad.join(" "));
    shape.addEventListener("mouseenter", () => { at("box-text").textContent = text; });
    shape.addEventListener("mouseleave", () => { at("box-text").textContent = ""; });
    return shape;
  }));
}

const plain = (text) => text.toLowerCase().normalize("NFKC").replace(/[^\p{L}\p{N}%]/gu, "");

function highlight() {
  const wanted = currentAnswers().map(plain).filter(Boolean);
  [...at("overlay").children].forEach((shape, place) => {
    const text = plain(boxes[place][0]);
    const hit = wanted.some((one) => text.includes(one) || (text.length > 2 && one.includes(text)));
    shape.classList.toggle("hit", hit);
  });
}

function fit() {
  const image = at("image");
  const canvas = at("canvas");
  const width = pair.width || image.naturalWidth;
  const height = pair.height || image.naturalHeight;
  if (!width || !height) return;
  const room = Math.min((canvas.clientWidth - 32) / width, (canvas.clientHeight - 4) / height);
  const scale = view.full ? 1 : Math.max(0.05, Math.min(room, 3));
  image.style.width = `${Math.round(width * scale)}px`;
  image.style.height = `${Math.round(height * scale)}px`;
}

// --- deciding ---

async function decide(verdictGiven) {
  if (pair === null) return;
  const answers = currentAnswers();
  if (verdictGiven === "accept" && answers.length === 0) {
    say("An accepted question needs an answer.", true);
    return;
  }
  const question = at("question").value.trim();
  await tell("api/decide", {
    pair: pair.pair,
    verdict: verdictGiven,
    question: question || pair.question,
    answers: answers.length ? answers : pair.answers,
  });
  const was = pair.pair;
  drafts.delete(was);
  pair = null;
  document.activeElement.blur();
  say(verdictGiven === "accept" ? "Accepted" : "Rejected");
  await refresh();
  const values = { filter: view.filter, style: view.style, step: 1, from: was };
  show(await ask("api/pair", values));
}

async function undo() {
  const found = await tell("api/undo", {});
  if (found.undone === null) {
    say("Nothing to undo.");
    return;
  }
  say("Taken back");
  await refresh();
  pair = null;
  await go(0, found.undone);
}

// --- keys and buttons ---

const KEYS = {
  a: () => alone(() => decide("accept")),
  r: () => alone(() => decide("reject")),
  u: () => alone(undo),
  j: () => alone(() => go(1)),
  k: () => alone(() => go(-1)),
  ArrowRight: () => alone(() => go(1)),
  ArrowLeft: () => alone(() => go(-1)),
  e: () => at("question").focus(),
  v: add,
  b: toggleBoxes,
  z: toggleZoom,
  "?": () => at("help").showModal(),
};

function onKey(event) {
  if (document.querySelector("dialog[open]")) return;
  const field = ["INPUT", "TEXTAREA", "SELECT"].includes(event.target.tagName);
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
    event.preventDefault();
    KEYS.a();
  } else if (field && event.key === "Escape") {
    event.target.blur();
  } else if (field && event.key === "Enter" && event.target.tagName === "INPUT") {
    event.preventDefault();
    event.target.blur();
  } else if (!field && !event.ctrlKey && !event.metaKey && !event.altKey) {
    if (event.key >= "1" && event.key <= "9" && pair) {
      toggle(Number(event.key) - 1);
    } else {
      const work = KEYS[event.key.length === 1 ? event.key.toLowerCase() : event.key];
      if (!work) return;
      event.preventDefault();
      work();
    }
  }
}

function add() {
  if (pair === null) return;
  const row = answerRow("");
  at("answers").append(row);
  row.querySelector("input").focus();
}

function toggleBoxes() {
  view.boxes = !view.boxes;
  at("frame").classList.toggle("no-boxes", !view.boxes);
  at("boxes-button").setAttribute("aria-pressed", String(view.boxes));
}

function toggleZoom() {
  view.full = !view.full;
  at("zoom-button").setAttribute("aria-pressed", String(view.full));
  fit();
}

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

async function begin() {
  await refresh();
  await go(1, null);
}

async function start() {
  for (const [id, key] of [["accept", "a"], ["reject", "r"], ["undo", "u"], ["next", "j"],
    ["back", "k"], ["add", "v"], ["boxes-button", "b"], ["zoom-button", "z"], ["help-button", "?"]]) {
    at(id).addEventListener("click", () => KEYS[key]());
  }
  at("question").addEventListener("input", mark);
  at("image").addEventListener("load", () => pair && fit());
  window.addEventListener("resize", () => pair && fit());
  document.addEventListener("keydown", onKey);
  for (const name of ["filter", "style"]) {
    at(name).addEventListener("change", (event) => {
      view[name] = event.target.value;
      event.target.blur();
      alone(() => go(1, null));
    });
  }
  at("show-all").addEventListener("click", () => {
    view.filter = "all";
    at("filter").value = "all";
    alone(() => go(1, null));
  });
  view.reviewer = "?";
  const fixed = await ask("api/state", {}).then((state) => state.reviewer);
  view.reviewer = fixed || "";
  if (fixed) {
    await begin();
    return;
  }
  at("name").value = remembered("dtvqa-reviewer");
  at("name-dialog").addEventListener("cancel", (event) => event.preventDefault());
  at("name-dialog").addEventListener("close", () => {
    view.reviewer = at("name").value.trim();
    if (!view.reviewer) {
      at("name-dialog").showModal();
      return;
    }
    remembered("dtvqa-reviewer", view.reviewer);
    alone(begin);
  });
  at("name-dialog").showModal();
}

alone(start);
