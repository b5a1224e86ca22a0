// One question: its image, its reference answers, what each run said.

const seen = (text) => text.replace(/ /g, '\u2423');

function piece([kind, text]) {
  if (kind === 'm') return el('mark', null, text);
  if (kind === '-') return el('del', null, hidden('[missing: '), seen(text), hidden(']'));
  if (kind === '+') return el('ins', null, hidden('[added: '), seen(text), hidden(']'));
  if (kind === 'gap') return el('span', { class: 'gap' }, `\u2026 ${plural(text, 'character')} not shown \u2026`);
  return text;
}

function outputOf(result) {
  if (result.outcome === 'failed') return el('span', { class: 'nothing' }, 'no output: the call failed');
  if (result.length === 0) {
    return el('span', { class: 'nothing' }, result.truncated
      ? 'nothing: cut off in its reasoning' : 'nothing: an empty output');
  }
  return el('bdi', null, result.output.map(piece));
}

// A long output scrolls in its box, which the keyboard then has to reach.
function outputBox(result) {
  const long = result.length > 400;
  return el('p', {
    class: 'output', dir: 'auto', tabindex: long ? '0' : null, role: long ? 'group' : null,
    'aria-label': long ? 'Output' : null,
  }, outputOf(result));
}

function editOf(result) {
  if (!result.edit) return null;
  const near = result.outcome === 'near';
  const note = near
    ? `edit from the reference, distance ${result.distance.toFixed(2)}`
    : `edit from the nearest reference, distance ${result.distance.toFixed(2)}: no credit from ${doc.tau} up`;
  return el('p', { class: 'edit' }, el('span', { class: 'sub' }, note),
    el('bdi', { class: 'edit-text' }, result.edit.map(piece)));
}

// The place of the output says these already.
const SAID = ['failed', 'empty', 'cut off in its reasoning'];

function tagsOf(result) {
  const tags = result.flags.map((place) => doc.flags[place])
    .filter((flag) => !SAID.includes(flag.name))
    .map((flag) => el('li', { title: flag.meaning }, flag.name));
  if (result.ratio >= 4) tags.unshift(el('li', null, `${result.ratio.toFixed(1)}\u00d7 as long`));
  return tags.length ? el('ul', { class: 'tags' }, tags) : null;
}

function resultOf(result, place) {
  const run = doc.runs[place];
  const outcome = outcomeKind(outcomeOf(result));
  const scores = result && doc.metrics.map(({ name }, at) => `${name} ${one(100 * result.scores[at])}`);
  return el('div', { class: `result run-${place}`, role: 'group', 'aria-label': `Run ${run.letter}, ${run.name}` },
    el('h4', null, badge(place),
      el('span', { class: `outcome ${outcome.kind}`, title: outcome.text }, outcome.name),
      result ? el('span', { class: 'score', title: scores.join(', ') },
        one(100 * result.scores[result.scores.length - 1])) : null),
    result ? [outputBox(result), editOf(result), whyLine(result), tagsOf(result)]
      : el('p', { class: 'output' }, el('span', { class: 'nothing' }, 'this run lacks the question')));
}

function referencesOf(question) {
  const takers = question.answers.map(() => []);
  question.results.forEach((result, place) => {
    if (result && result.matched !== undefined) takers[result.matched].push(place);
  });
  return el('div', { class: 'references' },
    el('span', { class: 'sub' }, question.answers.length > 1 ? 'References' : 'Reference'),
    el('ul', null, question.answers.map((answer, place) => el('li', null,
      el('bdi', null, answer),
      takers[place].length ? [hidden(' matched by '), takers[place].map(badge)] : null))));
}

function pictureOf(question) {
  const image = doc.images[question.image];
  const data = thumbnail(question.image);
  if (data === null && image.file === null) {
    return el('div', { class: 'picture none' }, el('span', null, 'No image: ', image.problem || 'unknown'));
  }
  const size = image.size || [];
  return el('div', { class: 'picture' }, el('button', {
    type: 'button', class: 'thumb', 'aria-label': `Open the image of ${question.id}`,
    on: { click: () => openViewer(question) },
  }, data === null ? el('span', null, 'Open the image')
    : [el('img', { src: data, alt: `Image of ${question.id}`, width: size[0], height: size[1], decoding: 'async' }),
      boxesOf(question)]), boxesNote(question));
}

function card(question, place, total) {
  const id = `q-${doc.questions.indexOf(question)}`;
  return el('article', {
    class: 'card', id, tabindex: '-1', 'aria-posinset': place + 1, 'aria-setsize': total,
    'aria-labelledby': `${id}-title`, 'data-question': question.id,
  },
  pictureOf(question),
  el('div', { class: 'body' },
    el('p', { class: 'where' },
      el('a', {
        class: 'qid', href: hashOf({ ...DEFAULTS }, question.id), title: 'Link to this question',
        on: {
          click: (event) => {
            if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
            event.preventDefault();
            focusQuestion(place);
          },
        },
      }, question.id),
      el('span', { class: 'sub' }, ` ${count(place + 1)} of ${count(total)}`)),
    el('h3', { id: `${id}-title`, dir: 'auto' }, question.question),
    referencesOf(question),
    el('div', { class: `results of-${doc.runs.length}` }, question.results.map(resultOf))));
}
