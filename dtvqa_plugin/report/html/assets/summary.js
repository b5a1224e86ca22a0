// The upper half of the page: what the runs are, their figures, their differences, their audits.

const OUTCOMES = [
  { key: 'exact', kind: 'o-exact', name: 'exact', text: 'the output is a reference answer' },
  { key: 'contained', kind: 'o-contained', name: 'contained', text: 'a reference occurs in the output (Acc 1)' },
  { key: 'near', kind: 'o-near', name: 'near', text: 'close enough to a reference for ANLS alone' },
  { key: 'none', kind: 'o-none', name: 'no credit', text: 'scores 0' },
  { key: 'failed', kind: 'o-failed', name: 'failed', text: 'the host got no output; scores 0' },
  { key: 'missing', kind: 'o-missing', name: 'not answered', text: 'the run lacks the question' },
];
const outcomeOf = (result) => (result ? result.outcome : 'missing');
const outcomeKind = (key) => OUTCOMES.find((outcome) => outcome.key === key);

let metric = doc.metrics[doc.metrics.length - 1].key;

function drawHead() {
  const images = doc.images.length;
  byId('head').replaceChildren(...[
    el('p', { class: 'eyebrow' }, doc.sample ? 'DT-VQA embedded sample' : doc.heading),
    el('h1', null, doc.title),
    el('p', { class: 'meta' }, [
      plural(doc.questions.length, 'question'), plural(images, 'image'),
      plural(doc.runs.length, 'run'), `tau ${doc.tau}`,
    ].join(' \u00b7 ')),
    doc.sample ? el('p', { class: 'notice' }, doc.heading, '.') : null,
  ].filter(Boolean));
}

function drawFoot() {
  byId('foot').replaceChildren(el('p', null,
    `Written by dtvqa-plugin ${doc.version}. Scores are recomputed from the outputs. Press `,
    el('kbd', null, '?'), ' for the keys.'));
}

function runCards() {
  return el('ul', { class: 'runs' }, doc.runs.map((run, place) => {
    const host = run.host === 'unknown' ? 'host unknown'
      : `${run.host}${run.hostVersion === 'unknown' ? '' : ` ${run.hostVersion}`}`;
    const lacks = [
      run.missing ? `${count(run.missing)} missing` : null,
      run.failed ? `${count(run.failed)} failed` : null,
    ].filter(Boolean).join(', ');
    return el('li', { class: `run-card run-${place}` },
      el('p', { class: 'run-name' }, badge(place), el('strong', null, el('bdi', null, run.name))),
      el('p', { class: 'run-facts' }, `${condition(run)} \u00b7 ${host} \u00b7 n ${count(run.answered)}`,
        lacks ? ` (${lacks})` : ''),
      el('details', null, el('summary', null, 'Signature', run.remarks.length
        ? ` and ${plural(run.remarks.length, 'remark')}` : ''),
      el('code', { class: 'signature' }, run.signature),
      run.remarks.map((remark) => el('p', { class: 'remark' }, remark)),
      el('p', { class: 'remark' }, `Read from ${run.files.join(', ')}.`)));
  }));
}

function figureCell(figure) {
  if (!figure) return '\u2013';
  const [value, low, high] = figure;
  return [el('span', { class: 'figure' }, one(value)),
    low === undefined ? null : el('span', { class: 'bounds' }, `${one(low)}\u2013${one(high)}`)];
}

function runLabel(row, place) {
  return [place === undefined ? null : badge(place), el('bdi', null, row.name),
    row.marks ? el('sup', null, row.marks) : null, el('span', { class: 'sub' }, condition(row))];
}

function scoreRows(pick) {
  return [
    ...doc.runs.map((run, place) => [runLabel(run, place), count(run.counts[doc.overall] || 0),
      ...pick(run)]),
    ...doc.published.map((row) => [runLabel(row), 'published', ...pick(row)]),
  ];
}

function scoreTable() {
  const cell = (row, part, key) => figureCell(row.figures[part] && row.figures[part][key]);
  return table(`${metricName(metric)} of each run by part`,
    ['Run', 'n', ...doc.parts.map(partName)],
    scoreRows((row) => doc.parts.map((part) => cell(row, part, metric))), 'scores');
}

function wholeTable() {
  const columns = doc.parts.flatMap((part) => doc.metrics.map(({ key }) => [part, key]));
  return el('details', { class: 'equivalent' }, el('summary', null, 'All metrics in one table'),
    table('All metrics of each run by part',
      ['Run', 'n', ...columns.map(([part, key]) => `${partName(part)} ${metricName(key)}`)],
      scoreRows((row) => columns.map(([part, key]) => (
        figureCell(row.figures[part] && row.figures[part][key])))), 'scores'));
}

function metricSwitch(change) {
  return el('div', { class: 'switch', role: 'group', 'aria-label': 'Metric' },
    doc.metrics.map(({ key, name }) => el('button', {
      type: 'button',
      'aria-pressed': String(key === metric),
      on: { click: () => { metric = key; change(key); } },
    }, name)));
}

function outcomeChart() {
  const rows = doc.runs.map((_, place) => {
    const tally = Object.fromEntries(OUTCOMES.map(({ key }) => [key, 0]));
    for (const question of doc.questions) tally[outcomeOf(question.results[place])] += 1;
    return { place, tally };
  });
  const kinds = OUTCOMES.filter(({ key }) => rows.some((row) => row.tally[key]));
  return shareChart('What became of the questions', kinds,
    rows.map(({ place, tally }) => ({ place, values: kinds.map(({ key }) => tally[key]) })),
    kinds.map((kind) => ({
      ...kind,
      button: el('button', {
        type: 'button', class: 'plain', title: `Show these questions: ${kind.text}`,
        on: { click: () => show({ outcome: kind.key }) },
      }, el('span', { class: `key ${kind.kind}`, 'aria-hidden': 'true' }), kind.name),
    })));
}

function verbosityChart() {
  const { bounds, bins } = doc.verbosity;
  const names = bounds.map((bound) => `up to ${bound}\u00d7`);
  names.push(`over ${bounds[bounds.length - 1]}\u00d7`);
  const kinds = names.map((name, place) => ({ name, kind: `v-${place}` }));
  return shareChart('Acc hits by length: output over answer', kinds,
    bins.map((found, place) => ({ place, values: found.counts })));
}

function verbosityNotes() {
  const rows = doc.verbosity.bins.map((found, place) => [
    runLabel(doc.runs[place], place), count(found.hits), ...found.accanls.map(one)]);
  const bounds = [...doc.verbosity.bounds.map((bound) => `up to ${bound}\u00d7`), 'all hits'];
  return el('details', { class: 'equivalent' },
    el('summary', null, 'AccANLS if longer hits did not count'),
    table('AccANLS over all questions if hits beyond each length did not count',
      ['Run', 'Hits', ...bounds], rows, 'scores'));
}

function scoresSection() {
  const figures = el('div');
  const switchBox = el('div', { class: 'section-head' });
  const draw = () => {
    switchBox.replaceChildren(el('h2', null, 'Scores'), metricSwitch(() => { draw(); drawPairs(); }));
    figures.replaceChildren(scoreTable(), wholeTable(), el('div', { class: 'charts' },
      intervalChart(metric), el('div', null, outcomeChart(), verbosityChart(), verbosityNotes())));
  };
  draw();
  return el('section', { 'aria-label': 'Scores' }, switchBox, figures,
    el('ul', { class: 'notes' }, doc.notes.map((note) => el('li', null, note))));
}

let pairsBox = null;

function drawPairs() {
  if (pairsBox === null) return;
  const rows = doc.pairs.map((pair) => {
    const label = [badge(pair.a), el('span', { class: 'minus' }, '\u2212'), badge(pair.b)];
    if (!pair.common) return [label, '0', 'no question in common', '\u2013', '\u2013', '\u2013', '\u2013'];
    const found = pair.metrics[metric];
    const whole = found.parts[doc.overall];
    const flip = (value, from, to) => el('button', {
      type: 'button', class: 'link',
      title: `Show what ${doc.runs[from].letter} gets credit for and ${doc.runs[to].letter} not`,
      on: { click: () => show({ flip: `${from}>${to}`, by: metric }) },
    }, count(value));
    return [label, count(pair.common),
      [el('span', { class: 'figure' }, signed(whole.difference)),
        el('span', { class: 'bounds' }, `${signed(whole.low)} to ${signed(whole.high)}`)],
      pValue(whole.holm), flip(found.gained, pair.a, pair.b), flip(found.lost, pair.b, pair.a),
      bestPart(found)];
  });
  const partial = doc.pairs.some((pair) => pair.common && (pair.onlyA || pair.onlyB));
  pairsBox.replaceChildren(
    table(`Differences between runs in ${metricName(metric)}`,
      ['Runs', 'n', `Difference in ${metricName(metric)}`, 'p (Holm)', 'Only the first', 'Only the second',
        'By subset (Holm p)'], rows, 'scores pairs'),
    el('p', { class: 'note' }, 'Paired by question; interval from resampled images, p from sign '
      + 'flips of images. \u201cOnly the first\u201d counts questions that give credit to that run '
      + 'alone; select a number to see them.',
    partial ? ' Where the runs answer different questions, the common ones are compared.' : ''));
}

function bestPart(found) {
  return el('ul', { class: 'by-part' }, Object.entries(found.parts)
    .filter(([part]) => part !== doc.overall)
    .map(([part, row]) => el('li', null, el('span', { class: 'sub' }, partName(part)),
      ` ${signed(row.difference)} (${pValue(row.holm)})`)));
}

function pairsSection() {
  if (doc.runs.length < 2) return null;
  pairsBox = el('div');
  drawPairs();
  return el('section', { 'aria-labelledby': 'pairs-title' },
    el('h2', { id: 'pairs-title' }, 'Where the runs differ'), pairsBox);
}

function auditsSection() {
  const rows = doc.flags.map((flag, number) => [
    [flag.name, el('span', { class: 'sub' }, flag.meaning)],
    ...flag.counts.map((value, place) => (value === 0
      ? el('span', { class: 'zero' }, '0', el('span', { class: 'of' }, ` of ${count(flag.of[place])}`))
      : [el('button', {
        type: 'button', class: 'link', title: 'Show these questions',
        on: { click: () => show({ flag: String(number), run: String(place) }) },
      }, count(value)), el('span', { class: 'of' }, ` of ${count(flag.of[place])}`)])),
  ]);
  return el('section', { 'aria-labelledby': 'audits-title' },
    el('h2', { id: 'audits-title' }, 'Audits'),
    table('Audit counts of each run', ['Audit', ...doc.runs.map((run, place) => [badge(place),
      hidden(` ${run.name}`)])], rows, 'scores audits'),
    el('p', { class: 'note' }, 'Audits change no score. Select a count to see its questions.'));
}

function drawSummary() {
  byId('summary').replaceChildren(...[
    runCards(), scoresSection(), whySection(), conditionsSection(), pairsSection(), auditsSection(),
  ].filter(Boolean));
}
