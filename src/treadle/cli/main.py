"""The `treadle` command: loads only the sub-command that was asked for, and turns user errors into one sentence.

A command lives in its own file below treadle.cli and is named in COMMANDS. It raises `UsageError` for anything the
user can put right (exit 2); it returns its exit code otherwise: 0 nothing failed, 1 a failure was found, 2 wrong use
or unsupported, 3 cut or nothing to explore. A bug in Treadle is none of these: it leaves as a traceback and exit 70.
"""

from __future__ import annotations

import os
import signal
import sys
import traceback
from typing import Any

import click

from treadle import __version__
from treadle.core import stuck
from treadle.core.errors import InternalError, UsageError
from treadle.core.packages import is_library, with_extra
from treadle.core.verdict import EXIT_BROKEN_PIPE, EXIT_INTERNAL, EXIT_INTERRUPTED, EXIT_NOT_A_PASS, EXIT_WRONG_USE
from treadle.core.words import hint
from treadle.report.fresh_process import HASH_SEED, usual_hash_seed
from treadle.report.terminal import begin, harmless

# command -> (module:attribute, one-line help shown by `treadle --help`)
COMMANDS: dict[str, tuple[str, str]] = {
    "try": ("treadle.cli.try_:command", "Explore the tests of a project that start threads."),
    "explore": ("treadle.cli.explore:command", "Run a test under every schedule that can matter."),
    "class": ("treadle.cli.class_:command", "Write concurrent tests for a class that threads share."),
    "hunt": ("treadle.cli.hunt:command", "Look for races in every class of installed packages."),
    "unit": ("treadle.cli.unit:command", "Write unit tests that cover every path of a function."),
    "schedule": ("treadle.cli.schedule:command", "Try the orders of messages that an actor test has not seen."),
    "actor": ("treadle.cli.actor:command", "Write tests for an actor's method with unknown inputs."),
    "run": ("treadle.cli.run:command", "Run an ABS model once."),
    "replay": ("treadle.cli.replay:command", "Run one saved execution again."),
    "report": ("treadle.cli.report:command", "Run one saved execution again and write a page to look at."),
    "demo": ("treadle.cli.demo:command", "Show the tool at work on the bundled examples."),
}


class _Lazy(click.Group):
    """Imports a sub-command's module when it is used: `treadle --version` needs no solver."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS:
            raise UsageError(f"no command '{name}'{hint(name, COMMANDS, '; there are: ' + ', '.join(COMMANDS))}")
        module, attribute = COMMANDS[name][0].split(":")
        command: click.Command = getattr(with_extra(name, module), attribute)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in COMMANDS.items()])


@click.group(cls=_Lazy, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="treadle")
def treadle() -> None:
    """Writes and runs the concurrency tests that people cannot write by hand."""


def _begin_again_with_fixed_hashes() -> None:
    """Unless somebody has chosen a seed, sets of strings have the same order in every process: in the one that finds a
    failure, and in those that replay it."""
    if os.name == "posix" and os.environ.get(HASH_SEED, "random") == "random" and sys.executable:
        os.execve(sys.executable, sys.orig_argv, {**os.environ, HASH_SEED: str(usual_hash_seed())})


def _end_as_by_ctrl_c() -> None:
    """Who is told to terminate keeps what was found and ends the workers, as with Ctrl-C; copies of it just die."""
    process = os.getpid()

    def terminate(number: int, frame: Any) -> None:
        if os.getpid() == process:
            ctrl_c = signal.getsignal(signal.SIGINT)  # ignored where a shell has put the command into the background
            (ctrl_c if callable(ctrl_c) else signal.default_int_handler)(signal.SIGINT, frame)
        else:
            signal.signal(number, signal.SIG_DFL)
            os.kill(os.getpid(), number)

    signal.signal(signal.SIGTERM, terminate)


def _tell_stuck(stack: list[stuck.Frame]) -> int:
    """The command did not come back from a call in C, long after its time was over, and was ended."""
    own = os.path.dirname(os.path.dirname(__file__))
    file, line, function = next((one for one in stack if not is_library(one[0]) and own not in one[0]), stack[0])
    place = harmless(f"{file}:{line} in {function}")
    print(
        f"treadle: {place} does not come back from a call that nothing can interrupt, "
        "and the time is over: the command was ended; failures that it had found are in .treadle/findings",
        file=sys.stderr,
    )
    return EXIT_NOT_A_PASS


def main(argv: list[str] | None = None) -> Any:
    """Run the command line; every user error leaves as one sentence on stderr and exit code 2."""
    if argv is None:
        _begin_again_with_fixed_hashes()
        if sys.argv[1:2] in (["explore"], ["schedule"]):
            stuck.watched_over(_tell_stuck)
        _end_as_by_ctrl_c()
    begin()
    try:
        code = treadle.main(args=argv, prog_name="treadle", standalone_mode=False)
    except UsageError as error:
        print(f"treadle: {harmless(str(error))}", file=sys.stderr)
        sys.exit(EXIT_WRONG_USE)
    except click.ClickException as error:
        print(f"treadle: {harmless(error.format_message())}", file=sys.stderr)
        sys.exit(EXIT_WRONG_USE)
    except (click.Abort, KeyboardInterrupt) as stop:
        print(f"treadle: {str(stop.__cause__ or stop) or 'stopped'}", file=sys.stderr)
        sys.exit(EXIT_INTERRUPTED)
    except BrokenPipeError:
        sys.exit(EXIT_BROKEN_PIPE)
    except OSError as error:
        where = f" '{error.filename}'" if error.filename else ""
        print(f"treadle: cannot use{where}: {error.strerror or error}", file=sys.stderr)
        sys.exit(EXIT_WRONG_USE)
    except Exception as error:
        traceback.print_exc()
        if not isinstance(error, InternalError):
            print(f"treadle: {InternalError(type(error).__name__)}", file=sys.stderr)
        sys.exit(EXIT_INTERNAL)
    sys.exit(code if isinstance(code, int) else 0)
