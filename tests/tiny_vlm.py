"""Vision-language models of a fifth of a million random weights, made in seconds, offline.

They go through the hosts' own runners on a CPU, so that the tests need no stand-in for a model.
Greedy decoding of the same seed gives the same words everywhere; the words are gibberish.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

_END, _PAD = "<|im_end|>", "<|endoftext|>"
_TURNS = ("<|im_start|>", _END, _PAD)


def _byte_tokenizer(specials: tuple[str, ...], **attributes: str) -> Any:
    """One token a byte (BPE without merges): any text round-trips, nothing has to be trained."""
    from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    tokenizer = Tokenizer(models.BPE({char: n for n, char in enumerate(alphabet)}, merges=[]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens([AddedToken(s, special=True, normalized=False) for s in specials])
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        eos_token=_END,
        pad_token=_PAD,
        model_max_length=8192,
        **({"extra_special_tokens": attributes} if attributes else {}),
    )


def _chat_template(image: str) -> str:
    """Turns between <|im_start|> and <|im_end|>; a picture becomes ``image`` where it stands."""
    part = (
        "{% if 'text' in part %}{{ part['text'] }}{% else %}" + image + "{% endif %}"
    )  # a part is a text or a picture
    body = (
        "{% if turn['content'] is string %}{{ turn['content'] }}{% else %}"
        "{% for part in turn['content'] %}" + part + "{% endfor %}{% endif %}"
    )
    return (
        "{% for turn in messages %}<|im_start|>{{ turn['role'] }}\n"
        + body
        + "<|im_end|>\n{% endfor %}"
        "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
    )


def _randomise(model: Any, seed: int) -> None:
    """Weights large enough that the answer depends on the question and the picture."""
    import torch

    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, weight in model.named_parameters():
            if weight.dim() < 2:
                continue
            spread = 1.0 if "embed" in name else (2.0 / weight[0].numel()) ** 0.5
            weight.copy_(torch.randn(weight.shape, generator=generator) * spread)


def _save(model: Any, processor: Any, tokenizer: Any, out: Path) -> Path:
    out.mkdir(parents=True, exist_ok=True)
    config = model.generation_config
    config.do_sample = False
    config.eos_token_id = tokenizer.convert_tokens_to_ids(_END)
    config.pad_token_id = tokenizer.convert_tokens_to_ids(_PAD)
    model.save_pretrained(out)
    processor.save_pretrained(out)
    return out


def make_tiny_qwen2_5_vl(out: Path, seed: int = 0) -> Path:
    """A Qwen2.5-VL of 0.2 M parameters at ``out``, as from_pretrained expects it."""
    import torch
    from transformers import (
        Qwen2_5_VLConfig,
        Qwen2_5_VLForConditionalGeneration,
        Qwen2_5_VLProcessor,
    )
    from transformers.models.qwen2_vl.image_processing_qwen2_vl import Qwen2VLImageProcessor
    from transformers.models.qwen2_vl.video_processing_qwen2_vl import Qwen2VLVideoProcessor

    start, end, picture, video = (
        "<|vision_start|>",
        "<|vision_end|>",
        "<|image_pad|>",
        "<|video_pad|>",
    )
    tokenizer = _byte_tokenizer((*_TURNS, start, end, picture, video))
    token = tokenizer.convert_tokens_to_ids
    config = Qwen2_5_VLConfig(
        text_config={
            "vocab_size": len(tokenizer),
            "hidden_size": 64,
            "intermediate_size": 96,
            "num_hidden_layers": 2,
            "num_attention_heads": 4,
            "num_key_value_heads": 2,
            "max_position_embeddings": 8192,
            "rope_parameters": {
                "rope_type": "default",
                "rope_theta": 10000.0,
                "mrope_section": [2, 3, 3],
            },
            "bos_token_id": token(_PAD),
            "eos_token_id": token(_END),
            "pad_token_id": token(_PAD),
        },
        vision_config={
            "depth": 2,
            "hidden_size": 32,
            "intermediate_size": 48,
            "num_heads": 2,
            "out_hidden_size": 64,
            "window_size": 112,
            "fullatt_block_indexes": [1],
        },
        image_token_id=token(picture),
        video_token_id=token(video),
        vision_start_token_id=token(start),
        vision_end_token_id=token(end),
    )
    torch.manual_seed(seed)
    model = Qwen2_5_VLForConditionalGeneration(config)
    _randomise(model, seed)
    template = _chat_template(start + picture + end)
    tokenizer.chat_template = template
    processor = Qwen2_5_VLProcessor(
        image_processor=Qwen2VLImageProcessor(min_pixels=28 * 28, max_pixels=16 * 28 * 28),
        tokenizer=tokenizer,
        video_processor=Qwen2VLVideoProcessor(),
        chat_template=template,
    )
    return _save(model, processor, tokenizer, out)


def make_tiny_llava(out: Path, seed: int = 0) -> Path:
    """A LLaVA 1.5 of 0.15 M parameters at ``out``: CLIP tower of 56 pixels, Llama of two layers."""
    import torch
    from transformers import (
        CLIPImageProcessor,
        CLIPVisionConfig,
        LlamaConfig,
        LlavaConfig,
        LlavaForConditionalGeneration,
        LlavaProcessor,
    )

    picture = "<image>"
    tokenizer = _byte_tokenizer((*_TURNS, picture), image_token=picture)
    token = tokenizer.convert_tokens_to_ids
    config = LlavaConfig(
        vision_config=CLIPVisionConfig(
            hidden_size=32,
            intermediate_size=48,
            num_hidden_layers=2,
            num_attention_heads=2,
            image_size=56,
            patch_size=14,
            projection_dim=32,
        ),
        text_config=LlamaConfig(
            vocab_size=len(tokenizer),
            hidden_size=64,
            intermediate_size=96,
            num_hidden_layers=2,
            num_attention_heads=4,
            max_position_embeddings=8192,
            bos_token_id=token(_PAD),
            eos_token_id=token(_END),
            pad_token_id=token(_PAD),
        ),
        image_token_index=token(picture),
        vision_feature_layer=-2,
        vision_feature_select_strategy="default",
    )
    torch.manual_seed(seed)
    model = LlavaForConditionalGeneration(config)
    _randomise(model, seed)
    template = _chat_template(picture + "\n")
    tokenizer.chat_template = template
    processor = LlavaProcessor(
        image_processor=CLIPImageProcessor(
            size={"shortest_edge": 56}, crop_size={"height": 56, "width": 56}
        ),
        tokenizer=tokenizer,
        patch_size=14,
        vision_feature_select_strategy="default",
        num_additional_image_tokens=1,
        image_token=picture,
        chat_template=template,
    )
    return _save(model, processor, tokenizer, out)
