// What is shown, in which order, and how that is written into the address.

const DEFAULTS = {
  text: '', subset: '', run: '', outcome: '', by: doc.metrics[doc.metrics.length - 1].key,
  min: '', max: '', flip: '', flag: '', why: '', bin: '', sort: '',
};
let filters = { ...DEFAULTS };

const haystacks = new Map();
function haystack(question) {
  if (!haystacks.has(question)) {
    const parts = [question.id, question.question, ...question.answers];
    for (const result of question.results) {
      if (result) parts.push(result.output.map(([kind, text]) => (kind === 'gap' ? ' ' : text)).join(''));
    }
    haystacks.set(question, parts.join('\n').toLowerCase());
  }
  return haystacks.get(question);
}

const credit = (result, place) => Boolean(result) && result.scores[place] > 0;

function flipTest(flip, place) {
  if (!flip) return () => true;
  const answered = (question) => question.results.filter(Boolean);
  if (flip === 'split') {
    return (question) => {
      const credits = answered(question).map((result) => credit(result, place));
      return credits.includes(true) && credits.includes(false);
    };
  }
  if (flip === 'all' || flip === 'nobody') {
    return (question) => answered(question).length > 0
      && answered(question).every((result) => credit(result, place) === (flip === 'all'));
  }
  const [yes, no] = flip.split('>').map(Number);
  return ({ results }) => Boolean(results[yes]) && Boolean(results[no])
    && credit(results[yes], place) && !credit(results[no], place);
}

function resultTest(wanted, place) {
  const { outcome, min, max, flag, why: cause } = wanted;
  const low = min === '' ? -Infinity : Number(min) / 100 - 1e-9;
  const high = max === '' ? Infinity : Number(max) / 100 + 1e-9;
  const ranged = min !== '' || max !== '';
  if (!outcome && !cause && !ranged && flag === '') return null;
  return (result) => {
    if (outcome && outcomeOf(result) !== outcome) return false;
    if (cause && whyOf(result) !== cause) return false;
    if (!ranged && flag === '') return true;
    if (!result) return false;
    const score = result.scores[place];
    return score >= low && score <= high && (flag === '' || result.flags.includes(Number(flag)));
  };
}

const SORTS = {
  '': { name: 'As in the benchmark' },
  low: { name: 'Lowest score first', key: (scores) => average(scores) },
  high: { name: 'Highest score first', key: (scores) => -average(scores) },
  spread: { name: 'Largest difference first', key: (scores) => -spread(scores), runs: 2 },
  long: {
    name: 'Longest output first',
    key: (_, question) => -Math.max(0, ...question.results.map((r) => (r ? r.length : 0))),
  },
};

function average(scores) {
  return scores.length ? scores.reduce((sum, score) => sum + score, 0) / scores.length : 2;
}

function spread(scores) {
  return scores.length ? Math.max(...scores) - Math.min(...scores) : -1;
}

function chosen(wanted) {
  const place = metricPlace(wanted.by);
  const words = wanted.text.toLowerCase().split(/\s+/).filter(Boolean);
  const result = resultTest(wanted, place);
  const flip = flipTest(wanted.flip, place);
  const bin = binTest(wanted.bin);
  const runs = /^\d$/.test(wanted.run) ? [Number(wanted.run)] : doc.runs.map((_, run) => run);
  const inRuns = (question) => {
    if (result === null) return true;
    const test = (run) => result(question.results[run]);
    return wanted.run === 'all' ? runs.every(test) : runs.some(test);
  };
  const kept = doc.questions.filter((question) => (
    (!wanted.subset || question.subset === wanted.subset)
    && inRuns(question) && flip(question) && bin(question)
    && words.every((word) => haystack(question).includes(word))));
  const sort = SORTS[wanted.sort];
  if (!sort || !sort.key) return kept;
  const keyed = kept.map((question) => [sort.key(
    runs.filter((run) => question.results[run]).map((run) => question.results[run].scores[place]),
    question), question]);
  return keyed.sort((a, b) => a[0] - b[0]).map(([, question]) => question);
}

// --- the address -----------------------------------------------------------------------------

const readable = (text) => encodeURIComponent(text).replace(/%2F/g, '/');

function hashOf(wanted, current) {
  const parts = Object.entries(wanted).filter(([key, value]) => value !== DEFAULTS[key])
    .map(([key, value]) => `${key}=${readable(value)}`);
  if (current) parts.push(`q=${readable(current)}`);
  return parts.length ? `#${parts.join('&')}` : '';
}

function fromHash(hash) {
  const wanted = { ...DEFAULTS };
  let current = null;
  for (const part of hash.replace(/^#/, '').split('&')) {
    const cut = part.indexOf('=');
    if (cut < 1) continue;
    const key = part.slice(0, cut);
    let value;
    try {
      value = decodeURIComponent(part.slice(cut + 1));
    } catch {
      continue;
    }
    if (key === 'q') current = value;
    else if (Object.hasOwn(DEFAULTS, key)) wanted[key] = value;
  }
  if (metricPlace(wanted.by) < 0) wanted.by = DEFAULTS.by;
  return { wanted: sane(wanted), current };
}

// A value that no control offers is none: an address is input like any other.
function sane(wanted) {
  const runs = doc.runs.map((_, place) => String(place));
  const options = {
    subset: ['', ...doc.subsets],
    run: ['', 'all', ...runs],
    outcome: ['', ...OUTCOMES.map(({ key }) => key)],
    flip: flipOptions().map(([value]) => value),
    flag: ['', ...doc.flags.map((_, place) => String(place))],
    why: ['', ...WHY.map(({ key }) => key)],
    bin: ['', ...binOptions().map(([value]) => value)],
    sort: Object.keys(SORTS),
  };
  for (const [key, values] of Object.entries(options)) {
    if (!values.includes(wanted[key])) wanted[key] = '';
  }
  for (const key of ['min', 'max']) {
    const value = Number(wanted[key]);
    if (wanted[key] === '' || !(value >= 0 && value <= 100)) wanted[key] = '';
  }
  return wanted;
}

// --- the controls ----------------------------------------------------------------------------

function flipOptions() {
  const options = [['', 'Any flip']];
  if (doc.runs.length < 2) return options;
  options.push(['split', 'The runs disagree'], ['all', 'All get credit'], ['nobody', 'None gets credit']);
  for (const [a, first] of doc.runs.entries()) {
    for (const [b, second] of doc.runs.entries()) {
      if (a !== b) options.push([`${a}>${b}`, `${first.letter} yes, ${second.letter} no`]);
    }
  }
  return options;
}

const controls = {};

function select(key, label, options) {
  const control = el('select', {
    name: key, 'aria-label': label, on: { change: () => apply({ [key]: control.value }) },
  }, options.map(([value, name]) => el('option', { value }, name)));
  controls[key] = control;
  return control;
}

function numberInput(key, label) {
  const control = el('input', {
    type: 'number', name: key, min: 0, max: 100, step: 'any', 'aria-label': label,
    title: label, placeholder: key === 'min' ? 'from' : 'to', inputmode: 'decimal',
    on: { input: () => apply(sane({ ...filters, [key]: control.value })) },
  });
  controls[key] = control;
  return control;
}

function searchInput() {
  let timer = null;
  const control = el('input', {
    type: 'search', name: 'text', class: 'search', placeholder: 'Search questions, answers, outputs',
    'aria-label': 'Search questions, answers, outputs and ids', autocomplete: 'off', spellcheck: 'false',
    on: {
      input: () => {
        clearTimeout(timer);
        timer = setTimeout(() => apply({ text: control.value }), 120);
      },
    },
  });
  controls.text = control;
  return control;
}

function drawFilters() {
  const several = doc.runs.length > 1;
  const runs = doc.runs.map((run, place) => [String(place), `${run.letter} ${run.name}`]);
  const metrics = doc.metrics.map(({ key, name }) => [key, name]);
  const more = el('div', { class: 'more', id: 'more-filters' },
    select('subset', 'Subset', [['', 'Any subset'], ...doc.subsets.map((name) => [name, name])]),
    several ? select('run', 'In run', [['', 'In any run'], ['all', 'In every run'], ...runs]) : null,
    select('outcome', 'Outcome', [['', 'Any outcome'], ...OUTCOMES.map(({ key, name }) => [key, name])]),
    why === null ? null : [
      select('why', 'Outcome of the diagnosis', [['', 'Any diagnosis'], ...WHY.map(({ key, name }) => [key, name])]),
      select('bin', 'Bin', [['', 'Any bin'], ...binOptions()])],
    el('fieldset', { class: 'range' }, el('legend', { class: 'vh' }, 'Score'),
      select('by', 'Metric of the score', metrics), numberInput('min', 'Score from'), '\u2013',
      numberInput('max', 'Score to')),
    several ? select('flip', 'Flip', flipOptions()) : null,
    select('flag', 'Audit', [['', 'Any audit'], ...doc.flags.map((flag, place) => [
      String(place), flag.name])]),
    select('sort', 'Order', Object.entries(SORTS)
      .filter(([, sort]) => !sort.runs || several).map(([value, sort]) => [value, sort.name])));
  const toggle = el('button', {
    type: 'button', class: 'toggle', 'aria-expanded': 'false', 'aria-controls': 'more-filters',
    on: {
      click: () => {
        const open = more.classList.toggle('open');
        toggle.setAttribute('aria-expanded', String(open));
      },
    },
  }, 'Filters');
  const clear = el('button', { type: 'button', class: 'clear', on: { click: clearFilters } }, 'Clear');
  controls.clear = clear;
  byId('filters').addEventListener('submit', (event) => event.preventDefault());
  byId('filters').replaceChildren(el('div', { class: 'wrap bar' },
    searchInput(), toggle, more, clear));
  new ResizeObserver(([entry]) => {
    const height = Math.ceil(entry.borderBoxSize[0].blockSize);
    document.documentElement.style.setProperty('--bar', `${height}px`);
  }).observe(byId('filters'));
}

function showFilters() {
  for (const [key, value] of Object.entries(filters)) {
    const control = controls[key];
    if (!control) continue;
    if (control !== document.activeElement) control.value = value;
    control.classList.toggle('chosen', value !== DEFAULTS[key]);
  }
  const active = Object.entries(filters)
    .filter(([key, value]) => key !== 'by' && value !== DEFAULTS[key]).length;
  controls.clear.disabled = active === 0;
  byId('filters').classList.toggle('active', active > 0);
}
