"use strict";

// --- the image ---

function showImage() {
  const image = at("image");
  const source = `image/${pair.image}`;
  if (image.dataset.of === pair.image) {
    fit();
    return;
  }
  image.dataset.of = pair.image;
  boxes = [];
  drawBoxes();
  image.alt = pair.file;
  image.src = source;
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
    shape.addEventListener("mouseenter", () => { at("box-text").textContent = text; });
    shape.addEventListener("mouseleave", () => { at("box-text").textContent = ""; });
    return shape;
  }));
}

const plain = (text) => text.toLowerCase().normalize("NFKC").replace(/[^\p{L}\p{N}%]/gu, "");

function highlight() {
  const wanted = currentAnswers().map(plain).filter(Boolean);
  [...at("overlay").children].forEach((shape, place) => {
    const text = plain(boxes[place][0]);
    const hit = wanted.some((one) => text.includes(one) || (text.length > 2 && one.includes(text)));
    shape.classList.toggle("hit", hit);
  });
}

function fit() {
  const image = at("image");
  const canvas = at("canvas");
  const width = pair.width || image.naturalWidth;
  const height = pair.height || image.naturalHeight;
  if (!width || !height) return;
  const room = Math.min((canvas.clientWidth - 32) / width, (canvas.clientHeight - 4) / height);
  const scale = view.full ? 1 : Math.max(0.05, Math.min(room, 3));
  image.style.width = `${Math.round(width * scale)}px`;
  image.style.height = `${Math.round(height * scale)}px`;
}
