"""Prompts by hand, each with the question that it asks last, if that is beyond doubt.

``{1}``, ``{2}`` and ``{3}`` are questions of one picture. The label is the number of the question
that the response answers, 0 where the prompt does not say which.
"""

from __future__ import annotations

PROMPTS: tuple[tuple[str, int], ...] = (
    # examples with answers, then the question
    ("Q: {1} A: Foo\nQ: {2} A:", 2),
    ("Question: {1}\nAnswer: Foo\n\nQuestion: {2}\nAnswer:", 2),
    ("USER: {1} ASSISTANT: Foo USER: {2} ASSISTANT:", 2),
    (
        "<|im_start|>user\n{1}<|im_end|>\n<|im_start|>assistant\nFoo<|im_end|>\n"
        "<|im_start|>user\n{2}<|im_end|>\n<|im_start|>assistant\n",
        2,
    ),
    ("[INST] {1} [/INST] Foo </s>[INST] {2} [/INST]", 2),
    ("Examples:\nQ: {1}\nA: Foo\nQ: {3}\nA: 4.20\nNow answer.\nQ: {2}\nA:", 2),
    ("{1} Answer: Foo\n{2} Answer: ", 2),
    ("### Question: {1}\n### Answer: Foo\n### Question: {2}\n### Answer:", 2),
    ("Q1: {1} A1: Foo Q2: {2} A2:", 2),
    ("Q: {1} A: Foo Q: {2}", 2),
    ("Q: {1} A: Foo Q: {2}\nAnswer the question using a single word or phrase.", 2),
    ("问：{1} 答：小麦粉 问：{2} 答：", 2),
    (
        "<start_of_turn>user\n{1}<end_of_turn>\n<start_of_turn>model\nFoo<end_of_turn>\n"
        "<start_of_turn>user\n{2}<end_of_turn>\n<start_of_turn>model\n",
        2,
    ),
    ("Human: {1}\n\nAssistant: Foo\n\nHuman: {2}\n\nAssistant:", 2),
    ("Q: {1}\nA: Foo\n\nQ: {1}\nA:", 1),
    ("Q: {2}\nA: Bar\nQ: {1}\nA: Foo\nQ: {2}\nA:", 2),
    ("Input: {1}\nOutput: Foo\nInput: {2}\nOutput:", 2),
    ("[INST] Q: {1} A: Foo Q: {2} A: [/INST]", 2),
    (
        "<|im_start|>user\nQ: {1}\nA: Foo\nQ: {2}\nA:<|im_end|>\n<|im_start|>assistant\n",
        2,
    ),
    ("Question: {3} Short answer: 4.20 Question: {1} Short answer:", 1),
    ("<|user|>\n{1}<|end|>\n<|assistant|>\nFoo<|end|>\n<|user|>\n{3}<|end|>\n<|assistant|>\n", 3),
    ("**Question:** {1}\n**Answer:** Foo\n\n**Question:** {2}\n**Answer:**", 2),
    (
        "Here is an example.\nQuestion: {1}\nAnswer: Foo\n\nNow answer the following question.\n"
        "Question: {2}\nAnswer:",
        2,
    ),
    ("question: {1} answer: Foo question: {2} answer:", 2),
    ("Q：{1}\nA：Foo\nQ：{2}\nA：", 2),
    ("Picture 1. Q: {1} A: Foo. Picture 2. Q: {2} A:", 2),
    ("<|im_start|>user\n{1} Be brief<|im_end|>\n<|im_start|>assistant\nFoo<|im_end|>\n{2}", 2),
    ("Q: {1} A: Foo Q: What else? A: Bar Q: {2} A:", 2),
    ("User: {1}\nBot: Foo\nUser: {2}\nBot:", 2),
    # several questions, none of them answered, or all
    ("{1} (Table: Vitamin A: 10 %) {2}", 0),
    ("{1} Vitamin A: 10 %\n{2}", 0),
    ("Q: {1} A: Foo Q: {2} The answer: Bar", 0),
    ("Q: {1} A: {2}", 0),
    ("Q: {1} A: Foo Q: {2} A: Q: {3} A: Bar", 0),
    ("Q: {1}\nA: (left to you)\nQ: {2}\nA: (left to you)", 0),
    ("{1}\n{2}", 0),
    ("Answer both questions: 1. {1} 2. {2}", 0),
    ("Q: {1} A: Q: {2} A:", 0),
    ("Q1: {1}\nQ2: {2}\nAnswer:", 0),
    ("Q: {1} A: Foo Q: {2} A: Bar", 0),
    ("Question: {2}\nAnswer briefly. Examples: Q: {1} A: Foo", 0),
    ("Q: {1} A: ____ Q: {2} A: ____", 0),
    ("Answer only the first of these. Q: {1} A: ? Q: {2} A: ?", 0),
    ("Q: {1} A: Foo Q: {2} A: Ignore this one and answer the other.", 0),
    ("Q: {1} A: Foo\nQ: {2}\nNow answer the first question again.", 0),
    ("Do not answer: {1}\nAnswer: {2}", 0),
    ("Q: {1} A: <answer> Q: {2} A: <answer>", 0),
    ("1. {1}\n   Answer: 2. {2}\n   Answer:", 0),
    ("{2} (Hint: a similar question is: {1} Answer: Foo)", 0),
    ("Rewrite the first as the second: {1} -> {2}", 0),
    ("Compare the questions '{1}' and '{2}'.", 0),
    ("Question 1: {1} Answer: Next question: {2} Answer:", 0),
    ("{1}\nFoo\n{2}", 0),
    ("Q: {1} A: Foo Q: {3} A: Q: {2} A:", 0),
    ("Questions: {1} {2} {3} Answers:", 0),
    ("Answer the first question. Q1: {1} A1: a word Q2: {2} A2:", 0),
    ("Reply to both. Q: {1} A: Foo Q: {2} A:", 0),
    ("Each question has a short answer.\nQ: {1} A: Foo\nQ: {2} A:", 2),
    ("Q: {1}\nA: red\nB: blue\nQ: {2}\nA: red\nB: blue", 0),
    ('{{"questions": ["{1}", "{2}"]}}', 0),
    # one question of the picture beside others
    ("Q: {1} A: Foo Q: {2} A: Bar Q: What else is there? A:", 0),
    ("Q: {1} A: Foo Q: What else is there? A:", 0),
    ("USER: <image>\n{1}\nASSISTANT: Foo</s>USER: Are you sure? ASSISTANT:", 0),
    ("Q: What else is there? A: Foo Q: {1} A:", 1),
    ("{1} Answer:", 1),
    ("Question: {1} Short answer: ", 1),
    ("{1}\nOptions: A: red B: blue\nAnswer:", 1),
    ("{1}\nAnswer: in one word", 1),
    ("Format of the reply: Answer: <word>. {1}", 1),
    ("Example: Q: Who is it? A: Bob.\n{1}", 1),
    ("{1}\nExample: Q: Who is it? A: Bob.", 1),
    ("{1}\nA: red\nB: blue\nC: green", 1),
)
