// Elements are made here and nowhere else. Text of a run only ever becomes a text node.

const SVG = 'http://www.w3.org/2000/svg';

function fill(node, props, children) {
  for (const [name, value] of Object.entries(props || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name === 'on') {
      for (const [event, handler] of Object.entries(value)) node.addEventListener(event, handler);
    } else {
      node.setAttribute(name, value === true ? '' : String(value));
    }
  }
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    node.append(child instanceof Node ? child : document.createTextNode(visible(String(child))));
  }
  return node;
}

function el(name, props, ...children) {
  return fill(document.createElement(name), props, children);
}

function svg(name, props, ...children) {
  return fill(document.createElementNS(SVG, name), props, children);
}

// Control characters, and marks that would turn the direction of what follows, are made visible.
function visible(text) {
  return text.replace(/[\u0000-\u0008\u000b-\u001f\u007f\u202a-\u202e\u2066-\u2069]/g, (char) => {
    const code = char.charCodeAt(0);
    if (code < 0x20) return String.fromCharCode(0x2400 + code);
    return code === 0x7f ? '\u2421' : `[U+${code.toString(16).toUpperCase()}]`;
  });
}

const byId = (id) => document.getElementById(id);

function hidden(text) {
  return el('span', { class: 'vh' }, text);
}

const number = new Intl.NumberFormat('en');
const count = (value) => number.format(value);
// One decimal as Python writes it: a tie goes to the even digit, where toFixed rounds up.
const one = (value) => (Math.abs(value) % 1 === 0.25 ? value * 0.9999 : value).toFixed(1);
const signed = (value) => (value < 0 ? '\u2212' : '+') + one(Math.abs(value));

function pValue(value) {
  if (value === null || value === undefined) return '\u2013';
  return value < 0.001 ? '< 0.001' : value.toFixed(3);
}

function plural(value, word) {
  return `${count(value)} ${word}${value === 1 ? '' : 's'}`;
}

// A table inside a box that scrolls sideways and can be reached with the keyboard.
function table(caption, head, rows, name) {
  const cell = (value, tag, props) => el(tag, props, value);
  return el('div', { class: 'scroll', role: 'region', 'aria-label': caption, tabindex: '0' },
    el('table', { class: name },
      el('caption', { class: 'vh' }, caption),
      el('thead', null, el('tr', null, head.map((value) => cell(value, 'th', { scope: 'col' })))),
      el('tbody', null, rows.map((row) => el('tr', null, row.map((value, place) => (
        place === 0 ? cell(value, 'th', { scope: 'row' }) : cell(value, 'td')
      ))))),
    ));
}

const CONDITIONS = {
  none: 'no prompt',
  paper: 'paper\u2019s prompt',
  blind: 'blank images',
  native: 'model\u2019s own prompt',
  unknown: 'prompt unknown',
};

function condition(run) {
  return Object.hasOwn(CONDITIONS, run.condition) ? CONDITIONS[run.condition] : run.condition;
}

function badge(place) {
  return el('span', { class: `badge run-${place}` }, doc.runs[place].letter);
}

const doc = JSON.parse(byId('document').textContent);
const partName = (part) => (part === doc.overall ? 'Overall' : part);
const metricName = (key) => doc.metrics.find((metric) => metric.key === key).name;
const metricPlace = (key) => doc.metrics.findIndex((metric) => metric.key === key);

let thumbnailList = null;
function thumbnail(place) {
  if (thumbnailList === null) thumbnailList = JSON.parse(byId('thumbnails').textContent);
  const data = thumbnailList[place];
  return typeof data === 'string' && data.startsWith('data:image/jpeg;base64,') ? data : null;
}
