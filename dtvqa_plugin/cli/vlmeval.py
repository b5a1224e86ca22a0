"""``dtvqa vlmeval``, ``vlmutil``, ``vlmeval-enable``, ``vlmeval-disable``."""

from __future__ import annotations

import click

PASS_ON = {"ignore_unknown_options": True, "allow_extra_args": True}


@click.command(
    "vlmeval", context_settings={**PASS_ON, "help_option_names": []}, add_help_option=False
)
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
@click.pass_context
def vlmeval(context: click.Context, arguments: tuple[str, ...]) -> None:
    """Run VLMEvalKit with the DT-VQA datasets registered.

    ARGUMENTS are those of VLMEvalKit's run.py: --data, --model, --config, --reuse and so on.
    --run-py PATH names the run.py of a checkout that is neither installed nor the current folder.
    Predictions go to tsv, which keeps every character, unless PRED_FORMAT is set.

    Answers of an earlier run in the same --work-dir are kept if the model, its settings, the
    questions and the images are the same; otherwise the run is refused before a model is loaded.
    --ask-again moves the earlier files aside and asks again.

    \b
    dtvqa vlmeval --data DTVQA DTVQA_PROMPTED --model Qwen2.5-VL-7B-Instruct
    dtvqa tasks-path --host vlmevalkit --copy-to . && dtvqa vlmeval --config dtvqa.json
    torchrun --nproc-per-node 8 -m dtvqa_plugin.hosts.vlmevalkit --data DTVQA --model NAME
    """
    from dtvqa_plugin.hosts.vlmevalkit.launcher import run_host

    if not arguments or arguments in (("-h",), ("--help",)):
        click.echo(context.get_help())
        return
    run_host(arguments)


@click.command(
    "vlmutil", context_settings={**PASS_ON, "help_option_names": []}, add_help_option=False
)
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
@click.pass_context
def vlmutil(context: click.Context, arguments: tuple[str, ...]) -> None:
    """Run VLMEvalKit's vlmutil with the DT-VQA datasets registered.

    \b
    dtvqa vlmutil eval outputs/NAME/NAME_DTVQA.tsv
    dtvqa vlmutil dlist all
    """
    from dtvqa_plugin.hosts.vlmevalkit.launcher import run_vlmutil

    if not arguments or arguments in (("-h",), ("--help",)):
        click.echo(context.get_help())
        return
    run_vlmutil(arguments)


@click.command(
    "evalscope", context_settings={**PASS_ON, "help_option_names": []}, add_help_option=False
)
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
@click.pass_context
def evalscope(context: click.Context, arguments: tuple[str, ...]) -> None:
    """Run EvalScope with the DT-VQA datasets registered in its VLMEvalKit backend.

    \b
    dtvqa evalscope eval --eval-backend VLMEvalKit --eval-config config.yaml
    """
    from dtvqa_plugin.hosts.vlmevalkit.launcher import run_evalscope

    if not arguments or arguments in (("-h",), ("--help",)):
        click.echo(context.get_help())
        return
    run_evalscope(list(arguments))


@click.command("vlmeval-enable")
def enable() -> None:
    """Let plain 'python run.py --data DTVQA' work.

    Appends a marked block to the installed vlmeval/dataset/__init__.py and shows the change.
    'dtvqa vlmeval-disable' removes it again. 'dtvqa vlmeval' needs neither.
    """
    from dtvqa_plugin.hosts.vlmevalkit.enable import enable as write_block

    change = write_block()
    click.echo(change.diff or f"{change.path}: enabled already, nothing to do.")


@click.command("vlmeval-disable")
def disable() -> None:
    """Take the block of 'dtvqa vlmeval-enable' out of the host again."""
    from dtvqa_plugin.hosts.vlmevalkit.enable import disable as remove_block

    change = remove_block()
    click.echo(change.diff or f"{change.path}: not enabled, nothing to do.")
    if change.restored is not None:
        click.echo(
            "The file has its original bytes again."
            if change.restored
            else "The file had been changed elsewhere as well; those changes were kept."
        )
