// Why answers fail: outcomes of the diagnosis, scores against density, boxes on the image.

const why = doc.diagnosis;
const WHY = why === null ? [] : [
  ...why.outcomes.map(({ key, text }) => ({ key, name: key, text, kind: `w-${key}` })),
  { key: 'missing', name: 'not answered', text: 'the run lacks the question', kind: 'w-missing' },
];
const whyOf = (result) => (result ? result.why : 'missing');

// [value, name] of every bin; a value is the feature's and the bin's place.
function binOptions() {
  if (why === null) return [];
  return why.features.flatMap((feature, at) => feature.bins.map((bin, place) => (
    [`${at}:${place}`, `${feature.title}: ${bin}`])));
}

function binTest(value) {
  if (!value) return () => true;
  const [feature, place] = value.split(':').map(Number);
  return (question) => question.bins !== undefined && question.bins[feature] === place;
}

function whyChart() {
  const rows = doc.runs.map((_, place) => {
    const tally = Object.fromEntries(WHY.map(({ key }) => [key, 0]));
    for (const question of doc.questions) tally[whyOf(question.results[place])] += 1;
    return { place, tally };
  });
  const kinds = WHY.filter(({ key }) => rows.some((row) => row.tally[key]));
  return shareChart('Outcomes of the diagnosis', kinds,
    rows.map(({ place, tally }) => ({ place, values: kinds.map(({ key }) => tally[key]) })),
    kinds.map((kind) => ({
      ...kind,
      button: el('button', {
        type: 'button', class: 'plain', title: `Show these questions: ${kind.text}`,
        on: { click: () => show({ why: kind.key }) },
      }, el('span', { class: `key ${kind.kind}`, 'aria-hidden': 'true' }), kind.name),
    })));
}

function trendText({ trend }) {
  if (trend === null) return '\u2013';
  const [value, low, high] = trend;
  return `${signed(value)} [${signed(low)}, ${signed(high)}]`;
}

// AccANLS in each bin of one feature: a line a run, with its intervals.
function curveChart(at) {
  const feature = why.features[at];
  const title = `AccANLS by ${feature.title}`;
  const points = feature.curves.flatMap((curve) => curve.points).filter(Boolean);
  if (!points.length) {
    return el('p', { class: 'note' }, `Not known for any question: ${feature.title}. `
      + 'The recognised text of the images is missing, or no answer was found in it.');
  }
  const says = feature.curves.map((curve, run) => `${doc.runs[run].letter}: ${curve.points
    .map((point, bin) => `${feature.bins[bin]} ${pointText(point)}`).join('; ')}`).join('. ');
  const rows = feature.curves.map((curve, run) => [
    `${doc.runs[run].letter} ${doc.runs[run].name}`,
    ...curve.points.map((point) => (point === null ? '\u2013' : [pointText(point),
      point.thin ? ' (thin)' : ''])),
    trendText(curve), count(curve.unknown)]);
  return chart(title, `${says}.`,
    legend(doc.runs.map((run, place) => ({ name: `${run.letter} ${run.name}`, key: marker(place) }))),
    pointDrawing(feature.bins, feature.curves.map((curve, run) => ({
      place: run, name: doc.runs[run].letter, points: curve.points,
    }))), table(title, ['Run', ...feature.bins, 'Per doubling', 'Not known'], rows, 'figures'));
}

function whySection() {
  if (why === null) return null;
  const box = el('div');
  const pick = el('select', {
    class: 'feature',
    on: { change: () => box.replaceChildren(curveChart(Number(pick.value))) },
  }, why.features.map((feature, at) => el('option', { value: at }, feature.title)));
  const first = why.features.findIndex((feature) => feature.bins.length > 1);
  pick.value = String(Math.max(0, first));
  box.replaceChildren(curveChart(Number(pick.value)));
  return el('section', { 'aria-labelledby': 'why-title' },
    el('h2', { id: 'why-title' }, 'Why answers fail'),
    el('div', { class: 'charts' }, el('div', null, whyChart()),
      el('div', null, el('label', { class: 'sub' }, 'Property ', pick), box)),
    el('ul', { class: 'notes' }, why.notes.map((note) => el('li', null, note))));
}

// --- of one question -------------------------------------------------------------------------

function whyLine(result) {
  if (why === null || !result) return null;
  const outcome = WHY.find(({ key }) => key === result.why);
  return el('p', { class: 'why' }, el('span', { class: `key ${outcome.kind}`, 'aria-hidden': 'true' }),
    el('span', { title: outcome.text }, outcome.name),
    result.evidence ? [': ', el('bdi', null, result.evidence)] : null);
}

// Boxes in pixels of the upright image, over an image that keeps its proportions.
function boxesOf(question) {
  const { page } = doc.images[question.image];
  if (!page) return null;
  const rectangle = ([left, top, right, bottom], name) => svg('rect', {
    class: name, x: left, y: top, width: Math.max(1, right - left), height: Math.max(1, bottom - top),
    'vector-effect': 'non-scaling-stroke',
  });
  const drawn = question.results.map((result, run) => (
    result && result.box ? rectangle(result.box, `output-box run-${run}`) : null));
  if (question.box) drawn.push(rectangle(question.box, 'answer-box'));
  if (!drawn.some(Boolean)) return null;
  return svg('svg', {
    class: 'boxes', viewBox: `0 0 ${page[0]} ${page[1]}`, preserveAspectRatio: 'xMidYMid meet',
    'aria-hidden': 'true',
  }, drawn);
}

function boxesNote(question) {
  const runs = question.results.flatMap((result, run) => (result && result.box ? [run] : []));
  if (!doc.images[question.image].page || (!question.box && !runs.length)) return null;
  return el('p', { class: 'boxes-note' },
    question.box ? [el('span', { class: 'key answer-key', 'aria-hidden': 'true' }), 'answer '] : null,
    runs.length ? ['outputs ', runs.map(badge)] : null);
}
