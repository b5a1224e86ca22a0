"use strict";

// --- a new pair, made by hand from a box of the image ---

let hand = null;

const handDraft = () => `new ${pair.image}`;

function startHand() {
  if (pair === null) return;
  if (hand) {
    if (pair.image_only) return;
    leaveHand();
    fill(drafts.get(pair.pair) || before());
    showVerdicts();
    mark();
    return;
  }
  keepDraft();
  const kept = drafts.get(handDraft()) || { question: "", answers: [""], note: "", box: null };
  hand = { box: kept.box };
  showHand();
  at("hand-line").value = "";
  fill(kept);
  at("verdicts").replaceChildren();
  mark();
  if (!pair.image_only) say("New pair: choose its box, then write the question.");
}

// Back to the pair that is shown; what was written is kept for the next time.
function leaveHand() {
  if (!hand) return;
  const texts = current();
  if (texts.question || texts.answers.length || hand.box) {
    const answers = texts.answers.length ? texts.answers : [""];
    drafts.set(handDraft(), { ...texts, answers, box: hand.box });
  } else {
    drafts.delete(handDraft());
  }
  hand = null;
  showHand();
}

function showHand() {
  const making = hand !== null;
  document.body.classList.toggle("by-hand", making);
  at("hand").hidden = !making;
  at("hand-button").setAttribute("aria-pressed", String(making));
  at("reject").disabled = at("unsure").disabled = making;
  at("accept").firstChild.data = making ? "Add " : "Accept ";
}

function fillLines() {
  const lines = boxes.map(([text], place) => [place, text]).filter(([, text]) => text.trim());
  at("hand-line").replaceChildren(...[["", "choose"], ...lines].map(([value, text]) => {
    const option = make("option", "", marked(text).map((part) => part.textContent ?? part).join(""));
    option.value = value;
    return option;
  }));
}

function choose(box, text) {
  hand.box = box;
  if (text) {
    const [, ...rest] = [...at("answers").querySelectorAll("input")].map((input) => input.value);
    setAnswers([text, ...rest]);
  }
  mark();
}

function chooseLine(value) {
  if (!hand || value === "") return;
  const [text, quad] = boxes[Number(value)];
  choose(edges(quad), text);
}

// A click takes the text box below it; a rectangle takes the boxes whose middle is in it.
function chooseArea(area) {
  const [left, top, right, bottom] = area;
  const click = right - left < 4 && bottom - top < 4;
  const inside = boxes.map(([text, quad]) => [text, edges(quad)]).filter(([, box]) => (click
    ? box[0] <= left && left <= box[2] && box[1] <= top && top <= box[3]
    : left <= (box[0] + box[2]) / 2 && (box[0] + box[2]) / 2 <= right
      && top <= (box[1] + box[3]) / 2 && (box[1] + box[3]) / 2 <= bottom));
  if (click && inside.length === 0) {
    showChosen(hand.box);
    return;
  }
  const text = (click ? inside.slice(-1) : inside).map(([one]) => one).join(" ");
  choose(click ? inside.at(-1)[1] : area, text);
  at("question").focus();
}

async function addByHand() {
  const { question, answers, note } = current();
  if (!question.trim() || answers.length === 0) {
    say("A new pair needs a question and an answer.", true);
    return;
  }
  await tell("api/add", { beside: pair.pair, question, answers, note, box: hand.box });
  hand.box = null;
  fill({ question: "", answers: [], note: "" });
  leaveHand();
  document.activeElement.blur();
  say("Added");
  await refresh();
  await reread();
}
