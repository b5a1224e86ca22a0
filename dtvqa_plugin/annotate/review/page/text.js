"use strict";

// --- text as it is: direction by its content, characters that do not show spelled out ---

// Controls, formats, unassigned and private characters, blanks other than the usual one, fillers,
// variation selectors, and usual blanks at an end or side by side.
const UNSEEN = new RegExp(
  "[\\p{Cc}\\p{Cf}\\p{Cs}\\p{Co}\\p{Cn}\\p{Zl}\\p{Zp}\\u034f\\u115f\\u1160\\u17b4\\u17b5\\u2800\\u3164"
  + "\\uffa0\\ufe00-\\ufe0f]|(?! )\\p{Zs}|^ +| +$| {2,}", "gu");

const NAMES = {
  9: "tab", 10: "line break", 13: "carriage return", 0xa0: "no-break space", 0xad: "soft hyphen",
  0x200b: "zero-width space", 0x200c: "zero-width non-joiner", 0x200d: "zero-width joiner",
  0x200e: "left-to-right mark", 0x200f: "right-to-left mark", 0x202a: "left-to-right embedding",
  0x202b: "right-to-left embedding", 0x202c: "end of direction", 0x202d: "left-to-right override",
  0x202e: "right-to-left override", 0x2066: "left-to-right isolate",
  0x2067: "right-to-left isolate", 0x2069: "end of isolate", 0x3000: "ideographic space",
  0xfeff: "byte order mark",
};

function unseenName(found) {
  if (found.startsWith(" ")) return found.length === 1 ? "blank" : `${found.length} blanks`;
  const code = found.codePointAt(0);
  return NAMES[code] || `U+${code.toString(16).toUpperCase().padStart(4, "0")}`;
}

const hasUnseen = (text) => text.search(UNSEEN) >= 0;

// The text as nodes; each character that does not show is a mark with its name instead.
function marked(text) {
  const parts = [];
  let end = 0;
  for (const found of text.matchAll(UNSEEN)) {
    parts.push(text.slice(end, found.index), make("bdi", "unseen", unseenName(found[0])));
    end = found.index + found[0].length;
  }
  parts.push(text.slice(end));
  return parts;
}

function written(tag, name, text) {
  const element = make(tag, name);
  element.dir = "auto";
  element.append(...marked(text));
  return element;
}

function rewrite(element, text) {
  element.dir = "auto";
  element.replaceChildren(...marked(text));
}

// Below a field, where its text holds characters that do not show.
function showUnseen(note, text) {
  note.hidden = !hasUnseen(text);
  rewrite(note, note.hidden ? "" : text);
}
