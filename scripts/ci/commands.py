#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs every command that the README and the pages of doc/ print, as it is printed, and looks up
every option and parameter that they name.

  scripts/ci/commands.py [--long] [PAGE]...      LACUNA=build/release/lacuna

The `sh` blocks of a page are one script, run in a scratch folder that stands for a clone, and so is
each `python` block, where the module is built beside the program. A line before a block says what is
special about it:

  <!-- file: NAME -->        the block is written to that file, for the commands behind it
  <!-- long: HOW LONG -->    run with --long alone
  <!-- not run: REASON -->   another step runs it, or it needs what a test has not

A `text` block right behind an `sh` block is what its last command prints on standard output: each
line has to be there, in order, with its digits. A line of `...` stands for any lines, and `…` within
a line for digits that may move, such as those of a clock.
"""
import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
BLOCK = re.compile(r"(?:^<!-- (?P<mark>[^>]*?) -->\n)?^```(?P<kind>\w+)\n(?P<text>.*?)^```$",
                   re.MULTILINE | re.DOTALL)
LINKED = ["traces", "sim", "scripts", "models", "workloads", "tests", "CMakeLists.txt", "README.md"]
COPIED = ["doc"]  # commands write figures into it
# names with a dot that are none of parameters: files, and units such as wafer.r3.c7.router
OTHER = re.compile(r"\.(?:csv|yaml|md|json|hpp|cpp|py|sh|svg|html|pdf|gp|vcd)$|\.[rc]\d")
FREE = {"adding_a_block.md", "adding_a_machine.md", "changing_a_block.md"}  # name what is to be added
PYTHON = "/usr/bin/python3"  # the one that the module is for


class Step:
    """A block of commands, the output it shows, and the line it stands in."""

    def __init__(self, kind, text, line):
        self.words = ["sh", "-eu", "-c", text] if kind == "sh" else [PYTHON, "-c", text]
        self.line, self.shown = line, None


def steps_of(page, long, kinds):
    """Files to write and steps to run of a page, and the reasons of those that are not run."""
    text = page.read_text(encoding="utf-8")
    found, skipped, last = [], [], None
    for block in BLOCK.finditer(text):
        mark, kind = block["mark"] or "", block["kind"]
        line = text.count("\n", 0, block.start()) + 1
        word, _, rest = mark.partition(":")
        if word == "file":
            found.append(("file", rest.strip(), block["text"]))
        elif kind in kinds and (word == "not run" or word == "long" and not long):
            skipped.append(f"{page.relative_to(ROOT)}:{line}: {mark}")
        elif kind in kinds:
            last = (Step(kind, block["text"], line), block.end())
            found.append(("run", last[0], None))
            continue
        elif kind == "text" and last and not text[last[1] : block.start()].strip():
            last[0].shown = block["text"]
        last = None
    return found, skipped


def like(line):
    return re.sub(r"\s+", " ", re.sub(r"[-=]{3,}", "---", line)).strip()


def missing(shown, printed):
    """The first line that is shown and was not printed behind those before it."""
    lines = iter([like(line) for line in printed.splitlines()])
    for line in filter(None, (like(each) for each in shown.splitlines())):
        wanted = re.compile(r"[-+−\d.,]+".join(map(re.escape, line.split("…"))))
        if line != "..." and not any(map(wanted.fullmatch, lines)):
            return line
    return None


def clone(folder, program):
    for name in LINKED:
        (folder / name).symlink_to(ROOT / name)
    for name in COPIED:
        shutil.copytree(ROOT / name, folder / name)
    (folder / "build/release").mkdir(parents=True)
    (folder / "build/release/lacuna").symlink_to(program)


def write(folder, name, text):
    """Writes a file of a page; a folder of the project that is linked becomes a copy first."""
    top = folder / pathlib.Path(name).parts[0]
    if top.is_symlink():
        linked = top.resolve()
        top.unlink()
        shutil.copytree(linked, top)
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(text, encoding="utf-8")


def run_page(page, program, long):
    """The skipped blocks and what went wrong."""
    module = program.parent / "python"
    found, skipped = steps_of(page, long, ("sh", "python") if module.is_dir() else ("sh",))
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        clone(folder, program)
        environment = dict(os.environ, PATH=f"{folder}/build/release:{os.environ['PATH']}",
                           LACUNA=str(program), SC_COPYRIGHT_MESSAGE="DISABLE",
                           PYTHONDONTWRITEBYTECODE="1", PYTHONPATH=str(module), MPLBACKEND="Agg")
        for kind, step, text in found:
            if kind == "file":
                write(folder, step, text)
                continue
            place = f"{page.relative_to(ROOT)}:{step.line}"
            done = subprocess.run(step.words, cwd=folder, env=environment, capture_output=True,
                                  text=True, check=False)
            if done.returncode != 0:
                last = "\n".join((done.stdout + done.stderr).splitlines()[-5:])
                return skipped, f"{place}: status {done.returncode}\n{last}"
            absent = step.shown and missing(step.shown, done.stdout)
            if absent:
                return skipped, f"{place}: does not print '{absent}'\n{done.stdout}"
    return skipped, None


def known(program):
    """Options of all verbs; paths of parameters and statistics, and of their groups."""
    def ask(*words):
        return subprocess.run([program, *words], capture_output=True, text=True, check=True).stdout

    trace = [("trace", verb) for verb in ("make", "import", "schedule", "show", "check")]
    verbs = [("run",), ("compare",), ("sweep",), ("search",), ("validate",), ("plot",),
             ("describe",), *trace]
    options = set(re.findall(r"--[a-z][a-z-]*", "".join(ask(*verb, "--help", "all") for verb in verbs)))
    names = set()
    for kind in json.loads(ask("describe", "parameters", "--json")):
        names |= {entry["path"] for entry in kind["parameters"]}
    for kind in json.loads(ask("describe", "statistics", "--json")):
        names |= {f"{entry['path']}.{entry['name']}" for entry in kind["statistics"]}
    return options | {"--version", "--help"}, names


def unknown(page, options, names):
    """Options and parameters in the words of a page that the program does not know."""
    tops = {name.split(".")[0] for name in names} | {"chip"}
    text = re.sub(r"^```.*?^```", lambda found: "\n" * found.group().count("\n"),
                  page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    for number, line in enumerate(text.splitlines(), 1):
        for code in re.findall(r"`([^`]+)`", line):
            option = re.match(r"--[a-z][a-z-]*", code)
            if option and option.group() not in options:
                yield f"{page.relative_to(ROOT)}:{number}: no verb has {option.group()}"
            path = re.fullmatch(r"([a-z_]+(?:\.[a-z_0-9]+)+)(?:=.*)?", code)
            if not path or path.group(1).split(".")[0] not in tops or OTHER.search(code):
                continue
            name = path.group(1).removeprefix("chip.")
            if not any(each == name or each.startswith(name + ".") or each.endswith("." + name)
                       for each in names):
                yield f"{page.relative_to(ROOT)}:{number}: there is no {name}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--long", action="store_true")
    parser.add_argument("pages", nargs="*", type=pathlib.Path)
    asked = parser.parse_args()
    program = (ROOT / os.environ.get("LACUNA", "build/release/lacuna")).resolve()
    pages = [page.resolve() for page in asked.pages]
    pages = pages or [ROOT / "README.md", *sorted((ROOT / "doc").rglob("*.md"))]
    wrong = 0
    options, names = known(program)
    for page in pages:
        for text in unknown(page, options, names) if page.name not in FREE else ():
            wrong += 1
            print(text)
        begin = time.monotonic()
        skipped, error = run_page(page, program, asked.long)
        for reason in skipped:
            print(reason)
        if error:
            wrong += 1
            print(error)
        print(f"{page.relative_to(ROOT)}: {'FAILED' if error else 'passed'}, "
              f"{time.monotonic() - begin:.0f} s", flush=True)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
