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
        "无法确定", "看不清", "抱歉，我无法回答这个问题。", "图片中没有提到价格", "不清楚",
        "无法判断",
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
        "无法识别", "无法得知", "我看不到图片", "对不起，图片太模糊了", "没有相关信息",
        "图片上没有写",
        "不能确定", "未知", "很抱歉，无法提供该信息", "难以辨认", "不详", "图像不清晰，无法读取",
        "分かりません", "申し訳ありませんが、答えられません", "判読できません",
        "画像からは確認できません",
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
        "不二家", "知音", "不见不散", "没有共产党就没有新中国", "无锡", "未来科技", "清华大学",
        "看海",
        "明るい", "分かち合い", "모두", "알로에", "Je t'aime", "Nicht rauchen",
        "No pisar el césped",
        "Não fumar", "Non fumare", "Не курить", "ممنوع التدخين", "Sin gluten", "Ohne Zucker",
        "12.50", "N/A-12 motor", "Know Your Rights", "I see", "We can't wait to see you",
        "Visitors are not able to park here", "This product is not sold individually",
    )),
]  # fmt: skip

# Written when a first rule was done, and used to widen it (recall had been 0.28).
AFTERWARDS: list[tuple[str, bool]] = [
    *((text, True) for text in (
        "No clue.", "Beats me", "I can't be certain about that.", "The value is missing.",
        "It is not written anywhere.", "I do not have access to the picture.", "Blank",
        "The resolution is too low.", "I would need a better photo.", "That detail is cut off.",
        "I am just a language model", "Nobody could read this", "There's nothing to read here.",
        "I don't see a price.", "The label doesn't mention it", "No price is shown",
        "Unfortunately, the image is cropped", "not in the picture", "Indecipherable",
        "Not enough context", "The text is partially hidden so I can't answer",
        "图上看不出来", "这个问题无法回答", "没写", "我无法查看图片", "不太清楚",
        "図に書かれていない", "答えは不明です", "잘 모르겠어요", "Aucune information",
        "Pas de réponse",
        "Kann ich nicht lesen", "Keine Angabe", "No tengo idea", "Sem informação", "Non saprei",
        "Нет информации", "Ответить не могу", "لست متأكدا", "Belli değil",
    )),
    *((text, False) for text in (
        "Blank Street Coffee", "Missing You", "Information technology", "Not Another Burger",
        "I See Red", "The sign is not lit", "Could be worse", "No refunds", "No vacancy",
        "No exit", "Picture House", "Sorry Sir, Mondays closed", "Never mind the bollards",
        "It's not rocket science", "Please provide your ticket", "Data not included in price",
        "Clear as day", "Read only memory", "Impossible Burger", "Hard Rock Cafe",
        "不要触摸", "没有如果", "清楚楚", "図書館", "写真館", "모르는 사람", "Non-stop",
        "Nicht füttern",
        "No molestar", "Sem lactose", "Senza glutine", "Нет входа", "Je ne regrette rien",
    )),
]  # fmt: skip

# Written last, to measure the rule on wordings that it was not made for: precision 1.00, recall
# 0.85 when first scored. Seven of the eight misses were then added to the rule.
FRESH: list[tuple[str, bool]] = [
    *((text, True) for text in (
        "I'm afraid I can't tell.", "The answer cannot be found in the image", "Cannot answer",
        "It's impossible to know.", "The text in the image is illegible.", "I can't determine that",
        "No relevant information", "The given image does not include any brand name.",
        "Not indicated on the package", "I could not see the date", "We can't tell from this",
        "The required information is not available.", "does not say", "not readable", "Unsure",
        "There is no phone number in the image.", "I'm not able to provide that information.",
        "This information is not provided in the image", "The sign is too far away to read",
        "无法从图中得知", "图片中未显示", "抱歉，我看不清楚文字", "我不确定", "没有显示", "不确定",
        "无法阅读", "图中没有答案", "这张图片里没有电话号码",
        "読めません", "見つかりません", "情報がありません", "알 수 없음", "읽을 수 없어요",
        "Je ne peux pas répondre", "Non visible sur l'image", "Inconnu", "Ich bin mir nicht sicher",
        "Das steht nicht auf dem Bild", "Unbekannt", "No se ve", "No estoy seguro", "Desconocido",
        "Não é possível ler", "Não sei dizer", "Non visibile", "Non lo vedo", "Неизвестно",
        "Не видно на картинке", "لا أدري", "Görünmüyor", "Tidak terlihat", "Không biết",
    )),
    *((text, False) for text in (
        "No smoking beyond this point", "Unknown Worlds", "Do not lean out", "Not by bread alone",
        "Sorry, no cash", "Cannot Hill Road", "The Missing Piece", "Readable Books", "Visible",
        "I am legend", "Not a through road", "There is no planet B", "No cash accepted",
        "Children are not admitted", "Information not to be missed", "I have a dream", "Help!",
        "The lift is out of order", "Items found are not returned", "Is it cake?", "See inside",
        "It is not too late", "Be sure", "No animals were harmed", "Answer the call",
        "不得入内", "没有烟抽的日子", "不可回收", "看图说话", "未成年人禁止", "不見不散",
        "知らない町", "알림", "Sans alcool", "Nicht nur sauber", "No apto para menores",
        "Não recomendado",
        "Non disperdere", "Не прислоняться", "ممنوع الوقوف", "Dikkat", "Cấm hút thuốc",
    )),
]  # fmt: skip
