"use strict";

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
