"""Wordings with which a model declines to answer, and outputs that only look like it.

Labelled before the rule was written; ``HELD_OUT`` was scored only when the rule was done. None of
the outputs holds a reference answer. True: the model says that it cannot or will not answer.
"""

from __future__ import annotations

DEVELOPMENT: list[tuple[str, bool]] = [
    *((text, True) for text in (
        "I don't know", "I do not know.", "Cannot be determined.", "不知道", "I'm sorry, no",
        "I cannot read it", "Not visible", "Unknown", "N/A", "Unanswerable", "No answer",
        "It is not possible to tell from the image.", "There is no information about this.",
        "The image does not show the price.", "Not mentioned in the image", "Not specified.",
        "I have no idea", "The text is too blurry to read", "Illegible", "unreadable",
        "I'm unable to answer this question.", "Sorry, I can't help with that.",
        "As an AI language model, I cannot see images.", "I can't see any text.",
        "Can't tell", "not sure", "unclear", "No text in the image", "Not enough information",
        "无法确定", "看不清", "抱歉，我无法回答这个问题。", "图片中没有提到价格", "不清楚", "无法判断",
        "未提及", "我不知道", "图中未显示该信息。",
        "わかりません", "読み取れません。", "不明です", "画像には記載されていません",
        "알 수 없습니다", "모르겠습니다",
        "Je ne sais pas", "Impossible de déterminer", "Désolé, je ne peux pas répondre",
        "Ich weiß es nicht", "Nicht lesbar", "Das kann ich nicht erkennen.",
        "No lo sé", "No se puede determinar", "Lo siento, no puedo leerlo",
        "Não sei", "Não é possível determinar", "Non lo so", "Не знаю", "Невозможно определить",
        "لا أعرف", "Bilmiyorum", "Tôi không biết", "Saya tidak tahu", "ไม่ทราบ", "मुझे नहीं पता",
    )),
    *((text, False) for text in (
        "12g", "Sorry, we are closed", "Not for sale", "No parking", "Do not enter",
        "Unknown Pleasures", "I Don't Know How to Love Him", "Can't Help Falling in Love",
        "We cannot accept returns", "None of the above", "Information desk", "Clear water",
        "Not suitable for children", "Nothing Compares 2 U", "No 5 Chanel", "Read the label",
        "The Invisible Man", "Sure deodorant", "禁止停车", "不锈钢", "清楚明白", "无糖", "知道学院",
        "Answer Street", "不含防腐剂", "明治", "Sans sucre", "Nicht stürzen", "No fumar",
        "The price is 12.50", "Can I help you?", "Unable Street 12", "See you soon",
        "Terms: we cannot be held liable", "I know", "不知火", "No idling",
    )),
]  # fmt: skip

HELD_OUT: list[tuple[str, bool]] = [
    *((text, True) for text in (
        "I dont know", "I don’t know the answer to that.", "I really don't know", "idk",
        "It cannot be determined from the picture.", "This can't be read.",
        "Could not be determined", "The answer is not in the image.", "Not available",
        "Not given", "not stated", "Not shown in the image.", "Not legible",
        "No information provided", "Information not available", "Nothing is visible.",
        "There is no text visible in this picture", "There isn't enough detail to answer.",
        "I couldn't find the price.", "I am unable to read the text.", "I'm not able to see that.",
        "The question cannot be answered.", "Unable to determine", "Insufficient information",
        "The image is too small to read", "The label is not readable.",
        "The photo doesn't contain that information", "It's hard to say", "I'm not sure.",
        "I can not make out the text", "Sorry, but I can't assist with that request.",
        "I apologize, but the text is not clear enough.", "My apologies, I cannot identify it",
        "The price isn't listed.", "undetermined", "unknown.", "No visible text",
        "it doesn't say", "Please provide a clearer image.", "The image was not provided.",
        "无法识别", "无法得知", "我看不到图片", "对不起，图片太模糊了", "没有相关信息", "图片上没有写",
        "不能确定", "未知", "很抱歉，无法提供该信息", "难以辨认", "不详", "图像不清晰，无法读取",
        "分かりません", "申し訳ありませんが、答えられません", "判読できません", "画像からは確認できません",
        "모릅니다", "죄송합니다. 읽을 수 없습니다.", "확인할 수 없습니다", "이미지에 없습니다",
        "Je ne peux pas le lire", "Illisible", "Ce n'est pas indiqué", "Je l'ignore",
        "Keine Ahnung", "Nicht erkennbar", "Das lässt sich nicht bestimmen", "Nicht angegeben",
        "No sé", "No es posible leerlo", "No aparece en la imagen", "Ilegible",
        "Não consigo ler", "Desculpe, não posso ajudar", "Não está visível",
        "Non è possibile leggerlo", "Mi dispiace, non posso rispondere", "Illeggibile",
        "Я не знаю", "Не могу прочитать", "Не указано", "Извините, текст неразборчив",
        "لا يمكن تحديد ذلك", "غير واضح", "لا أستطيع القراءة", "Okunamıyor",
        "Không rõ", "Tidak dapat dibaca", "ไม่สามารถอ่านได้", "Ik weet het niet", "Nie wiem",
    )),
    *((text, False) for text in (
        "Harbour Lane", "Sorry!", "Sorry for the inconvenience", "No entry", "Not to scale",
        "The Unknown Soldier", "Unknown Mortal Orchestra", "I don't like Mondays",
        "I Can't Get No Satisfaction", "Do not read while driving", "No dogs", "No Name",
        "We do not sell tickets here", "Tickets cannot be refunded", "Not before 12:00",
        "Clearwater", "Clear cache", "Visible Light", "The image of the city", "No 10 Downing St",
        "Help desk", "Assist Pro", "Not guilty", "Nothing Hill", "Zero information loss",
        "Available from June", "Idaho", "No Doubt", "Sure thing", "Determination", "unclear sky",
        "Unable to stop: heavy vehicle", "See reverse for details", "Answer: 14 March",
        "不二家", "知音", "不见不散", "没有共产党就没有新中国", "无锡", "未来科技", "清华大学", "看海",
        "明るい", "分かち合い", "모두", "알로에", "Je t'aime", "Nicht rauchen", "No pisar el césped",
        "Não fumar", "Non fumare", "Не курить", "ممنوع التدخين", "Sin gluten", "Ohne Zucker",
        "12.50", "N/A-12 motor", "Know Your Rights", "I see", "We can't wait to see you",
        "Visitors are not able to park here", "This product is not sold individually",
    )),
]  # fmt: skip
