#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Where the hardware of the wafer is written: of each mechanism its text, and the files of models/wse that read its parameters.

Prints a table. Fails if a parameter is read in more files than it may be, apart from its declaration, or if a text is not where it
is said to be. A file that needs a latency or a rule asks the type that has it.
"""

import pathlib
import re
import sys

WSE = pathlib.Path("models/wse")
DECLARATION = "models/wse/params.hpp"
MOST_FILES = 3

# mechanism: (its text, what must stand there, the parameters that only it should read)
MECHANISMS = {
    "queue: capacity, latency, credit": ("fabric/queue.hpp", "struct LaneQueue",
                                         ["router.hop", "router.ramp", "router.ramp_in", "router.entries", "router.turn"]),
    "queue with its words": ("fabric/link.hpp", "class LinkArray", []),
    "who wins an output port": ("fabric/arbiter.hpp", "struct ArbiterRule", ["router.arbiter"]),
    "how many words a link passes": ("fabric/link_rule.hpp", "struct LinkRule",
                                     ["router.link_words", "router.link_cycles", "router.link_limit"]),
    "which output queue has the ramp": ("fabric/ramp.hpp", "bool send_up", []),
    "routers in lanes: ports, copies, links": ("fabric/lane_router.hpp", "class LaneCopies", []),
    "what a column's stream sends next": ("program/sent_words.hpp", "class SentWords", []),
    "router port by port, switches": ("fabric/router.cpp", "RouterArray::grant_ports", ["router.multicast", "router.reconfig"]),
    "filter at the receiving ramp": ("program/wavelet_filter.hpp", "class WaveletFilter", []),
    "what words at the edge pay with": ("edge/tokens.hpp", "class TokenBucket", []),
    "what injectors wait for": ("edge/injector_control.hpp", "struct InjectorControl", []),
    "task dispatch": ("pe/dispatch.hpp", "class Dispatch", ["core.dispatch", "core.cmd_cycles", "core.dispatch_overlap"]),
    "who has the issue slot": ("pe/issue.hpp", "struct IssueRule", ["core.sched", "core.slots"]),
    "control of a core that streams": ("pe/stream_control.hpp", "class StreamControl", []),
    "control of a core that forms gradients": ("pe/gradient_control.hpp", "class GradientControl", []),
    "control of a core that runs tasks": ("pe/task_control.hpp", "class TaskControl", []),
    "residual stalls": ("pe/datapath.hpp", "residual_place", []),
    "memory ports and banks": ("pe/vector_unit.cpp", "BeatCost::bank_stalls", ["mem.fma16_stalls", "mem.fma32_stalls"]),
}

# What is still written more than once, each file with the others' differential tests as its guard: a change there has to be made
# in all of them. No file may be added here.
SEVERAL = {
    "where words go": ["fabric/router.cpp", "fabric/lane_router.hpp"],
    "closed forms": ["engine/tasks/relay_sweep.cpp", "pe/gradient_drain.cpp"],
}


# What only these files may use: the rules of ports and links in lanes are said there, and all others ask them.
ONLY_IN = {
    "LaneMeter": ["fabric/link_rule.hpp", "fabric/lane_router.hpp", "edge/lane_injectors.hpp", "edge/lane_injectors.cpp"],
    "Turn::nobody": ["fabric/arbiter.hpp", "fabric/lane_router.hpp", "pe/issue.hpp"],
}


def readers(parameter):
    """Files of models/wse that read a parameter as member of its group: `router.hop`, `params_.core.sched`."""
    group, name = parameter.split(".")
    use = re.compile(rf"\b(?:{group}|params)_?\.{name}\b")
    found = []
    for file in sorted(WSE.rglob("*.[ch]pp")):
        path = file.as_posix()
        lines = (line.split("//")[0] for line in file.read_text().splitlines())
        code = [re.sub(r'"[^"]*"', '""', line) for line in lines]
        if path != DECLARATION and any(use.search(line) for line in code):
            found.append(path.removeprefix("models/wse/"))
    return found


def main():
    wrong = []
    print(f"{'mechanism':36} {'text':22} read besides, of models/wse")
    for mechanism, (text, sign, parameters) in MECHANISMS.items():
        file = WSE / text
        if not file.is_file() or sign not in file.read_text():
            wrong.append(f"{mechanism}: '{sign}' is not in models/wse/{text}")
        print(f"{mechanism:36} {text:22}")
        for parameter in parameters:
            files = readers(parameter)
            print(f"{'':36} {'':22} {parameter}: {', '.join(files) if files else 'nowhere else'}")
            if len(files) > MOST_FILES:
                wrong.append(f"{parameter} is read in {len(files)} files, and may be in {MOST_FILES}")
    print("\nstill written more than once:")
    for mechanism, files in SEVERAL.items():
        print(f"  {mechanism}: {', '.join(files)}")
        wrong += [f"models/wse/{file} is no longer there" for file in files if not (WSE / file).is_file()]
    for name, files in ONLY_IN.items():
        for file in sorted(WSE.rglob("*.[ch]pp")):
            path = file.as_posix().removeprefix("models/wse/")
            if path not in files and name in file.read_text():
                wrong.append(f"{path} uses {name}, which is for {', '.join(files)}")
    for line in wrong:
        print("wrong:", line, file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
