"use strict";

// --- state and progress ---

async function refresh() {
  const state = await ask("api/state", {});
  view.last = state.last;
  view.noPair = state.no_pair;
  document.title = `Review: ${state.name}`;
  rewrite(at("set-name"), state.name);
  rewrite(at("who"), `${view.reviewer}, ${state.mine} decided`);
  at("progress").replaceChildren(...state.styles.map((style) => goal(style, state.target)));
  const styles = state.styles.map((style) => [style.name, style.name]);
  fillSelect("style", [["", "all"], ...styles]);
  at("style-label").hidden = styles.length < 2;
  const flags = state.flags.map(([code, count]) => [code, `${code.replaceAll("-", " ")} (${count})`]);
  fillSelect("flag", [["", "any or none"], ["none", "no flag"], ...flags]);
  at("flag-label").hidden = flags.length === 0;
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
  if (style.variants) count.append(`, ${style.variants} to join`);
  box.append(make("span", "name", style.name), count, rail(Math.min(1, style.accepted / target)));
  box.title = `${style.accepted} accepted, ${style.rejected} rejected, ${style.disputed} disputed, `
    + `${style.variants} with variants to join, ${style.unsure} unsure, ${style.pairs} pairs`;
  return box;
}

function rail(share) {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("viewBox", "0 0 100 4");
  svg.setAttribute("preserveAspectRatio", "none");
  svg.setAttribute("aria-hidden", "true");
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

function fillSelect(id, options) {
  const select = at(id);
  if (select.options.length === options.length) return;
  select.replaceChildren(...options.map(([value, text]) => {
    const option = make("option", "", text);
    option.value = value;
    return option;
  }));
  select.value = view[id];
}
