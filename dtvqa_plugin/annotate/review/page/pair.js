"use strict";

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
