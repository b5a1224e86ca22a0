"use strict";

// --- the image ---

const MOST = 8;
const LEAST = 0.05;

function showImage() {
  const image = at("image");
  if (image.dataset.of === pair.image) {
    fit();
    return;
  }
  image.dataset.of = pair.image;
  boxes = [];
  drawBoxes();
  image.alt = pair.file;
  image.src = `image/${pair.image}`;
  at("canvas").scrollTo(0, 0);
  fit();
  loadBoxes(pair.image);
}

async function loadBoxes(image) {
  try {
    const found = await ask(`boxes/${image}`, {});
    if (pair === null || pair.image !== image) return;
    boxes = found.boxes;
    at("boxes-button").disabled = !found.known;
    at("box-text").textContent = found.known ? "" : "The text of this image is not known.";
    drawBoxes();
    highlight();
    fillLines();
    fit();
  } catch (error) {
    say(error.message, true);
  }
}

function drawBoxes() {
  const overlay = at("overlay");
  overlay.setAttribute("viewBox", `0 0 ${pair.width || 1} ${pair.height || 1}`);
  overlay.setAttribute("preserveAspectRatio", "none");
  overlay.replaceChildren(...boxes.map(([text, quad]) => {
    const shape = document.createElementNS(SVG, "polygon");
    shape.setAttribute("points", quad.join(" "));
    shape.addEventListener("mouseenter", () => rewrite(at("box-text"), text));
    shape.addEventListener("mouseleave", () => { at("box-text").textContent = ""; });
    return shape;
  }));
}

const plain = (text) => text.toLowerCase().normalize("NFKC").replace(/[^\p{L}\p{N}%]/gu, "");

function highlight() {
  const wanted = currentAnswers().map(plain).filter(Boolean);
  [...at("overlay").querySelectorAll("polygon")].forEach((shape, place) => {
    const text = plain(boxes[place][0]);
    const hit = wanted.some((one) => text.includes(one) || (text.length > 2 && one.includes(text)));
    shape.classList.toggle("hit", hit);
  });
  showChosen(hand ? hand.box : pair.box);
}

// The box of a pair that was made by hand.
function showChosen(box) {
  at("overlay").querySelector("rect")?.remove();
  if (!box) return;
  const shape = document.createElementNS(SVG, "rect");
  const [left, top, right, bottom] = box;
  for (const [name, value] of Object.entries({
    class: "chosen", x: left, y: top, width: right - left, height: bottom - top,
  })) shape.setAttribute(name, value);
  at("overlay").append(shape);
}

const edges = (quad) => {
  const [across, down] = [0, 1].map((odd) => quad.filter((_, place) => place % 2 === odd));
  return [Math.min(...across), Math.min(...down), Math.max(...across), Math.max(...down)];
};

// Where the answer stands: the box taken by hand, else the text box most like an answer.
function answerBox() {
  const own = hand ? hand.box : pair.box;
  if (own) return own;
  const lengths = currentAnswers().map((one) => plain(one).length);
  const excess = (text) => Math.min(...lengths.map((length) => Math.abs(plain(text).length - length)));
  const hits = [...at("overlay").querySelectorAll("polygon")]
    .map((shape, place) => [shape, boxes[place]])
    .filter(([shape]) => shape.classList.contains("hit"))
    .sort(([, one], [, two]) => excess(one[0]) - excess(two[0]));
  return hits.length ? edges(hits[0][1][1]) : null;
}

// --- size and place ---

function sizes() {
  const image = at("image");
  return [pair.width || image.naturalWidth, pair.height || image.naturalHeight];
}

function fitting() {
  const canvas = at("canvas");
  const [width, height] = sizes();
  const room = Math.min((canvas.clientWidth - 32) / width, (canvas.clientHeight - 4) / height);
  return Math.max(LEAST, Math.min(room, 3));
}

function draw(scale) {
  const [width, height] = sizes();
  at("image").style.width = `${Math.round(width * scale)}px`;
  at("image").style.height = `${Math.round(height * scale)}px`;
  at("zoom-button").setAttribute("aria-pressed", String(view.scale !== null));
}

// The whole image, or the chosen size with the answer in the middle.
function fit() {
  if (pair === null || !sizes()[0] || !sizes()[1]) return;
  draw(view.scale ?? fitting());
  if (view.scale !== null) centre();
}

function centre() {
  const canvas = at("canvas");
  const frame = at("frame");
  const [width, height] = sizes();
  const [left, top, right, bottom] = answerBox() || [0, 0, width, height];
  const scale = frame.offsetWidth / width;
  canvas.scrollLeft = frame.offsetLeft - canvas.offsetLeft
    + (scale * (left + right) - canvas.clientWidth) / 2;
  canvas.scrollTop = frame.offsetTop - canvas.offsetTop
    + (scale * (top + bottom) - canvas.clientHeight) / 2;
}

function toggleZoom() {
  if (pair === null) return;
  view.scale = view.scale === null ? 1 : null;
  fit();
}

// Larger or smaller; the point of the image below (x, y) of the window stays there.
function zoom(factor, x, y) {
  if (pair === null) return;
  const canvas = at("canvas");
  const frame = at("frame");
  const was = frame.getBoundingClientRect();
  const [across, down] = [(x - was.left) / was.width, (y - was.top) / was.height];
  const scale = Math.min(MOST, Math.max(LEAST, was.width / sizes()[0] * factor));
  view.scale = scale <= fitting() && factor < 1 ? null : scale;
  draw(view.scale ?? fitting());
  const now = frame.getBoundingClientRect();
  canvas.scrollLeft += now.left + across * now.width - x;
  canvas.scrollTop += now.top + down * now.height - y;
}

function zoomMiddle(factor) {
  const { left, top, width, height } = at("canvas").getBoundingClientRect();
  zoom(factor, left + width / 2, top + height / 2);
}

const move = (across, down) => at("canvas").scrollBy(across, down);

// The wheel zooms, dragging moves; a finger scrolls and pinches as everywhere. While a new pair
// is made, dragging and clicking choose its box.
function startImage() {
  const canvas = at("canvas");
  let drag = null;
  canvas.addEventListener("wheel", (event) => {
    event.preventDefault();
    const pixels = event.deltaY * (event.deltaMode ? 30 : 1);
    zoom(Math.exp(-0.0015 * Math.max(-400, Math.min(400, pixels))), event.clientX, event.clientY);
  }, { passive: false });
  canvas.addEventListener("pointerdown", (event) => {
    if (event.button !== 0 || pair === null || (event.pointerType === "touch" && !hand)) return;
    drag = { x: event.clientX, y: event.clientY, left: canvas.scrollLeft, top: canvas.scrollTop };
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", (event) => {
    if (!drag) return;
    if (hand) {
      showChosen(dragged(drag, event));
    } else {
      canvas.scrollTo(drag.left + drag.x - event.clientX, drag.top + drag.y - event.clientY);
    }
  });
  canvas.addEventListener("pointerup", (event) => {
    if (drag && hand) chooseArea(dragged(drag, event));
    drag = null;
  });
  canvas.addEventListener("pointercancel", () => { drag = null; });
  at("image").addEventListener("load", fit);
  window.addEventListener("resize", fit);
}

// The rectangle between two points of the window, in pixels of the image and within it.
function dragged(from, to) {
  const frame = at("frame").getBoundingClientRect();
  const [width, height] = sizes();
  const place = (value, start, length, most) =>
    Math.round(Math.min(most, Math.max(0, (value - start) / length * most)));
  const across = [from.x, to.clientX].map((x) => place(x, frame.left, frame.width, width));
  const down = [from.y, to.clientY].map((y) => place(y, frame.top, frame.height, height));
  return [Math.min(...across), Math.min(...down), Math.max(...across), Math.max(...down)];
}
