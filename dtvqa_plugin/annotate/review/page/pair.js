"use strict";

// --- one pair ---

async function go(step, from = pair && pair.pair) {
  keepDraft();
  const values = { ...shownView(), step };
  if (from) values.from = from;
  show(await ask("api/pair", values));
}

function show(found) {
  leaveHand();
  pair = found.pair;
  at("main").hidden = pair === null;
  at("empty").hidden = pair !== null;
  if (pair === null) {
    const whole = !view.style && !view.flag && !view.search;
    const done = view.filter === "todo" && whole;
    at("empty-title").textContent = done ? "All decided" : "Nothing here";
    at("empty-text").textContent = (done
      ? "You have decided on every pair. Undo (U) takes the last decision back."
      : "No pair fits this view.")
      + (view.noPair ? ` Images whose answers gave no pair: ${view.noPair} (a view shows them).` : "");
    return;
  }
  at("place").textContent = found.place ? `${found.place} of ${found.total}` : "";
  rewrite(at("file"), pair.file);
  at("file").title = pair.file;
  const [place, count] = pair.of_image;
  const origin = pair.by_hand ? pair.round : `by ${pair.model} (${pair.round})`;
  const where = pair.image_only ? "no pair of this image yet" : `${origin}, pair ${place} of ${count} of this image`;
  rewrite(at("meta"), `${pair.style}, ${where}`);
  at("flags").replaceChildren(...pair.flags.map(flag));
  fill(drafts.get(pair.pair) || before());
  showVerdicts();
  showUnread();
  showImage();
  mark();
  if (pair.image_only) startHand();
}

// What the fields held before anything was typed.
const before = () => pair.mine || { question: pair.question, answers: pair.answers, note: "" };

const current = () => ({
  question: at("question").value, answers: currentAnswers(), note: at("note").value,
});

function fill(texts) {
  at("question").value = texts.question;
  at("note").value = texts.note;
  setAnswers(texts.answers);
}

function flag([code, reason]) {
  const item = make("li");
  item.append(make("b", "", code.replaceAll("-", " ")), written("span", "", reason));
  return item;
}

function setAnswers(answers) {
  at("answers").replaceChildren(...answers.map(answerRow));
}

function answerRow(text) {
  const row = make("li");
  const input = make("input");
  input.value = text.replace(/[\r\n]+/g, " ");
  input.dir = "auto";
  input.setAttribute("aria-label", "Acceptable answer");
  input.spellcheck = false;
  input.addEventListener("input", mark);
  const remove = make("button", "quiet", "×");
  remove.type = "button";
  remove.title = "Remove this answer";
  remove.setAttribute("aria-label", `Remove the answer ${text}`);
  remove.addEventListener("click", () => { row.remove(); mark(); });
  const note = make("p", "unseen-note");
  note.hidden = true;
  row.append(input, remove, note);
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
  if (pair === null || hand) return;
  const { question, answers, note } = before();
  if (JSON.stringify(current()) === JSON.stringify({ question, answers, note })) {
    drafts.delete(pair.pair);
  } else {
    drafts.set(pair.pair, current());
  }
}

// Whatever was typed or toggled: marks, proposals, highlighted boxes, field heights.
function mark() {
  at("edited").hidden = hand !== null || !changed();
  showProposals();
  highlight();
  const question = at("question");
  question.style.height = "auto";
  question.style.height = `${question.scrollHeight + 2}px`;
  showUnseen(at("question-unseen"), question.value);
  for (const row of at("answers").children) {
    showUnseen(row.querySelector(".unseen-note"), row.querySelector("input").value);
  }
  rewrite(at("said"), currentAnswers().join("  |  ") || "no answer");
}

function showProposals() {
  const taken = currentAnswers();
  at("proposals-block").hidden = hand !== null || pair.proposals.length === 0;
  at("proposals").replaceChildren(...pair.proposals.map(([text, , reason], place) => {
    const row = make("li");
    const button = make("button");
    button.type = "button";
    button.setAttribute("aria-pressed", String(taken.includes(text)));
    button.append(
      make("kbd", "", place < 9 ? String(place + 1) : "+"),
      written("span", "text", text),
      make("span", "why", reason),
    );
    button.addEventListener("click", () => toggle(place));
    row.append(button);
    return row;
  }));
}

function toggle(place) {
  if (pair === null || hand || place >= pair.proposals.length) return;
  const text = pair.proposals[place][0];
  const answers = currentAnswers();
  setAnswers(answers.includes(text) ? answers.filter((a) => a !== text) : [...answers, text]);
  mark();
}

// --- what was decided, and what could not be read ---

function showVerdicts() {
  const parts = [];
  if (pair.mine) parts.push(verdict("You", pair.mine));
  for (const held of pair.others) {
    const me = held.reviewer === view.reviewer;
    parts.push(verdict(me ? "You, on another machine" : held.reviewer, held));
  }
  if (pair.variants) {
    const join = make("button", "plain", "Join the variants ");
    join.type = "button";
    join.id = "join";
    join.append(make("kbd", "", "G"));
    join.addEventListener("click", () => queue(KEYS.g));
    parts.push(join);
  }
  at("verdicts").replaceChildren(...parts);
}

const SAID = { accept: "accepted", reject: "rejected", unsure: "unsure" };

function verdict(who, held) {
  const box = make("div", `verdict ${held.verdict}`);
  box.append(written("bdi", "", who), ": ", make("b", "", SAID[held.verdict]));
  if (held.note) box.append(written("div", "note", `Note: ${held.note}`));
  if (held.verdict === "accept") {
    const text = make("div");
    text.append(written("bdi", "", held.question));
    for (const one of held.answers) text.append(" | ", written("bdi", "", one));
    const take = make("button", "quiet", "Take these texts");
    take.type = "button";
    take.addEventListener("click", () => {
      fill({ question: held.question, answers: held.answers, note: at("note").value });
      mark();
    });
    box.append(text, take);
  }
  return box;
}

function showUnread() {
  at("unread").hidden = pair.unread.length === 0;
  const count = pair.unread.length + pair.unread_more;
  at("unread-title").textContent = `Text of the answers that no rule reads (${count})`;
  const texts = pair.unread.map((part) => written("pre", part.refusal ? "refusal" : "", part.text));
  if (pair.unread_more) texts.push(make("p", "", `${pair.unread_more} more in unread.jsonl`));
  at("unread-texts").replaceChildren(...texts);
}
