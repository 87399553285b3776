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
    "what is counted of a router's buffers": ("fabric/buffer_counts.hpp", "struct BufferCounts", []),
    "which output queue has the ramp": ("fabric/ramp.hpp", "bool send_up", []),
    "routers in lanes: ports, links": ("fabric/lane_router.hpp", "class LaneContest", []),
    "what a column's stream sends next": ("program/sent_words.hpp", "class SentWords", []),
    "where words go: copies, switches": ("fabric/route_rule.hpp", "class HeadCopies", []),
    "a router, port by port": ("fabric/router.cpp", "RouterArray::grant_ports", ["router.multicast", "router.reconfig"]),
    "filter at the receiving ramp": ("program/wavelet_filter.hpp", "class WaveletFilter", []),
    "what words at the edge pay with": ("edge/tokens.hpp", "class TokenBucket", []),
    "what injectors wait for": ("edge/injectors.hpp", "static Control of_streams", []),
    "task dispatch": ("pe/dispatch.hpp", "class Dispatch", ["core.dispatch", "core.cmd_cycles", "core.dispatch_overlap"]),
    "tasks in lanes: a cycle": ("lanes/step.hpp", "class Stepper", []),
    "a row of cores that take a stream": ("engine/core_row.hpp", "class CoreRow", []),
    "who has the issue slot": ("pe/issue.hpp", "struct IssueRule", ["core.sched", "core.slots"]),
    "main thread of cores that take a stream": ("pe/handler_control.hpp", "class HandlerControl", []),
    "control of a core that streams": ("pe/stream_control.hpp", "class StreamControl", []),
    "control of a core that forms gradients": ("pe/gradient_control.hpp", "class GradientControl", []),
    "control of a core that runs tasks": ("pe/task_control.hpp", "class TaskControl", []),
    "residual stalls": ("pe/datapath.hpp", "constexpr std::uint32_t residual_place", []),
    "memory ports and banks": ("pe/vector_unit.cpp", "BeatCost::bank_stalls", ["mem.fma16_stalls", "mem.fma32_stalls"]),
}

# What leaves cycles out: it is no hardware, but a proof about programs of one form on hardware of one form, which asks the texts above
# for latencies, capacities and beats and reads none of their parameters. What is not of its form it has to refuse.
# closed form: (its text, its contract, the test of what it takes and what it refuses, that test's name)
CLOSED_FORMS = {
    "chains of kept gradients": ("engine/gradient_drain.cpp", "engine/gradient_drain.hpp",
                                 "tests/equivalence/wse/gradient_lanes_test.cpp", "WhatIsFoldedIsRightAndTheRestIsRefused"),
}


# What only these files may use: the rules of ports and links in lanes are said there, and all others ask them.
ONLY_IN = {
    "LaneMeter": ["fabric/link_rule.hpp", "fabric/lane_router.hpp", "edge/injectors.hpp", "edge/injectors.cpp"],
    "Turn::nobody": ["fabric/arbiter.hpp", "fabric/lane_router.hpp", "pe/issue.hpp"],
}

# Engines of programs of one form: none comes back.
GONE = ["turn_*", "shift_*", "relay_*", "lane_tasks*"]


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


def standing(sign):
    """The files of models/wse in which something is defined: not those that name or declare it."""
    definition = re.compile(rf"{re.escape(sign)}\b(?!\s*;)")
    return [file.relative_to(WSE).as_posix() for file in sorted(WSE.rglob("*.[ch]pp")) if definition.search(file.read_text())]


def closed_forms():
    """What is wrong with them."""
    wrong = []
    known = [parameter for _, _, parameters in MECHANISMS.values() for parameter in parameters]
    print("\nclosed forms, each of programs of one form, which ask those above:")
    for name, (text, contract, test, claim) in CLOSED_FORMS.items():
        print(f"  {name}: {text}; when: {contract}; {claim} in {test}")
        if "A closed form" not in (WSE / contract).read_text() or not (WSE / text).is_file():
            wrong.append(f"{name}: models/wse/{contract} does not say when it applies, or models/wse/{text} is not there")
        if claim not in pathlib.Path(test).read_text():
            wrong.append(f"{name}: {claim} is not in {test}")
        wrong += [f"{name}: models/wse/{text} reads {parameter}" for parameter in known if text in readers(parameter)]
    return wrong


def main():
    wrong = []
    print(f"{'mechanism':36} places {'text':26} read besides, of models/wse")
    for mechanism, (text, sign, parameters) in MECHANISMS.items():
        places = standing(sign)
        if places != [text]:
            wrong.append(f"{mechanism}: '{sign}' is in {', '.join(places) or 'no file'}, not in models/wse/{text} alone")
        print(f"{mechanism:40} {len(places):6} {text:26}")
        for parameter in parameters:
            files = readers(parameter)
            print(f"{'':40} {'':6} {'':26} {parameter}: {', '.join(files) if files else 'nowhere else'}")
            if len(files) > MOST_FILES:
                wrong.append(f"{parameter} is read in {len(files)} files, and may be in {MOST_FILES}")
    wrong += closed_forms()
    for name, files in ONLY_IN.items():
        for file in sorted(WSE.rglob("*.[ch]pp")):
            path = file.as_posix().removeprefix("models/wse/")
            if path not in files and name in file.read_text():
                wrong.append(f"{path} uses {name}, which is for {', '.join(files)}")
    for name in GONE:
        wrong += [f"{file} is an engine of one form; lanes/ runs any program" for file in WSE.rglob(name)]
    for line in wrong:
        print("wrong:", line, file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
