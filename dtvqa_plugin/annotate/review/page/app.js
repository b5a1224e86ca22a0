"use strict";

// --- deciding ---

const DONE = { accept: "Accepted", reject: "Rejected", unsure: "Left as unsure", join: "Joined" };

async function decide(verdictGiven) {
  if (pair === null) return;
  if (hand) {
    if (verdictGiven === "accept") await addByHand();
    else say("Accept (A) adds the new pair, N leaves it.", true);
    return;
  }
  const { question, answers, note } = current();
  if (verdictGiven === "accept" && answers.length === 0) {
    say("An accepted question needs an answer.", true);
    return;
  }
  if (verdictGiven === "join" && !pair.variants) {
    say("There are no variants of two reviewers to join here.", true);
    return;
  }
  try {
    await tell("api/decide", {
      pair: pair.pair,
      verdict: verdictGiven,
      question: question.trim() || pair.question,
      answers: answers.length ? answers : pair.answers,
      note,
      seen: pair.seen,
    });
  } catch (error) {
    if (error.overturns) {
      drafts.set(pair.pair, { question, answers, note });
      await reread();
    }
    throw error;
  }
  const was = pair.pair;
  drafts.delete(was);
  pair = null;
  document.activeElement.blur();
  say(DONE[verdictGiven]);
  await refresh();
  show(await ask("api/pair", { ...shownView(), step: 1, from: was }));
}

// The same pair as the server has it now.
async function reread() {
  show(await ask("api/pair", { ...shownView(), step: 0, from: pair.pair }));
}

async function undo() {
  let found;
  try {
    found = await tell("api/undo", { seen: view.last });
  } catch (error) {
    if (error.overturns) await refresh();
    throw error;
  }
  if (found.undone === null) {
    say("Nothing to undo.");
    return;
  }
  say("Taken back");
  await refresh();
  if (pair === null || found.here) {
    pair = null;
    await go(0, found.undone);
  } else {
    await reread();
  }
}

// --- keys and buttons ---

const KEYS = {
  a: () => decide("accept"),
  r: () => decide("reject"),
  s: () => decide("unsure"),
  g: () => decide("join"),
  u: undo,
  j: () => go(1),
  k: () => go(-1),
  n: startHand,
  e: () => at("question").focus(),
  c: () => at("note").focus(),
  v: add,
  b: toggleBoxes,
  z: toggleZoom,
  "+": () => zoomMiddle(1.25),
  "-": () => zoomMiddle(0.8),
  "/": () => at("search").focus(),
  "?": () => at("help").showModal(),
};
Object.assign(KEYS, {
  arrowright: KEYS.j,
  arrowleft: KEYS.k,
  "=": KEYS["+"],
  "shift+arrowleft": () => move(-80, 0),
  "shift+arrowright": () => move(80, 0),
  "shift+arrowup": () => move(0, -80),
  "shift+arrowdown": () => move(0, 80),
});
const ONCE = new Set(["a", "r", "s", "g", "u", "n"]);

const isField = (element) => ["INPUT", "TEXTAREA"].includes(element.tagName);
const isDigit = (key) => key >= "1" && key <= "9" && key.length === 1;

function keyName(event) {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) return "accept";
  const key = event.key.length === 1 ? event.key : event.key.toLowerCase();
  return event.shiftKey && key.startsWith("arrow") ? `shift+${key}` : key;
}

// Every key that means something waits in the queue, letters of a field as well while it is busy.
function onKey(event) {
  const key = keyName(event);
  const target = document.activeElement;
  if (document.querySelector("dialog[open]") || event.isComposing) return;
  if (key !== "accept" && (event.ctrlKey || event.metaKey || event.altKey)) return;
  if (target.tagName === "SELECT" && key !== "accept") return;
  if (["BUTTON", "SUMMARY"].includes(target.tagName) && ["enter", " "].includes(key)) return;
  const command = key === "accept" || key.toLowerCase() in KEYS || isDigit(key);
  const leaves = key === "escape" || (key === "enter" && target.tagName === "INPUT");
  const writes = key.length === 1 || key === "backspace" || leaves;
  if (isField(target) && !busy && key !== "accept" && !leaves) return;
  if (!isField(target) && !command && !(busy && writes)) return;
  if (isField(target) && busy && !writes && key !== "accept") return;
  event.preventDefault();
  const once = !isField(target) && ONCE.has(key.toLowerCase());
  if (event.repeat && (busy || once)) return;
  queue(() => press(key));
}

function press(key) {
  const target = document.activeElement;
  if (key === "accept") return KEYS.a();
  if (isField(target)) return write(target, key);
  if (isDigit(key)) return toggle(Number(key) - 1);
  return KEYS[key.toLowerCase()]?.();
}

function write(field, key) {
  if (key === "escape" || (key === "enter" && field.tagName === "INPUT")) {
    field.blur();
    return;
  }
  const { selectionStart: start, selectionEnd: end } = field;
  if (key === "backspace") field.setRangeText("", start === end ? Math.max(0, start - 1) : start, end);
  else if (key.length === 1) field.setRangeText(key, start, end, "end");
  field.dispatchEvent(new Event("input"));
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

// --- beginning ---

async function begin() {
  await refresh();
  await go(1, null);
}

const BUTTONS = {
  accept: "a", reject: "r", unsure: "s", undo: "u", next: "j", back: "k", add: "v", "hand-button": "n",
  "hand-leave": "n", "boxes-button": "b", "zoom-button": "z", "help-button": "?",
};
const CHOICES = ["filter", "flag", "style", "sort", "search"];

function listen() {
  for (const [id, key] of Object.entries(BUTTONS)) {
    at(id).addEventListener("click", (event) => {
      // The second click of a double click would decide on a pair that nobody has seen.
      if (event.detail < 2 || !ONCE.has(key)) queue(KEYS[key]);
    });
  }
  at("question").addEventListener("input", mark);
  at("hand-line").addEventListener("change", (event) => chooseLine(event.target.value));
  document.addEventListener("keydown", onKey);
  // A tab that is looked at again learns what happened meanwhile, to the server as well.
  window.addEventListener("focus", () => view.last !== null && queue(refresh));
  for (const name of CHOICES) {
    at(name).addEventListener("change", (event) => {
      view[name] = event.target.value;
      event.target.blur();
      queue(() => go(1, null));
    });
  }
  at("show-all").addEventListener("click", () => {
    Object.assign(view, { filter: "all", flag: "", style: "", search: "" });
    for (const name of CHOICES) at(name).value = view[name];
    queue(() => go(1, null));
  });
  startImage();
}

async function start() {
  listen();
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
    queue(begin);
  });
  at("name-dialog").showModal();
}

queue(start);
