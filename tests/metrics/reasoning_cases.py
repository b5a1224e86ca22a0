"""Outputs with thoughts in other notations, labelled before the rule was written.

``DEVELOPMENT`` was looked at while the rule was made, ``HELD_OUT`` only when it was done. A case:
the output, and what is scored; None stands for an output that breaks off inside its thoughts.
``LEFT_ALONE`` are outputs that look alike and hold no thought, ``SUSPECTED`` hold thoughts that
nothing marks for certain: both stay as they are, the latter are counted.
"""

from __future__ import annotations

HARMONY = "<|channel|>analysis<|message|>{}<|end|><|start|>assistant<|channel|>final<|message|>{}"

DEVELOPMENT: list[tuple[str, str | None]] = [
    (HARMONY.format("5g or 6g?", "12g"), "12g"),
    (HARMONY.format("5g or 6g?", "12g<|return|>"), "12g"),
    ("<|start|>assistant" + HARMONY.format("5g", "12g<|end|>"), "12g"),
    ("<|channel|>analysis 5g <|channel|>final 12g", "12g"),
    ("<|channel|>analysis<|message|>It could be 12g", None),
    ("<|channel|>analysis<|message|>It could be 12g<|end|>", None),
    ("analysisThe label says 5g. So 12g.assistantfinal12g", "12g"),
    ("analysis The label says 5g. assistantfinal 12g", "12g"),
    ("analysisWe need to read the label: 12g", None),
    ("The label says 5g.<|end|><|start|>assistant<|channel|>final<|message|>12g", "12g"),
    ("[THINK]5g?[/THINK]12g", "12g"),
    ("[THINK]\n5g?\n[/THINK]\n\n12g", "12g"),
    ("[THINK]It could be 12g", None),
    ("5g?[/THINK]12g", "12g"),
    ("<seed:think>5g</seed:think>12g", "12g"),
    ("<seed:think>It could be 12g", None),
    ("◁think▷5g◁/think▷12g", "12g"),
    ("<reflection>5g</reflection>12g", "12g"),
    ("<reflection>It could be 12g", None),
    ("<scratchpad>5g</scratchpad>12g", "12g"),
    ("<|begin_of_thought|>5g<|end_of_thought|>12g", "12g"),
    ("<|START_THINKING|>5g<|END_THINKING|>12g", "12g"),
    ("<|channel>thought\n5g<channel|>12g", "12g"),
    ("<inner_monologue>5g</inner_monologue>12g", "12g"),
    ("Here is my thought process: 5g or 6g. Here is my response: 12g", "12g"),
    ("<think>The marks are <|channel|>analysis and [THINK]. 5g</think>12g", "12g"),
    ("<thinking>5g<reflection>6g</reflection>7g</thinking>12g", "12g"),
]

HELD_OUT: list[tuple[str, str | None]] = [
    (
        "<|channel|>analysis<|message|>Look: 7 km.<|end|>\n<|start|>assistant"
        "<|channel|>final<|message|>9 km<|return|>",
        "9 km",
    ),
    (
        "<|channel|>analysis<|message|>7<|end|><|start|>assistant<|channel|>commentary<|message|>"
        "8<|end|><|start|>assistant<|channel|>final<|message|>9",
        "9",
    ),
    (
        "<|channel|>analysis<|message|>a<|end|><|channel|>analysis<|message|>b<|end|>"
        "<|start|>assistant<|channel|>final<|message|>c d",
        "c d",
    ),
    ("<|channel|>commentary<|message|>I will read 9 km", None),
    ("<|channel|>final<|message|>9 km<|return|>", "9 km"),
    ("<|start|>assistant<|channel|>analysis<|message|>The sign shows 9", None),
    ("analysis<|message|>It says 9 km", None),
    ("analysisUser wants the distance. 7 km is the other one.assistantfinal9 km", "9 km"),
    ("analysis\n\nThe sign shows 7 km.\n\nassistantfinal\n\n9 km", "9 km"),
    ("analysisThe sign.assistantcommentaryReading 7.assistantfinal9 km", "9 km"),
    ("assistantanalysisThe sign shows 7.assistantfinal9 km", "9 km"),
    ("The sign shows 7 km, not 8.assistantfinal9 km", "9 km"),
    ("analysisUser asks which town the bus goes to, it may be York", None),
    ("[THINK]用户问距离，7公里[/THINK]9公里", "9公里"),
    ("[think]7 km[/think] 9 km", "9 km"),
    ("[THINK] The sign lists York and Leeds, so", None),
    ("The sign 7[/THINK]\n9 km", "9 km"),
    ("[THINKING]7[/THINKING]9 km", "9 km"),
    ("<seed:think>7<seed:cot_budget_reflect>used 10</seed:cot_budget_reflect></seed:think>9", "9"),
    ("7 km</seed:think>9 km", "9 km"),
    ("◁think▷先看路牌，7公里", None),
    ("7 km ◁/think▷ 9 km", "9 km"),
    ("9 km <reflection>Did I misread 7? No.</reflection>", "9 km"),
    ("<Reflection>7</Reflection>\n9 km", "9 km"),
    ("<thoughts>7</thoughts>9 km", "9 km"),
    ("<thought_process>7</thought_process>9 km", "9 km"),
    ("<longcat_think>7</longcat_think>9 km", "9 km"),
    ("<antThinking>7</antThinking>9 km", "9 km"),
    ("<|inner_prefix|>7<|inner_suffix|>9 km", "9 km"),
    ("<|think|>7<|/think|>9 km", "9 km"),
    ("<|begin_of_thought|>the sign shows 9 km", None),
    ("<|im_start|>think\n7<|im_start|>answer\n9 km", "9 km"),
    ("Here's my thought process:\n7 or 8.\n\nHere's my response:\n9 km", "9 km"),
    ("Here is my thought process: the sign shows 9 km", None),
    ("&lt;think&gt;7&lt;/think&gt;9 km", "9 km"),
    ("<rationale>7 is the other</rationale> 9 km", "9 km"),
    ("<|channel>thought\nthe sign shows 9 km", None),
    ("<think>7</think>" + HARMONY.format("8", "9 km"), "9 km"),
]

LEFT_ALONE: list[str] = [
    "analysis",
    "Analysis",
    "analysis of variance",
    "analysis: assistant final exam",
    "Cost-benefit analysis",
    "Nutritional analysis per 100 g",
    "final",
    "assistant final",
    "Analysis of the assistant final report",
    "analysis_assistantfinal.docx",
    "assistantfinal.pdf",
    "analysisLab",
    "[THE END]",
    "[analysis]",
    "[Reflection]",
    "Stop [THINK] then act",
    "[think",
    "Reflection",
    "<reflections>",
    "a <b> c",
    "THINK",
    "Think before you act",
    "commit <reason>",
    "◁ back ▷",
    "<|end|>",
    "12g<|return|>",
    "Here is my response: 12g",
    "thought for food",
    "[/b]12g",
    "commentary box",
    "analysisServices Ltd",
    "channel 5 final",
]

SUSPECTED: list[str] = [
    "Okay, let me look at the label. It lists 5g of fat and 12g of protein. So 12g",
    "Thought: the label lists 5g and 12g.\nAnswer: 12g",
    "**Reasoning:** the label lists 5g of fat first and then 12g.\n**Final answer:** 12g",
    "The user is asking about protein. The label shows 5g, wait, 12g. So it is 12g",
    "Let's think step by step. First comes fat with 5g, then protein with 12g.",
    "思考过程：标签上有5克脂肪。答案：12克",
    "<deep_think>5g</deep_think>12g",
    "12g [THINK] or is it 5g",
    "analysis We need to find the protein. The label lists 5g and 12g",
    "<|reasoning_content|>5g 12g",
    "```thinking\nthe label lists 5g\n```\n12g",
    "First, I need to find the protein row. It shows 12g",
    "用户想知道蛋白质含量，我先看标签，写着12克",
]

NOT_SUSPECTED: list[str] = [
    "12g",
    "The protein is 12g.",
    "Well, Let Me See (song)",
    "Thought: the magazine",
    "Okay Boba",
    "The User Guide",
    "Let's Think Big",
    "Wait, Wait... Don't Tell Me!",
    "First, Second and Third class",
    "The answer is 12g.",
    "Reasoning",
    "思考的力量",
    "Protein 12g, fat 5g, carbohydrate 30g, sugar 4g, salt 0.5g, energy 120 kcal",
    "The text on the sign reads Harbour Lane, as shown at the top of the picture",
    "First, wash the hair with warm water",
]
