// Putting the parts together: filters to list, list to address, keys, dialogs.

let timer = null;

function remember() {
  clearTimeout(timer);
  const hash = hashOf(filters, current >= 0 && shown[current] ? shown[current].id : null);
  if (hash === location.hash || (hash === '' && location.hash === '')) return;
  history.replaceState(null, '', hash || location.pathname + location.search);
}

function rememberLater() {
  clearTimeout(timer);
  timer = setTimeout(remember, 250);
}

function apply(change) {
  filters = { ...filters, ...change };
  showFilters();
  drawList();
  rememberLater();
}

function clearFilters() {
  filters = { ...DEFAULTS };
  apply({});
}

// From a count in the tables above: these questions and no others.
function show(change) {
  filters = { ...DEFAULTS };
  apply(change);
  byId('questions').scrollIntoView({ block: 'start' });
  byId('questions').focus({ preventScroll: true });
}

function openAddress() {
  const { wanted, current: id } = fromHash(location.hash);
  filters = wanted;
  showFilters();
  drawList();
  if (id === null) return;
  let place = shown.findIndex((question) => question.id === id);
  if (place < 0 && doc.questions.some((question) => question.id === id)) {
    filters = { ...DEFAULTS };
    showFilters();
    drawList();
    place = shown.findIndex((question) => question.id === id);
  }
  if (place < 0) {
    drawStatus(`This page has no question ${id}.`);
    byId('questions').scrollIntoView({ block: 'start' });
    return;
  }
  focusQuestion(place);
}

// --- the image in full size ------------------------------------------------------------------

function openViewer(question) {
  const dialog = byId('viewer');
  const image = doc.images[question.image];
  const data = thumbnail(question.image);
  const note = el('span', { class: 'sub' });
  const picture = el('img', { alt: `Image of ${question.id}` });
  const frame = el('div', { class: 'frame' },
    el('div', { class: 'sheet' }, picture, boxesOf(question)));
  const say = (text) => { note.textContent = text; };
  const size = image.size ? `${image.size[0]} \u00d7 ${image.size[1]} pixels` : '';
  const small = (why) => {
    if (data === null) {
      say(why);
      return;
    }
    picture.onerror = null;
    picture.src = data;
    say(`${why} This is the thumbnail.`);
  };
  if (image.file !== null && image.file.startsWith('file:')) {
    picture.onerror = () => small('The full-size file cannot be opened from here.');
    picture.src = image.file;
    say(size);
  } else {
    small('The page names no full-size file.');
  }
  const zoom = el('button', {
    type: 'button', 'aria-pressed': 'false',
    on: {
      click: () => {
        const on = frame.classList.toggle('actual');
        zoom.setAttribute('aria-pressed', String(on));
      },
    },
  }, 'Actual size');
  picture.addEventListener('click', () => zoom.click());
  dialog.replaceChildren(
    el('div', { class: 'viewer-head' },
      el('div', null, el('strong', null, question.id), ' ', note,
        el('p', { dir: 'auto' }, question.question)),
      el('div', { class: 'viewer-buttons' }, zoom,
        el('button', { type: 'button', on: { click: () => dialog.close() } }, 'Close'))),
    frame);
  if (!dialog.open) dialog.showModal();
}

// --- keys ------------------------------------------------------------------------------------

const KEYS = [
  ['j, \u2192', 'next question', () => step(1)],
  ['k, \u2190', 'question before', () => step(-1)],
  ['g', 'first question', () => focusQuestion(0)],
  ['G', 'last question', () => focusQuestion(shown.length - 1)],
  ['o', 'open the image of this question', () => { if (shown[current]) openViewer(shown[current]); }],
  ['/', 'search', () => { controls.text.focus(); controls.text.select(); }],
  ['c', 'clear the filters', clearFilters],
  ['?', 'these keys', openHelp],
  ['Esc', 'close, or leave the search', null],
];

const ACTIONS = {};
const NAMES = { '\u2192': 'ArrowRight', '\u2190': 'ArrowLeft' };
for (const [keys, , action] of KEYS) {
  for (const key of keys.split(', ')) if (action) ACTIONS[NAMES[key] || key] = action;
}

function openHelp() {
  const dialog = byId('help');
  dialog.replaceChildren(
    el('h2', { id: 'help-title' }, 'Keys'),
    el('dl', { class: 'keys' }, KEYS.map(([keys, meaning]) => [
      el('dt', null, keys.split(', ').map((key) => el('kbd', null, key))), el('dd', null, meaning)])),
    el('button', { type: 'button', on: { click: () => dialog.close() } }, 'Close'));
  if (!dialog.open) dialog.showModal();
}

const EDITABLE = 'input, select, textarea, [contenteditable]';

document.addEventListener('keydown', (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  if (document.querySelector('dialog[open]')) return;
  const target = event.target instanceof Element ? event.target : document.body;
  if (target.matches(EDITABLE)) {
    if (event.key === 'Escape') target.blur();
    return;
  }
  // Tables that scroll sideways keep their arrow keys.
  if (event.key.startsWith('Arrow') && target.closest('.scroll')) return;
  const action = ACTIONS[event.key];
  if (!action) return;
  event.preventDefault();
  action();
});

for (const dialog of document.querySelectorAll('dialog')) {
  dialog.addEventListener('click', (event) => { if (event.target === dialog) dialog.close(); });
}

window.addEventListener('hashchange', () => {
  // A jump within the page, such as the skip link, is no filter.
  if (location.hash === '' || location.hash.includes('=')) openAddress();
});

drawHead();
drawSummary();
drawFilters();
drawFoot();
openAddress();
