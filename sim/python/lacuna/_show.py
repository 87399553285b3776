# SPDX-License-Identifier: Apache-2.0
"""How a result draws itself: HTML for a notebook, and figures of matplotlib."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING, Any

import pandas

if TYPE_CHECKING:
    from ._result import Result

# the layers of the cycle stack, in the colours of figures and pages
COLOURS = {"compute": "#0072b2", "exchange": "#56b4e9", "sync": "#cc79a7", "stall": "#d55e00",
           "imbalance": "#e69f00", "idle": "#c9ced6"}
_NUMBERS = (("cycles", "cycles", "{:,.0f}"), ("time_s", "time, us", "{:.4g}"),
            ("useful_tflops", "useful TFLOP/s", "{:.3g}"), ("speedup_vs_dense", "over dense", "{:.2f}"),
            ("energy_j", "energy, uJ", "{:.4g}"))
_SCALE = {"time_s": 1e6, "energy_j": 1e6}


def _bar(shares: dict) -> str:
    """The cycle stack of a point as a bar with a word for each part that shows."""
    parts = "".join(
        f'<div title="{layer} {share:.1%}" style="width:{100 * share:.2f}%;background:{COLOURS[layer]}">'
        "</div>" for layer, share in shares.items() if share > 0)
    return f'<div style="display:flex;width:16em;height:1em">{parts}</div>'


def _legend() -> str:
    return " ".join(f'<span style="color:{colour}">&#9632;</span> {layer}'
                    for layer, colour in COLOURS.items())


def _row(point: dict) -> str:
    cells = [html.escape(point["name"])]
    for key, _, form in _NUMBERS:
        mean = (point.get(key) or {}).get("mean")
        cells.append("" if mean is None else form.format(mean * _SCALE.get(key, 1)))
    cells.append(_bar(point["where_cores_waited"]) if point.get("where_cores_waited") else "")
    return "<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>"


def as_html(result: Result) -> str:
    """The answer: its sentences, and a row with the cycle stack for each point."""
    answer = result.answer
    said = answer["sentences"] + [sentence for cause in answer.get("causes", ()) for sentence in cause["sentences"]]
    head = "".join(f"<th>{title}</th>" for title in
                   ("", *(title for _, title, _ in _NUMBERS), "where cores waited"))
    return ("".join(f"<p>{html.escape(sentence)}</p>" for sentence in dict.fromkeys(said)) +
            f"<table><tr>{head}</tr>{''.join(map(_row, answer['points']))}</table><p>{_legend()}</p>")


def plot(result: Result, kind: str = "", axes: Any = None) -> Any:
    """Draws a result and returns the axes. `kind`: `speedup` over density, a line for each machine and pattern;
    `stack`, a bar a point by layer; `why`, the ladder of causes. By default `why` if the run has it,
    `speedup` of three points and more with a dense run each, else `stack`."""
    import matplotlib.pyplot as pyplot

    if not kind:
        kind = _kind(result)
    if kind not in _DRAWN:
        raise ValueError(f"kind: found '{kind}'; allowed: {', '.join(_DRAWN)}")
    if axes is None:
        axes = pyplot.subplots(figsize=(6, 3), layout="constrained")[1]
    _DRAWN[kind](result, axes)
    return axes


def _kind(result: Result) -> str:
    if len(result) == 1 and result.why[0]:
        return "why"
    totals = result.totals
    lines = len(totals) > 2 and totals.density.nunique() > 2 and totals.speedup_vs_dense.notna().all()
    return "speedup" if lines else "stack"


def _speedup(result: Result, axes: Any) -> None:
    totals = result.totals
    dense = totals.pattern == "dense"
    for (machine, pattern, block), kept in totals[~dense].groupby(["machine", "pattern", "block"], sort=False):
        points = pandas.concat([kept, totals[dense & (totals.machine == machine)]]).sort_values("density")
        axes.loglog(points.density, points.speedup_vs_dense, "o-", label=f"{machine}, {pattern} {block}".strip())
    low, high = axes.get_xlim()
    axes.loglog([low, high], [1 / low, 1 / high], ":", color="grey", label="linear")
    axes.set(xlim=(low, high), xlabel="density of the weights", ylabel="speed-up over dense")
    axes.legend(frameon=False, fontsize="small")


def _stack(result: Result, axes: Any) -> None:
    points = [point for point in result.answer["points"] if point.get("where_cores_waited")]
    places = range(len(points))
    left = [0.0] * len(points)
    for layer, colour in COLOURS.items():
        times = [1e6 * point["time_s"]["mean"] * point["where_cores_waited"][layer] for point in points]
        axes.barh(places, times, left=left, color=colour, label=layer)
        left = [old + more for old, more in zip(left, times)]
    axes.set(yticks=list(places), yticklabels=[point["name"] for point in points],
             xlabel="us of the mean unit")
    axes.invert_yaxis()
    axes.legend(frameon=False, fontsize="small")


def _why(result: Result, axes: Any) -> None:
    ladder = [step for why in result.why if why for step in why["ladder"]]
    names = [step["cause"] or "as it is" for step in ladder]
    axes.barh(range(len(ladder)), [step["cycles"] for step in ladder], color=COLOURS["compute"])
    for place, step in enumerate(ladder):
        axes.annotate(f" {step['cycles']:,.0f}", (step["cycles"], place), va="center", fontsize="small")
    axes.set(yticks=range(len(ladder)), yticklabels=names, xlabel="cycles, causes taken away in turn")
    axes.invert_yaxis()
    axes.margins(x=0.25)


_DRAWN = {"speedup": _speedup, "stack": _stack, "why": _why}
