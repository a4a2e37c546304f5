"""``keju build``: run a recipe, or one step; the commands are made from the steps' settings."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args, get_origin

import typer
from msgspec import NODEFAULT
from msgspec.structs import FieldInfo, asdict, fields
from rich.markup import escape
from typer.core import TyperGroup

from keju.cli.addresses import refuse_addresses
from keju.cli.app import WITH_FAILURES, app, err, out, print_json, say
from keju.cli.help_texts import translate_made_command
from keju.cli.options import (
    AsJson,
    DatasetPath,
    EngineOption,
    NewDatasetOrAddress,
    PartitionItems,
    RayAddress,
    out_option,
)
from keju.cli.permission import SendRestricted, permission
from keju.errors import DataError, UsageError, did_you_mean, error_text, nearest_names
from keju.registry import PluginError, describe_broken
from keju.settings import convert_settings, get_description, is_table, unwrap_type
from keju.texts import _, in_terminal, language, n_, recognised, translator

if TYPE_CHECKING:
    from keju.building.engine import EngineName
    from keju.building.running import PlannedStage
    from keju.building.sources.keys import Key
    from keju.building.step import Settings, Step
    from keju.datasets.readers import Reader
    from keju.datasets.store import DatasetManifest


class BuildGroup(TyperGroup):
    """``keju build NAME …`` with every step as a command, and ``keju build RECIPE.toml``."""

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ANN401 - Typer's context
        """The commands of this file, and every step."""
        from keju.building.steps import STEPS

        return list(dict.fromkeys([*super().list_commands(ctx), *STEPS]))

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ANN401 - Typer's own types
        """A command of this file, or the one made from a step, which is imported only now."""
        if found := super().get_command(ctx, cmd_name):
            return found
        from keju.building.steps import STEPS

        if cmd_name not in STEPS:
            return None
        alone = typer.Typer(add_completion=False, rich_markup_mode="rich")
        plugin = STEPS.plugin_of(cmd_name)
        try:
            step = STEPS[cmd_name]
        except PluginError as error:
            alone.command(name=cmd_name, help=escape(in_terminal(error_text(error))))(lambda: None)
        else:
            origin = in_terminal(_(" From the plug-in {}.", escape(str(plugin))))
            summary = translator(language())(step.summary)
            alone.command(name=step.name, help=summary + (origin if plugin else ""))(
                _make_command(step)
            )
        command = typer.main.get_command(alone)
        refuse_addresses(command)
        translate_made_command(command)
        return command

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:  # noqa: ANN401 - as above
        """Read a TOML file as the command ``recipe`` with that file."""
        from keju.building.steps import STEPS

        if args and args[0].endswith(".toml"):
            return "recipe", self.get_command(ctx, "recipe"), args
        if args and not args[0].startswith("-") and self.get_command(ctx, args[0]) is None:
            if args[0] in STEPS.elsewhere:
                raise STEPS.make_unknown_error(args[0])
            near = did_you_mean(nearest_names(args[0], self.list_commands(ctx)))
            raise UsageError(
                "no step {!r}, and no recipe (a .toml file).{} See: keju build --help",
                args[0],
                near,
                hint=describe_broken(),
            )
        if args and super().get_command(ctx, args[0]) is None and args[0] in STEPS:
            STEPS[args[0]]  # Raises for a step whose package is missing, with the reason.
        return super().resolve_command(ctx, args)


build_app = typer.Typer(
    cls=BuildGroup,
    no_args_is_help=True,
    help="Make a benchmark's data: [b]keju build RECIPE.toml[/b] runs a recipe of sources and "
    "steps; each step is also a command: [b]keju build STEP DATASET --out DIR[/b]",
)
app.add_typer(build_app, name="build")


@build_app.command()
def recipe(
    file: Annotated[Path, typer.Argument(metavar="RECIPE.toml", help="Recipe (TOML file).")],
    out: Annotated[
        Path | None,
        out_option(
            metavar="DIR",
            help="Build directory. Default: the recipe's name, in the current directory.",
        ),
    ] = None,
    engine: EngineOption = "native",
    ray_address: RayAddress = "",
    plan: Annotated[
        bool,
        typer.Option(
            "--plan",
            help="Only print the state of each step: up to date, may need rebuilding, or pending.",
        ),
    ] = False,
    partition_items: PartitionItems = 0,
    send_restricted_data: SendRestricted = False,
) -> None:
    """Run a recipe: read its sources, join them, and run its steps. The same command resumes."""
    from keju.building import pipeline
    from keju.building.engine import Engine
    from keju.building.next_steps import describe_next_steps
    from keju.building.recipe import read_recipe
    from keju.datasets.store import partitioning
    from keju.running.restricted_data import permitting

    read = read_recipe(file, out)
    folder = out or _make_folder_path(read.head.name)
    if plan:
        for part in pipeline.plan_build(read, folder):
            say(_describe_state(part))
        return
    machine = Engine(engine, address=ray_address, console=err)
    with partitioning(partition_items), permitting(permission(send_restricted_data)):
        pipeline.build(read, folder, engine=machine, say=say)
    say(*describe_next_steps(folder))


def _describe_state(part: PlannedStage) -> str:
    if part.exists:
        return _("{}: up to date", part.folder)
    if part.may_change:
        return _("{}: may need rebuilding, if an earlier step changes", part.folder)
    return _("{}: pending", part.folder)


def _make_folder_path(name: str) -> Path:
    """A directory with a recipe's name in the current one, where that is a valid name."""
    if name in {".", ".."} or not name.strip() or any(char in '/\\:*?"<>|' for char in name):
        raise UsageError("a folder cannot be called {!r}. Name the build's with --out", name)
    return Path(name)


@build_app.command()
def sources(
    form: Annotated[str, typer.Argument(metavar="[FORM]", help="Form of a [[source]].")] = "",
) -> None:
    """List the forms of a recipe's sources, or the keys of one."""
    from keju.building.sources import SOURCES, get_source_form
    from keju.building.sources.keys import list_keys
    from keju.datasets.readers import FORMATS

    translate = translator(language())
    if not form:
        for source in SOURCES.iter_entries():
            say(f"{source.name}: {source.describe(lambda form: translate(form.summary))}")
        for each in FORMATS.iter_entries():
            say(f"{each.name}: {each.describe(_describe_format)}")
        say(_("The keys of one: keju build sources FORM"))
        return
    found = get_source_form(form, place="keju build sources")
    reader = FORMATS.get(form)
    summary = translate(reader.what if reader else found.summary)
    say(f'form = "{form}": {summary}')
    _say_keys(list_keys(found.settings))


def _say_keys(keys: Iterable[Key]) -> None:
    for key in keys:
        kind, summary = in_terminal(key.description), translator(language())(key.summary)
        say(f"  {key.name} ({kind}): {summary}")


def _describe_format(reader: Reader[Any]) -> str:
    return in_terminal(_("a format of data import: {}", recognised(reader.what)))


def say_built(made: DatasetManifest, folder: Path, *, existed: bool = False) -> None:
    """Print how many items and images a step has written, or that they existed already."""
    items, images, mark = made.items, made.images, made.hash[:12]
    if existed:
        line = _(
            "{}, {} in {} (hash {}; it existed already)",
            n_("{n:,} item", "{n:,} items", items),
            n_("{n:,} image", "{n:,} images", images),
            folder,
            mark,
        )
    else:
        line = _(
            "{}, {} in {} (hash {})",
            n_("{n:,} item", "{n:,} items", items),
            n_("{n:,} image", "{n:,} images", images),
            folder,
            mark,
        )
    say(line)


def _make_command(step: Step[Any]) -> Callable[..., None]:
    """A function with an option for each of the step's settings, as Typer reads functions."""
    infos = fields(step.settings)

    def run(
        dataset: Path,
        out: Path,
        engine: EngineName,
        ray_address: str,
        seed: int,
        partition_items: int,
        send_restricted_data: bool = False,
        **given: str | bool | list[str] | None,
    ) -> None:
        from keju.building.engine import Engine
        from keju.building.running import StepCall, run_step
        from keju.datasets.store import Dataset, partitioning
        from keju.running.restricted_data import permitting

        table = {name: value for name, value in given.items() if value not in (None, [])}
        settings: Settings = convert_settings(
            table, step.settings, place=f"keju build {step.name}", spelled=True
        )
        work = StepCall(step, settings, Dataset.open(dataset), seed)
        with partitioning(partition_items), permitting(permission(send_restricted_data)):
            done = run_step(work, out, engine=Engine(engine, address=ray_address, console=err))
        say(*done.record.notes)
        say_built(done.manifest, out, existed=not done.built)

    fixed: dict[str, tuple[Any, Any]] = {
        "dataset": (DatasetPath, inspect.Parameter.empty),
        "out": (NewDatasetOrAddress, inspect.Parameter.empty),
    }
    options = {each.name: (_make_option(each), None) for each in infos if not is_table(each)}
    last: dict[str, tuple[Any, Any]] = {
        "engine": (EngineOption, "native"),
        "ray_address": (RayAddress, ""),
        "seed": (Annotated[int, typer.Option(metavar="N", help="Seed for random choices.")], 0),
        "partition_items": (PartitionItems, 0),
    }
    if step.asks_models:
        last["send_restricted_data"] = (SendRestricted, False)
    declared = fixed | options | {k: v for k, v in last.items() if k not in options}
    run.__annotations__ = {name: kind for name, (kind, _) in declared.items()}
    kind = inspect.Parameter.KEYWORD_ONLY
    run.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [
            inspect.Parameter(name, kind, annotation=annotation, default=default)
            for name, (annotation, default) in declared.items()
        ]
    )
    return run


def _make_option(info: FieldInfo) -> Any:  # noqa: ANN401 - annotations are of any type
    """The option of a setting; its value stays text, for recipes' own check to read."""
    kind: Any = unwrap_type(info.type)
    shown_default = info.default if info.default not in (NODEFAULT, "", (), None) else None
    text: str = translator(language())(get_description(info.type))
    if kind is bool:
        text += in_terminal(_(" (default: {})", _("on") if info.default is True else _("off")))
        return Annotated[bool, typer.Option(help=text, show_default=False)]
    if shown_default is not None:
        text += in_terminal(_(" (default: {})", shown_default))
    many = get_origin(kind) in {tuple, list}
    if many:
        kind, text = get_args(kind)[0], text + in_terminal(_(" May be given several times."))
    metavar = {int: "N", float: "X", Path: "PATH"}.get(kind, "TEXT")
    if get_origin(kind) is Literal:
        metavar = "|".join(map(str, get_args(kind)))
    option = typer.Option(metavar=metavar, help=text, show_default=False)
    return Annotated[list[str] | None if many else str | None, option]


@build_app.command("check-choices")
def check_choices(dataset: DatasetPath, as_json: AsJson = False) -> None:
    """Test whether the options reveal the answer by length, position, frequency or a blind guess.

    The exit status is 1 if they do. Each check is a test against chance, adjusted for the number of
    tests per task. Chance is drawn by group (book, plate or bone; else the image). At least 20
    questions in 10 groups are needed.
    """
    from math import isnan

    from keju.building.choices import leaks
    from keju.cli.output.console import name_columns, plain_table, translate
    from keju.datasets.store import Dataset

    rows = leaks.check_choices(Dataset.open(dataset).items())
    if not rows:
        raise DataError(
            "no multiple-choice questions here",
            file=dataset,
            hint="Make some with: keju build make-choices",
        )
    found = [row for row in rows if row.verdict == "leak"]
    if as_json:
        print_json([asdict(row) for row in rows])
    else:
        table = plain_table(
            *name_columns("task", "check", "questions", "seen", "95 %", "chance", "p", "verdict"),
            right=(2, 3, 4, 5, 6),
        )
        tested = [row for row in rows if row.verdict != "too few"]
        for row in tested:
            share = "" if isnan(row.low) else f"{row.low:.2f}–{row.high:.2f}"
            table.add_row(
                row.task,
                translate(row.check),
                f"{row.questions:,}",
                f"{row.seen:.3g}",
                share,
                f"{row.expected:.3g}",
                f"{row.adjusted:.2g}",
                translate(row.verdict),
            )
        if tested:
            out.print(table)
        if len(tested) < len(rows):
            few = len(rows) - len(tested)
            say(
                n_(
                    "{n:,} check has fewer than {} questions or {} groups, which is too few for "
                    "a result",
                    "{n:,} checks have fewer than {} questions or {} groups, which is too few "
                    "for a result",
                    few,
                    leaks.FEWEST,
                    leaks.FEWEST_GROUPS,
                )
            )
        say(*map(translate, leaks.describe_leaks(found)))
        say(
            _(
                "{} in {}",
                n_("{n:,} leak", "{n:,} leaks", len(found)),
                n_("{n:,} check", "{n:,} checks", len(rows)),
            )
        )
    if found:
        raise typer.Exit(WITH_FAILURES)
