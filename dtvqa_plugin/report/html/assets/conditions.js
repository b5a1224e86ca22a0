// One model under several conditions: scores with intervals, differences, and what they say.

function conditionsSection() {
  const joined = doc.conditions;
  if (joined === null) return null;
  const { rows, base } = joined;
  const sizes = rows.filter((row) => row.side !== null).sort((a, b) => a.side - b.side);
  const drawn = [...sizes, ...rows.filter((row) => row.name === base),
    ...rows.filter((row) => row.side === null && row.name !== base)];
  const title = `AccANLS of ${joined.model} by condition`;
  const figure = chart(title,
    `${drawn.map((row) => `${row.name}: ${cellText(row.figures.accanls)}`).join('. ')}.`, null,
    pointDrawing(drawn.map((row) => row.name), [{
      place: 0,
      name: joined.model,
      points: drawn.map((row) => ({
        score: row.figures.accanls, apart: row.side === null && row.name !== base,
      })),
    }]),
    table(title, ['Condition', 'AccANLS'], drawn.map((row) => (
      [row.name, cellText(row.figures.accanls)])), 'figures'));
  const difference = (row) => (row.difference === null ? '\u2013' : [
    el('span', { class: 'figure' }, signed(row.difference[0])),
    el('span', { class: 'bounds' }, `${signed(row.difference[1])} to ${signed(row.difference[2])}`)]);
  return el('section', { 'aria-labelledby': 'conditions-title' },
    el('h2', { id: 'conditions-title' }, 'Conditions of one model'),
    el('p', { class: 'note' }, joined.heading),
    table('Scores by condition',
      ['Condition', ...doc.metrics.map(({ name }) => name), `AccANLS minus ${base}`, ...joined.subsets],
      rows.map((row) => [row.name, ...doc.metrics.map(({ key }) => figureCell(row.figures[key])),
        difference(row), ...joined.subsets.map((name) => figureCell(row.bySubset[name]))]), 'scores'),
    el('div', { class: 'charts' }, figure, el('div', null, el('h3', null, 'Findings'),
      el('ul', { class: 'findings' }, joined.findings.map((finding) => el('li', null, finding))))),
    el('ul', { class: 'notes' }, joined.notes.map((note) => el('li', null, note))));
}
