// Charts as inline SVG, each with a title, a description that says its figures, and a table.

let chartNumber = 0;

// A figure whose drawing follows the width it is given. `draw(width)` returns SVG nodes and a
// height; `asTable` is the text equivalent.
function chart(title, description, legend, draw, asTable) {
  chartNumber += 1;
  const ids = [`chart-${chartNumber}-title`, `chart-${chartNumber}-text`];
  const box = el('div', { class: 'canvas' });
  const paint = (width) => {
    const { nodes, height } = draw(width);
    box.replaceChildren(svg('svg', {
      role: 'img',
      'aria-labelledby': ids.join(' '),
      viewBox: `0 0 ${width} ${height}`,
      width,
      height,
    }, svg('title', { id: ids[0] }, title), svg('desc', { id: ids[1] }, description), nodes));
  };
  let painted = 0;
  new ResizeObserver(([entry]) => {
    const width = Math.max(260, Math.floor(entry.contentRect.width));
    if (width === painted) return;
    painted = width;
    paint(width);
  }).observe(box);
  return el('figure', { class: 'chart' },
    el('figcaption', null, title),
    legend,
    box,
    el('details', { class: 'equivalent' }, el('summary', null, 'The same as a table'), asTable));
}

function marker(place) {
  return svg('svg', { class: `run-${place}`, viewBox: '0 0 14 14', 'aria-hidden': 'true' },
    MARKERS[place](7, 7));
}

function legend(items) {
  return el('ul', { class: 'legend' }, items.map(({ name, kind, button, key }) => (
    el('li', null, button || [key instanceof Node ? key
      : el('span', { class: `key ${kind}`, 'aria-hidden': 'true' }), name])
  )));
}

const MARKERS = [
  (x, y) => svg('circle', { cx: x, cy: y, r: 4.5 }),
  (x, y) => svg('rect', { x: x - 4, y: y - 4, width: 8, height: 8 }),
  (x, y) => svg('path', { d: `M${x} ${y - 5.6}l5.6 5.6l-5.6 5.6l-5.6 -5.6z` }),
  (x, y) => svg('path', { d: `M${x} ${y - 5.2}l5.4 9.4h-10.8z` }),
];

function scale(low, high, from, to) {
  return (value) => from + ((value - low) / (high - low)) * (to - from);
}

function ticksOf(low, high) {
  const step = high - low > 60 ? 20 : high - low > 20 ? 10 : 5;
  const ticks = [];
  for (let value = Math.ceil(low / step) * step; value <= high; value += step) ticks.push(value);
  return ticks;
}

function cellText(figure) {
  if (!figure) return '\u2013';
  const [value, low, high] = figure;
  return low === undefined ? one(value) : `${one(value)} [${one(low)}, ${one(high)}]`;
}

// Dots with intervals: one group a part, one line a run.
function intervalChart(metric) {
  const groups = doc.parts.map((part) => ({
    part,
    rows: doc.runs.map((run, place) => ({
      place, figure: run.figures[part] && run.figures[part][metric], n: run.counts[part],
    })).filter((row) => row.figure),
  })).filter((group) => group.rows.length);
  const bounds = groups.flatMap((group) => group.rows.flatMap((row) => row.figure));
  const low = Math.max(0, Math.floor((Math.min(...bounds) - 2) / 10) * 10);
  const high = Math.min(100, Math.ceil((Math.max(...bounds) + 2) / 10) * 10);
  const level = Math.round(doc.sampling.level * 100);
  const draw = (width) => {
    const narrow = width < 460;
    const left = narrow ? 8 : 96;
    const right = width - (narrow ? 44 : 128);
    const x = scale(low, Math.max(high, low + 10), left + 8, right - 8);
    const line = 17;
    const nodes = [];
    let y = 6;
    for (const { part, rows } of groups) {
      const strong = part === doc.overall ? ' strong' : '';
      if (narrow) y += 16;
      nodes.push(narrow
        ? svg('text', { x: left, y: y - 1, class: `label${strong}` }, partName(part))
        : svg('text', {
          x: left - 10, y: y + (rows.length * line) / 2 + 4, class: `label end${strong}`,
        }, partName(part)));
      for (const { place, figure } of rows) {
        const middle = y + line / 2;
        const [value, from, to] = figure;
        nodes.push(svg('g', { class: `mark run-${place}` },
          svg('title', null, `${doc.runs[place].letter} ${partName(part)}: ${cellText(figure)}`),
          svg('line', { class: 'rail', x1: left + 8, x2: right - 8, y1: middle, y2: middle }),
          from === undefined ? null : svg('line', {
            class: 'interval', x1: x(from), x2: Math.max(x(to), x(from) + 1), y1: middle, y2: middle,
          }),
          MARKERS[place](x(value), middle)));
        nodes.push(svg('text', { x: right + 6, y: middle + 4, class: 'value' },
          svg('tspan', { class: 'figure' }, one(value)),
          narrow || from === undefined ? null
            : svg('tspan', { dx: 6, class: 'bounds' }, `${one(from)}\u2013${one(to)}`)));
        y += line;
      }
      y += 10;
    }
    const grid = ticksOf(low, Math.max(high, low + 10)).map((tick) => svg('g', { class: 'tick' },
      svg('line', { x1: x(tick), x2: x(tick), y1: 4, y2: y - 4 }),
      svg('text', { x: x(tick), y: y + 10, class: 'label middle' }, tick)));
    return { nodes: [grid, nodes], height: y + 16 };
  };
  const says = groups.map((group) => `${partName(group.part)}: ${group.rows.map((row) => (
    `${doc.runs[row.place].letter} ${cellText(row.figure)}`)).join(', ')}`).join('. ');
  const asTable = table(
    `${metricName(metric)} by part, with ${level} % intervals`,
    ['Run', ...groups.map((group) => partName(group.part))],
    doc.runs.map((run) => [`${run.letter} ${run.name}`, ...groups.map((group) => (
      cellText(run.figures[group.part] && run.figures[group.part][metric])))]),
    'figures',
  );
  return chart(`${metricName(metric)} with ${level} % intervals`, `${says}.`,
    legend(doc.runs.map((run, place) => ({ name: `${run.letter} ${run.name}`, key: marker(place) }))),
    draw, asTable);
}

// One bar a run, cut into shares. `rows` is [{place, values}], aligned with `kinds`.
function shareChart(title, kinds, rows, keys) {
  const total = (row) => row.values.reduce((sum, value) => sum + value, 0);
  const share = (row, place) => (total(row) ? (100 * row.values[place]) / total(row) : 0);
  const draw = (width) => {
    const left = 30;
    const bar = 26;
    const nodes = rows.map((row, line) => {
      const y = 4 + line * (bar + 10);
      let x = left;
      const parts = kinds.map((kind, place) => {
        const size = (share(row, place) / 100) * (width - left);
        const from = x;
        x += size;
        if (size < 0.5) return null;
        const label = `${Math.round(share(row, place))}%`;
        return svg('g', { class: `share ${kind.kind}` },
          svg('title', null, `${doc.runs[row.place].letter}, ${kind.name}: `
            + `${count(row.values[place])} of ${count(total(row))} (${one(share(row, place))} %)`),
          svg('rect', { x: from, y, width: Math.max(0.5, size - 1.5), height: bar, rx: 2 }),
          size > 34 ? svg('text', { x: from + size / 2, y: y + 17, class: 'middle' }, label) : null);
      });
      return [
        svg('g', { class: `letter run-${row.place}` },
          svg('text', { x: 0, y: y + 18 }, doc.runs[row.place].letter)),
        parts,
        total(row) ? null : svg('text', { x: left, y: y + 18, class: 'label' }, 'none'),
      ];
    });
    return { nodes, height: rows.length * (bar + 10) };
  };
  const says = rows.map((row) => `${doc.runs[row.place].letter}: ${kinds.map((kind, place) => (
    `${kind.name} ${count(row.values[place])}`)).join(', ')}`).join('. ');
  const asTable = table(title, ['Run', ...kinds.map((kind) => kind.name), 'All'], rows.map((row) => [
    `${doc.runs[row.place].letter} ${doc.runs[row.place].name}`,
    ...kinds.map((_, place) => `${count(row.values[place])} (${one(share(row, place))} %)`),
    count(total(row)),
  ]), 'figures');
  return chart(title, `${says}.`, legend(keys || kinds), draw, asTable);
}

const pointText = (point) => (point === null ? '\u2013'
  : cellText(point.score) + (point.n === undefined ? '' : `, n ${count(point.n)}`));

// Points with intervals above `labels`, a line a series; how `chart` draws it. A series is
// {place, name, points}; a point is null or {score: [value, low, high], n, thin, apart}, and the
// line leaves out points that stand apart.
function pointDrawing(labels, series) {
  const bounds = series.flatMap(({ points }) => points).filter(Boolean).flatMap(({ score }) => score);
  const low = Math.max(0, Math.floor((Math.min(...bounds) - 2) / 10) * 10);
  const high = Math.max(low + 10, Math.min(100, Math.ceil((Math.max(...bounds) + 2) / 10) * 10));
  return (width) => {
    const left = 34;
    const bottom = 190;
    const y = scale(low, high, bottom, 10);
    const slot = (width - left) / labels.length;
    const x = (label, line) => left + slot * (label + 0.5)
      + (line - (series.length - 1) / 2) * Math.min(11, slot / 6);
    const grid = ticksOf(low, high).map((tick) => svg('g', { class: 'tick' },
      svg('line', { x1: left, x2: width, y1: y(tick), y2: y(tick) }),
      svg('text', { x: left - 6, y: y(tick) + 4, class: 'label end' }, tick)));
    const names = labels.map((name, place) => {
      const room = Math.max(3, Math.floor(slot / 7));
      const label = name.length > room ? `${name.slice(0, room - 1)}\u2026` : name;
      return svg('text', { x: left + slot * (place + 0.5), y: bottom + 20, class: 'label middle' },
        svg('title', null, name), label);
    });
    const lines = series.map(({ place, name, points }, line) => {
      const there = points.map((point, label) => [label, point]).filter(([, point]) => point);
      return svg('g', { class: `mark run-${place}` },
        svg('polyline', {
          class: 'curve',
          points: there.filter(([, point]) => !point.apart)
            .map(([label, point]) => `${x(label, line)},${y(point.score[0])}`).join(' '),
        }),
        there.map(([label, point]) => svg('g', { class: point.thin ? 'thin' : null },
          svg('title', null, `${name}, ${labels[label]}: ${pointText(point)}`),
          svg('line', {
            class: 'interval', x1: x(label, line), x2: x(label, line),
            y1: y(point.score[1]), y2: y(point.score[2]),
          }),
          MARKERS[place](x(label, line), y(point.score[0])))));
    });
    return { nodes: [grid, names, lines], height: bottom + 28 };
  };
}
