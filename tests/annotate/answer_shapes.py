"""Answers as vision models give them, with the pairs and the leftovers that each holds.

Every shape is written for this table. ``unread`` holds what must be listed for a person to see.
"""

from __future__ import annotations

from typing import NamedTuple


class Shape(NamedTuple):
    """One answer: ``pairs`` are (question, answer) or (question, (answer, ...)) in order."""

    name: str
    text: str
    pairs: list[tuple[str, str | tuple[str, ...]]]
    unread: tuple[str, ...] = ()
    refusal: bool = False


BRAND, PRICE = "What is the brand name?", "What is the price?"
TWO: list[tuple[str, str | tuple[str, ...]]] = [(BRAND, "Arla"), (PRICE, "$4.50")]
ZH_NAME, ZH_PRICE = "招牌上写着什么？", "一碗面多少钱？"
ZH: list[tuple[str, str | tuple[str, ...]]] = [(ZH_NAME, "老北京炸酱面"), (ZH_PRICE, "18元")]

SHAPES = [
    # --- labels ---
    Shape("asked form", f"Q1: {BRAND}\nA1: Arla\nQ2: {PRICE}\nA2: $4.50", TWO),
    Shape("no numbers", f"Q: {BRAND}\nA: Arla\n\nQ: {PRICE}\nA: $4.50", TWO),
    Shape(
        "words", f"Question 1: {BRAND}\nAnswer 1: Arla\nQuestion 2: {PRICE}\nAnswer 2: $4.50", TWO
    ),
    Shape(
        "words, answers unnumbered",
        f"Question 1: {BRAND}\nAnswer: Arla\n\nQuestion 2: {PRICE}\nAnswer: $4.50",
        TWO,
    ),
    Shape("lower case", f"question: {BRAND}\nanswer: Arla\nquestion: {PRICE}\nanswer: $4.50", TWO),
    Shape(
        "blank lines inside pairs", f"Q1: {BRAND}\n\nA1: Arla\n\nQ2: {PRICE}\n\nA2: $4.50\n", TWO
    ),
    Shape("windows line ends", f"Q1: {BRAND}\r\nA1: Arla\r\nQ2: {PRICE}\r\nA2: $4.50\r\n", TWO),
    Shape("one line each", f"Q1: {BRAND} A1: Arla\nQ2: {PRICE} A2: $4.50", TWO),
    Shape(
        "one line, bar between",
        f"Question: {BRAND} | Answer: Arla\nQuestion: {PRICE} | Answer: $4.50",
        TWO,
    ),
    Shape("one line, semicolon", f"Q: {BRAND}; A: Arla\nQ: {PRICE}; A: $4.50", TWO),
    Shape("dots after numbers", f"Q1. {BRAND}\nA1. Arla\nQ2. {PRICE}\nA2. $4.50", TWO),
    Shape("brackets after numbers", f"Q1) {BRAND}\nA1) Arla\nQ2) {PRICE}\nA2) $4.50", TWO),
    Shape(
        "labels in brackets",
        f"[Q1] {BRAND}".replace("]", "]:") + f"\n[A1]: Arla\n[Q2]: {PRICE}\n[A2]: $4.50",
        TWO,
    ),
    Shape(
        "labels in round brackets", f"(Q1): {BRAND}\n(A1): Arla\n(Q2): {PRICE}\n(A2): $4.50", TWO
    ),
    Shape(
        "hash numbers",
        f"Question #1: {BRAND}\nAnswer #1: Arla\nQuestion #2: {PRICE}\nAnswer #2: $4.50",
        TWO,
    ),
    Shape("dash as separator", f"Q1 - {BRAND}\nA1 - Arla\nQ2 - {PRICE}\nA2 - $4.50", TWO),
    Shape("short words", f"Ques 1: {BRAND}\nAns 1: Arla\nQues 2: {PRICE}\nAns 2: $4.50", TWO),
    Shape("numbered labels", f"1. Q: {BRAND}\n   A: Arla\n2. Q: {PRICE}\n   A: $4.50", TWO),
    Shape(
        "numbered labels in bold",
        f"1. **Question:** {BRAND}\n   **Answer:** Arla\n2. **Question:** {PRICE}\n   **Answer:** $4.50",
        TWO,
    ),
    Shape("bulleted labels", f"- Q: {BRAND}\n- A: Arla\n- Q: {PRICE}\n- A: $4.50", TWO),
    Shape("quoted block", f"> Q1: {BRAND}\n> A1: Arla\n>\n> Q2: {PRICE}\n> A2: $4.50", TWO),
    Shape(
        "yaml-like",
        f"- question: {BRAND}\n  answer: Arla\n- question: {PRICE}\n  answer: $4.50",
        TWO,
    ),
    Shape("roles", f"User: {BRAND}\nAssistant: Arla\nUser: {PRICE}\nAssistant: $4.50", TWO),
    Shape(
        "Spanish labels",
        "Pregunta 1: ¿Cuál es el precio?\nRespuesta 1: 3 €",
        [("¿Cuál es el precio?", "3 €")],
    ),
    Shape(
        "German labels",
        "Frage 1: Wie viel kostet es?\nAntwort 1: 3 €",
        [("Wie viel kostet es?", "3 €")],
    ),
    Shape("Japanese labels", "質問1：店の名前は？\n回答1：青い鳥", [("店の名前は？", "青い鳥")]),
    Shape("all on one line", f"Q1: {BRAND} A1: Arla Q2: {PRICE} A2: $4.50", TWO),
    Shape(
        "all on one line, semicolons, Chinese",
        f"问题1：{ZH_NAME} 答案1：老北京炸酱面；问题2：{ZH_PRICE} 答案2：18元",
        ZH,
    ),
    Shape("escaped line breaks", f"Q1: {BRAND}\\nA1: Arla\\nQ2: {PRICE}\\nA2: $4.50", TWO),
    Shape("dots after letters", f"Q. {BRAND}\nA. Arla\nQ. {PRICE}\nA. $4.50", TWO),
    Shape("options between", f"Question 1: {BRAND}\nOptions: Arla, Yeo\nAnswer: Arla", TWO[:1]),
    # --- bold and headings ---
    Shape("bold labels", f"**Q1:** {BRAND}\n**A1:** Arla\n\n**Q2:** {PRICE}\n**A2:** $4.50", TWO),
    Shape(
        "colon outside bold", f"**Q1**: {BRAND}\n**A1**: Arla\n**Q2**: {PRICE}\n**A2**: $4.50", TWO
    ),
    Shape(
        "whole lines in bold", f"**Q1: {BRAND}**\n**A1: Arla**\n**Q2: {PRICE}**\n**A2: $4.50**", TWO
    ),
    Shape(
        "question in bold, plain answer",
        f"**Q1: {BRAND}**\nA1: Arla\n\n**Q2: {PRICE}**\nA2: $4.50",
        TWO,
    ),
    Shape(
        "headings",
        f"### Question 1\n{BRAND}\n### Answer 1\nArla\n### Question 2\n{PRICE}\n### Answer 2\n$4.50",
        TWO,
    ),
    Shape(
        "heading questions", f"### Q1: {BRAND}\n**A1:** Arla\n\n### Q2: {PRICE}\n**A2:** $4.50", TWO
    ),
    Shape(
        "text under bold labels",
        f"**Question 1:**\n{BRAND}\n**Answer 1:**\nArla\n\n**Question 2:**\n{PRICE}\n**Answer 2:**\n$4.50",
        TWO,
    ),
    Shape(
        "pair headings",
        f"**Pair 1**\nQuestion: {BRAND}\nAnswer: Arla\n\n**Pair 2**\nQuestion: {PRICE}\nAnswer: $4.50",
        TWO,
    ),
    Shape("rules between", f"Q: {BRAND}\nA: Arla\n---\nQ: {PRICE}\nA: $4.50\n---", TWO),
    Shape("answers in bold", f"Q1: {BRAND}\nA1: **Arla**\nQ2: {PRICE}\nA2: **$4.50**", TWO),
    Shape("answers quoted", f'Q1: {BRAND}\nA1: "Arla"\nQ2: {PRICE}\nA2: “$4.50”', TWO),
    Shape("answers as code", f"Q1: {BRAND}\nA1: `Arla`\nQ2: {PRICE}\nA2: `$4.50`", TWO),
    # --- lists without labels ---
    Shape("numbered, answer behind", f"1. {BRAND} Arla\n2. {PRICE} $4.50", TWO),
    Shape("numbered, answer below", f"1. {BRAND}\n   Arla\n2. {PRICE}\n   $4.50", TWO),
    Shape("numbered, dash answer below", f"1. {BRAND}\n   - Arla\n2. {PRICE}\n   - $4.50", TWO),
    Shape("numbered, dash between", f"1. {BRAND} - Arla\n2. {PRICE} – $4.50", TWO),
    Shape("numbered, arrow between", f"1. {BRAND} → Arla\n2. {PRICE} -> $4.50", TWO),
    Shape("numbered, answer in brackets", f"1. {BRAND} (Arla)\n2. {PRICE} ($4.50)", TWO),
    Shape(
        "numbered, labelled brackets", f"1. {BRAND} (Answer: Arla)\n2. {PRICE} (Answer: $4.50)", TWO
    ),
    Shape("numbered, bold answer", f"1. {BRAND} **Arla**\n2. {PRICE} **$4.50**", TWO),
    Shape("numbered, bold question", f"1. **{BRAND}**\n   Arla\n2. **{PRICE}**\n   $4.50", TWO),
    Shape(
        "numbered, bold question, italic answer",
        f"1. **{BRAND}** *Arla*\n2. **{PRICE}** *$4.50*",
        TWO,
    ),
    Shape("numbered in brackets", f"(1) {BRAND} Arla\n(2) {PRICE} $4.50", TWO),
    Shape(
        "numbered, answer label below",
        f"1) {BRAND}\nAnswer: Arla\n\n2) {PRICE}\nAnswer: $4.50",
        TWO,
    ),
    Shape("bulleted questions", f"* {BRAND} Arla\n* {PRICE} $4.50", TWO),
    Shape("bare lines", f"{BRAND}\nArla\n\n{PRICE}\n$4.50", TWO),
    Shape(
        "instruction as question",
        "1. Name the brand on the carton. Answer: Arla",
        [("Name the brand on the carton.", "Arla")],
    ),
    Shape(
        "questions, then answers",
        f"Questions:\n1. {BRAND}\n2. {PRICE}\n\nAnswers:\n1. Arla\n2. $4.50",
        TWO,
    ),
    Shape(
        "questions, then answers, labelled", f"Q1: {BRAND}\nQ2: {PRICE}\n\nA1: Arla\nA2: $4.50", TWO
    ),
    Shape(
        "answers in another order",
        f"Q1: {BRAND}\nQ2: {PRICE}\nA2: $4.50\nA1: Arla",
        TWO,
    ),
    Shape("numbered headings", f"### 1. {BRAND}\n- Arla\n### 2. {PRICE}\n- $4.50", TWO),
    Shape(
        "numbered, bulleted bold answer label",
        f"1. {BRAND}\n   * **Answer:** Arla\n2. {PRICE}\n   * **Answer:** $4.50",
        TWO,
    ),
    Shape(
        "labels, answers bare and bold below",
        f"Q1) {BRAND}\n\n**Arla**\n\nQ2) {PRICE}\n\n**$4.50**",
        TWO,
    ),
    # --- Chinese ---
    Shape("Chinese colons", f"Q1：{ZH_NAME}\nA1：老北京炸酱面\nQ2：{ZH_PRICE}\nA2：18元", ZH),
    Shape(
        "Chinese labels",
        f"问题1：{ZH_NAME}\n答案1：老北京炸酱面\n问题2：{ZH_PRICE}\n答案2：18元",
        ZH,
    ),
    Shape("short Chinese labels", f"问：{ZH_NAME}\n答：老北京炸酱面\n问：{ZH_PRICE}\n答：18元", ZH),
    Shape("Chinese on one line", f"问：{ZH_NAME}答：老北京炸酱面\n问：{ZH_PRICE}答：18元", ZH),
    Shape(
        "Chinese bold",
        f"**问题一：** {ZH_NAME}\n**答案一：** 老北京炸酱面\n**问题二：** {ZH_PRICE}\n**答案二：** 18元",
        ZH,
    ),
    Shape("Chinese list", f"1、{ZH_NAME}老北京炸酱面\n2、{ZH_PRICE}18元", ZH),
    Shape("Chinese quotation marks", f"问题：{ZH_NAME}\n答案：「老北京炸酱面」", ZH[:1]),
    Shape(
        "Chinese opening and closing",
        f"以下是根据图片生成的问答：\n\n问：{ZH_NAME}\n答：老北京炸酱面\n\n希望对您有帮助！",
        ZH[:1],
    ),
    # --- JSON ---
    Shape(
        "JSON list",
        f'[{{"question": "{BRAND}", "answer": "Arla"}}, {{"question": "{PRICE}", "answer": "$4.50"}}]',
        TWO,
    ),
    Shape(
        "JSON in a fence",
        f'```json\n[\n  {{"question": "{BRAND}", "answer": "Arla"}},\n  {{"question": "{PRICE}", "answer": "$4.50"}}\n]\n```',
        TWO,
    ),
    Shape(
        "JSON in a fence between words",
        f'Here are the pairs:\n```json\n{{"qa": [{{"Q": "{BRAND}", "A": "Arla"}}, {{"Q": "{PRICE}", "A": "$4.50"}}]}}\n```\nLet me know if you need more.',
        TWO,
    ),
    Shape(
        "JSON after words, no fence",
        f'Sure!\n[{{"q": "{BRAND}", "a": "Arla"}},\n {{"q": "{PRICE}", "a": "$4.50"}}]',
        TWO,
    ),
    Shape(
        "JSON lines",
        f'{{"question": "{BRAND}", "answer": "Arla"}}\n{{"question": "{PRICE}", "answer": "$4.50"}}',
        TWO,
    ),
    Shape(
        "JSON with numbered keys",
        f'{{"Q1": "{BRAND}", "A1": "Arla", "Q2": "{PRICE}", "A2": "$4.50"}}',
        TWO,
    ),
    Shape("JSON question to answer", f'{{"{BRAND}": "Arla", "{PRICE}": "$4.50"}}', TWO),
    Shape("JSON list of lists", f'[["{BRAND}", "Arla"], ["{PRICE}", "$4.50"]]', TWO),
    Shape(
        "JSON nested by pair",
        f'{{"pair1": {{"question": "{BRAND}", "answer": "Arla"}}, "pair2": {{"question": "{PRICE}", "answer": "$4.50"}}}}',
        TWO,
    ),
    Shape(
        "JSON answers list",
        f'[{{"question": "{PRICE}", "answers": ["$4.50", "4.50 dollars"]}}]',
        [(PRICE, ("$4.50", "4.50 dollars"))],
    ),
    Shape(
        "JSON numbers",
        '[{"question": "How many eggs?", "answer": 12}, {"question": "What share?", "answer": 2.50}]',
        [("How many eggs?", "12"), ("What share?", "2.50")],
    ),
    Shape("JSON Chinese keys", f'[{{"问题": "{ZH_NAME}", "答案": "老北京炸酱面"}}]', ZH[:1]),
    Shape(
        "JSON trailing comma",
        f'[{{"question": "{BRAND}", "answer": "Arla",}}, {{"question": "{PRICE}", "answer": "$4.50"}},]',
        TWO,
    ),
    Shape(
        "JSON single quotes",
        f"[{{'question': '{BRAND}', 'answer': 'Arla'}}, {{'question': '{PRICE}', 'answer': '$4.50'}}]",
        TWO,
    ),
    Shape(
        "JSON conversation",
        f'[{{"from": "user", "value": "{BRAND}"}}, {{"from": "assistant", "value": "Arla"}}, {{"from": "user", "value": "{PRICE}"}}, {{"from": "assistant", "value": "$4.50"}}]',
        TWO,
    ),
    Shape(
        "JSON cut off",
        f'```json\n[{{"question": "{BRAND}", "answer": "Arla"}}, {{"question": "What is the pri',
        TWO[:1],
        unread=("What is the pri",),
    ),
    Shape(
        "JSON with an empty answer",
        f'[{{"question": "{BRAND}", "answer": "Arla"}}, {{"question": "{PRICE}", "answer": ""}}]',
        TWO[:1],
        unread=(PRICE,),
    ),
    # --- tables, tags ---
    Shape(
        "Markdown table",
        f"| Question | Answer |\n|---|---|\n| {BRAND} | Arla |\n| {PRICE} | $4.50 |",
        TWO,
    ),
    Shape(
        "Markdown table, numbered",
        f"| # | Question | Answer |\n| :-- | --- | --- |\n| 1 | {BRAND} | **Arla** |\n| 2 | {PRICE} | $4.50 |\n\nI hope this helps.",
        TWO,
    ),
    Shape("bars without a rule", f"Question|Answer\n{BRAND}|Arla\n{PRICE}|$4.50", TWO),
    Shape("CSV", f'question,answer\n"{BRAND}","Arla"\n"{PRICE}","$4.50"', TWO),
    Shape("TSV", f"Question\tAnswer\n{BRAND}\tArla\n{PRICE}\t$4.50", TWO),
    Shape(
        "tags",
        f"<qa><question>{BRAND}</question><answer>Arla</answer></qa>\n<qa><question>{PRICE}</question><answer>$4.50</answer></qa>",
        TWO,
    ),
    Shape(
        "numbered tags", f"<Q1>{BRAND}</Q1>\n<A1>Arla</A1>\n<Q2>{PRICE}</Q2>\n<A2>$4.50</A2>", TWO
    ),
    # --- around the pairs ---
    Shape(
        "opening and closing",
        f"Sure! Here are two question-answer pairs based on the image:\n\nQ1: {BRAND}\nA1: Arla\n\nQ2: {PRICE}\nA2: $4.50\n\nLet me know if you need anything else!",
        TWO,
    ),
    Shape(
        "reasoning first",
        f"<think>The carton says Arla. Q: maybe?\nA: no</think>\nQ1: {BRAND}\nA1: Arla\nQ2: {PRICE}\nA2: $4.50",
        TWO,
    ),
    Shape(
        "explanations",
        f"Q1: {BRAND}\nA1: Arla\nExplanation: it stands at the top.\n\nQ2: {PRICE}\nA2: $4.50\nExplanation: bottom right.",
        TWO,
    ),
    Shape(
        "explanation on the answer's line",
        f"Q1: {BRAND}\nA1: Arla (Location: top)\nQ2: {PRICE}\nA2: $4.50",
        TWO,
    ),
    Shape("fenced text", f"```\nQ1: {BRAND}\nA1: Arla\nQ2: {PRICE}\nA2: $4.50\n```", TWO),
    # --- several lines, awkward text ---
    Shape(
        "answer of several lines",
        "Q: What does the sign say?\nA: NO PARKING\nAT ANY TIME\n\nQ: Who says so?\nA: The city",
        [("What does the sign say?", "NO PARKING AT ANY TIME"), ("Who says so?", "The city")],
    ),
    Shape(
        "answer as a list",
        "Q: Which drinks are sold?\nA:\n- Milk\n- Tea\n- Juice",
        [("Which drinks are sold?", "Milk, Tea, Juice")],
    ),
    Shape(
        "question of several lines",
        "Q1: According to the table,\nwhich year had the most wins?\nA1: 1998",
        [("According to the table, which year had the most wins?", "1998")],
    ),
    Shape(
        "colons in texts",
        "Q: What follows 'Opening hours:' on the door?\nA: 9:00-17:30",
        [("What follows 'Opening hours:' on the door?", "9:00-17:30")],
    ),
    Shape(
        "A in a question",
        "Q: What is in row A: the first or second value?\nA: 7",
        [("What is in row A: the first or second value?", "7")],
    ),
    Shape("answer begins with A", "Q: Which class?\nA: A", [("Which class?", "A")]),
    Shape(
        "answer with a question mark",
        "Q: What is the title?\nA: Who Framed Roger Rabbit?",
        [("What is the title?", "Who Framed Roger Rabbit?")],
    ),
    Shape("answer with stars", "Q: What rating?\nA: 4*", [("What rating?", "4*")]),
    Shape(
        "apostrophes",
        "Q: Whose shop is it?\nA: 'Joe's Diner'",
        [("Whose shop is it?", "'Joe's Diner'")],
    ),
    Shape(
        "full-width brackets", "Q1：标题是什么？\nA1：产品（三）", [("标题是什么？", "产品（三）")]
    ),
    # --- faults: listed, not lost ---
    Shape(
        "last answer missing",
        f"Q1: {BRAND}\nA1: Arla\nQ2: {PRICE}",
        TWO[:1],
        unread=(f"Q2: {PRICE}",),
    ),
    Shape(
        "last answer empty", f"Q1: {BRAND}\nA1: Arla\nQ2: {PRICE}\nA2:", TWO[:1], unread=(PRICE,)
    ),
    Shape("answer without a question", "A1: Arla", [], unread=("A1: Arla",)),
    Shape(
        "description only",
        "The picture shows a carton of milk on a table.",
        [],
        unread=("The picture shows a carton",),
    ),
    Shape(
        "stray sentence between",
        f"Q1: {BRAND}\nA1: Arla\n\nThe carton is blue and white.\n\nQ2: {PRICE}\nA2: $4.50",
        TWO,
        unread=("The carton is blue and white.",),
    ),
    Shape("nothing", "", []),
    Shape("blank", " \n\t\n", []),
    Shape("refusal", "I'm sorry, but I can't assist with that request.", [], refusal=True),
    Shape(
        "refusal, polite",
        "I apologize, but I am unable to read the text in this image.",
        [],
        refusal=True,
    ),
    Shape("refusal, Chinese", "很抱歉，我无法识别这张图片中的文字。", [], refusal=True),
    Shape(
        "refusal, nothing to read", "No readable text is visible in the image.", [], refusal=True
    ),
    Shape(
        "refusal of a part",
        f"I'm sorry, the lower half is blurred.\n\nQ1: {BRAND}\nA1: Arla",
        TWO[:1],
    ),
]
