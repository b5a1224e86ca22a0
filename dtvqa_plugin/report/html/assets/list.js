// The list keeps only the blocks near the window: a page of 1,200 questions stays light. It is a
// plain element with articles and no feed, because far from the window it holds none.

const BLOCK = 8;
const NEAR = '1400px 0px';

let shown = [];
let blocks = [];
let current = -1;
let typical = 320;

const observer = new IntersectionObserver((entries) => {
  for (const entry of entries) {
    const block = blocks[Number(entry.target.dataset.block)];
    if (!block || block.node !== entry.target) continue;
    if (entry.isIntersecting) fillBlock(block);
    else emptyBlock(block);
  }
}, { rootMargin: NEAR });

function fillBlock(block) {
  if (block.full) return;
  block.full = true;
  const cards = [];
  for (let place = block.start; place < block.stop; place += 1) {
    cards.push(card(shown[place], place, shown.length));
  }
  block.node.style.minHeight = '';
  block.node.replaceChildren(...cards);
  // In a long output the marked answer is what a reader looks for.
  for (const mark of block.node.querySelectorAll('.output[tabindex] mark:first-of-type')) {
    const box = mark.closest('.output');
    box.scrollTop = mark.offsetTop - box.clientHeight / 2;
  }
}

function emptyBlock(block) {
  if (!block.full || block.node.contains(document.activeElement)) return;
  const height = block.node.offsetHeight;
  if (height > 0) {
    block.height = height;
    typical = height / (block.stop - block.start);
  }
  block.full = false;
  block.node.replaceChildren();
  block.node.style.minHeight = `${Math.round(block.height)}px`;
}

function drawList() {
  observer.disconnect();
  shown = chosen(filters);
  current = -1;
  blocks = [];
  for (let start = 0; start < shown.length; start += BLOCK) {
    const stop = Math.min(start + BLOCK, shown.length);
    const node = el('div', { class: 'block', 'data-block': blocks.length, role: 'presentation' });
    const height = typical * (stop - start);
    node.style.minHeight = `${Math.round(height)}px`;
    blocks.push({ node, start, stop, height, full: false });
  }
  byId('list').replaceChildren(...(blocks.length ? blocks.map((block) => block.node)
    : [el('p', { class: 'empty' }, 'No question fits. ',
      el('button', { type: 'button', class: 'link', on: { click: clearFilters } }, 'Clear the filters'))]));
  if (blocks.length) fillBlock(blocks[0]);
  for (const block of blocks) observer.observe(block.node);
  drawStatus();
}

function drawStatus(message) {
  const all = doc.questions.length;
  const filtered = shown.length !== all;
  const place = metricPlace(filters.by);
  const means = doc.runs.map((_, run) => {
    const scores = shown.map((question) => question.results[run]).filter(Boolean)
      .map((result) => result.scores[place]);
    return scores.length ? one(100 * average(scores)) : '\u2013';
  });
  byId('status').replaceChildren(...[
    message ? el('p', { class: 'notice' }, message) : null,
    el('p', null, filtered ? `${count(shown.length)} of ${plural(all, 'question')}` : `All ${plural(all, 'question')}`,
      shown.length ? el('span', { class: 'means' }, `${metricName(filters.by)} here:`,
        means.map((mean, run) => el('span', null, badge(run), el('span', { class: 'figure' }, mean))))
        : null),
  ].filter(Boolean));
}

// --- moving ----------------------------------------------------------------------------------

function focusQuestion(place) {
  if (!shown.length) return;
  current = Math.max(0, Math.min(shown.length - 1, place));
  const at = Math.floor(current / BLOCK);
  for (const block of blocks.slice(Math.max(0, at - 1), at + 2)) fillBlock(block);
  const node = blocks[at].node.children[current - blocks[at].start];
  for (const other of document.querySelectorAll('.card.current')) other.classList.remove('current');
  node.classList.add('current');
  node.focus({ preventScroll: true });
  node.scrollIntoView({ block: 'start' });
  // Blocks above may take their real height a moment later.
  requestAnimationFrame(() => requestAnimationFrame(() => {
    if (document.activeElement === node) node.scrollIntoView({ block: 'start' });
  }));
  rememberLater();
}

function step(by) {
  focusQuestion(current < 0 ? firstInView() : current + by);
}

function firstInView() {
  const top = byId('filters').getBoundingClientRect().bottom;
  for (const node of document.querySelectorAll('.card')) {
    if (node.getBoundingClientRect().bottom > top + 20) return Number(node.getAttribute('aria-posinset')) - 1;
  }
  return 0;
}

byId('list').addEventListener('focusin', (event) => {
  const node = event.target.closest('.card');
  if (!node) return;
  current = Number(node.getAttribute('aria-posinset')) - 1;
});
