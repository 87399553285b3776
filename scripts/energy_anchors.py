#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The set of energy prices that published power leaves, and what it decides.

  scripts/energy_anchors.py fit [--work DIR]      writes sim/config/energy_set.csv
  scripts/energy_anchors.py decide [--work DIR]   prints what the set narrows, as Markdown

`fit` asks `lacuna validate` for the power of each row of traces/validation/power.csv with the prices
of sim/config/energy_table.csv, and again with the prices of each group of events at twice their
nominal. Power is a sum over groups, but for the clock's share of activity, so these runs give the
power with any prices. Then prices are drawn, each group between its low and its high, and kept if
they meet the anchors: rows with the role `anchor` within their range, rows with the role `limit` not
above. Rows with another role are not looked at. The first member of the set, the nominal one, is the
one that moves prices least for the anchors to be met. Everything is drawn from one seed.
"""
import argparse
import csv
import math
import os
import random
import subprocess

LACUNA = os.environ.get("LACUNA", "build/release/lacuna")
TABLE = "sim/config/energy_table.csv"
SET = "sim/config/energy_set.csv"
POINTS = "traces/validation/power.csv"
BOUNDARIES = "sim/config/power_boundaries.csv"
MEMBERS = 64
SEED = 1

# Events that are one estimate, and move together. Those of the second column are of wafers alone.
GROUPS = {
    "arithmetic of products": ("mac_",),
    "other arithmetic": ("add_", "mul_", "int_alu", "cvt_", "sfu_", "rng_", "zero_test",
                         "index_decode", "regfile"),
    "issue, IPU": ("instr_issue_ipu",),
    "memory of a tile": ("sram_read_tile", "sram_write_tile"),
    "wires": ("wire",),
    "synchronisation": ("sync_tile",),
    "leakage of memory": ("leak_sram",),
    "leakage of logic": ("leak_logic",),
    "clock share of activity": ("clock_overhead",),
    "idle clock": ("idle_clock",),
    "clock tree, IPU": ("clock_tree_ipu",),
    "issue and tasks, wafer": ("instr_issue_wafer", "task_start"),
    "memory of a core": ("sram_read_small", "sram_write_small"),
    "routers": ("router_hop", "scribe_crossing"),
    "clock tree, wafer": ("clock_tree_wafer",),
    "off the chip": ("hbm2", "ddr4", "lpddr4", "gddr6", "link_serdes", "ethernet", "pcie"),
}
WAFER_ONLY = ("issue and tasks, wafer", "memory of a core", "routers", "clock tree, wafer")
OVERHEAD = "clock share of activity"
STANDING = ("leakage of memory", "leakage of logic", "idle clock", "clock tree, IPU",
            "clock tree, wafer")
# What the sources say of the anchors, in watts: "about 1 kW" when training BERT, taken within a
# tenth; an average of no stated work, taken within a fifth.
RANGES = {"PWR-02": (900, 1100), "PWR-04": (1000, 1500)}
LOWEST = 0.02  # of the nominal, where a low is 0


def read(path):
    with open(path, encoding="utf-8") as file:
        return list(csv.DictReader(file))


def group_of(event):
    for name, beginnings in GROUPS.items():
        if event.startswith(beginnings):
            return name
    raise SystemExit(f"{TABLE}: event '{event}' is in no group of this script")


def role_of(row):
    return dict(item.split("=", 1) for item in row["parameters"].split(";"))["role"]


def powers(work, group):
    """Watts of the chips of each row with the prices of a group twice the nominal."""
    out = os.path.join(work, (group or "nominal").replace(" ", "_").replace(",", ""))
    if not os.path.exists(os.path.join(out, "power.csv")):
        rows = read(TABLE)
        for row in rows:
            if group and group_of(row["event"]) == group:
                for node in ("n16", "n7", "n5"):
                    for corner in ("low", "nominal", "high"):
                        row[f"{node}_{corner}"] = str(2 * float(row[f"{node}_{corner}"]))
        os.makedirs(work, exist_ok=True)
        points = POINTS
        if group in WAFER_ONLY:
            points = os.path.join(work, "wafers.csv")
            kept = [row for row in read(POINTS) if "machine=wse" in row["parameters"]]
            write_rows(points, kept)
        table = out + ".csv"
        write_rows(table, rows)
        subprocess.run([LACUNA, "validate", "--quiet", "--points", points, "--energy-table", table,
                        "--out", out], check=False, stdout=subprocess.DEVNULL)
    return {row["id"]: float(row["chips_w"]) for row in read(os.path.join(out, "power.csv"))}


def write_rows(path, rows):
    with open(path, "w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0].keys(), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


class Prices:
    """Factors of all events of a draw: u of each group from -1, low, to 1, high."""

    def __init__(self):
        self.rows = read(TABLE)
        self.spans = {}  # of a group: the widest of its events, for drawing power
        for row in self.rows:
            low, nominal, high = (float(row[f"n7_{c}"]) for c in ("low", "nominal", "high"))
            low = max(low, LOWEST * nominal)
            row["span"] = (math.log(low / nominal), math.log(high / nominal))
            group = group_of(row["event"])
            # the price of the group moves as its most used event does, its first
            self.spans.setdefault(group, row["span"])

    @staticmethod
    def factor(span, u):
        return math.exp(-u * span[0] if u < 0 else u * span[1])

    def of_groups(self, us):
        return {name: self.factor(self.spans[name], us[name]) for name in GROUPS}

    def of_events(self, us):
        return {row["event"]: self.factor(row["span"], us[group_of(row["event"])])
                for row in self.rows}


class Model:
    """Power of each row with any prices."""

    def __init__(self, work):
        self.points = {row["id"]: row for row in read(POINTS)}
        self.parts = {}
        base = powers(work, None)
        self.overhead = next(float(r["n7_nominal"]) for r in read(TABLE)
                             if r["event"] == "clock_overhead")
        doubled = {name: powers(work, name) for name in GROUPS}
        for point, watts in base.items():
            parts = {name: doubled[name].get(point, watts) - watts for name in GROUPS}
            for name in GROUPS:
                if name not in STANDING and name != OVERHEAD and name != "off the chip":
                    parts[name] /= 1 + self.overhead
            self.parts[point] = parts
        for point, watts in base.items():
            ours = self.chips(point, {name: 1 for name in GROUPS})
            if abs(ours / watts - 1) > 0.02:
                raise SystemExit(f"{point}: the parts give {ours:.0f} W, the run {watts:.0f}")
        self.boundaries = {}
        for row in read(BOUNDARIES):
            span = tuple(float(row[c]) for c in ("low", "nominal", "high"))
            self.boundaries.setdefault(row["boundary"], {})[row["part"]] = span

    def chips(self, point, factors):
        parts = self.parts[point]
        activity = sum(parts[name] * factors[name] for name in GROUPS
                       if name not in STANDING and name not in (OVERHEAD, "off the chip"))
        rest = sum(parts[name] * factors[name] for name in (*STANDING, "off the chip"))
        return rest + activity * (1 + self.overhead * factors[OVERHEAD])

    def watts(self, point, factors, boundary_u):
        chips = self.chips(point, factors)
        name = dict(i.split("=", 1) for i in self.points[point]["parameters"].split(";"))["boundary"]
        if name == "chip":
            return chips
        at = {}
        for part, (low, nominal, high) in self.boundaries[name].items():
            u = boundary_u[name]
            at[part] = nominal + u * ((high - nominal) if u > 0 else (nominal - low))
        return (chips + at["rest"]) / (1 - at["loss"])


def meets(model, factors, boundary_u):
    for point, row in model.points.items():
        role = role_of(row)
        if role == "limit" and model.watts(point, factors, boundary_u) > float(row["value"]):
            return False
        if role == "anchor":
            low, high = RANGES[point]
            if not low <= model.watts(point, factors, boundary_u) <= high:
                return False
    return True


def strain(model, prices, us, boundary_u):
    """How far prices are moved, and how far the anchors are missed."""
    total = sum(u * u for u in us.values()) + sum(u * u for u in boundary_u.values())
    factors = prices.of_groups(us)
    for point, row in model.points.items():
        role = role_of(row)
        if role not in ("anchor", "limit"):
            continue
        off = math.log(model.watts(point, factors, boundary_u) / float(row["value"]))
        if role == "anchor":
            total += (off / 0.05) ** 2
        elif off > -0.02:
            total += ((off + 0.02) / 0.005) ** 2
    return total


def nominal_member(model, prices):
    us = {name: 0.0 for name in GROUPS}
    boundary_u = {name: 0.0 for name in model.boundaries}
    step = 0.25
    best = strain(model, prices, us, boundary_u)
    while step > 1e-4:
        moved = False
        for space in (us, boundary_u):
            for name in space:
                for change in (step, -step):
                    before = space[name]
                    space[name] = min(1.0, max(-1.0, before + change))
                    now = strain(model, prices, us, boundary_u)
                    if now < best - 1e-12:
                        best, moved = now, True
                        break
                    space[name] = before
        if not moved:
            step /= 2
    # The boundaries' parts stay as they are in their table: prices alone are written.
    return us


def draw(model, prices):
    generator = random.Random(SEED)
    members, tried = [], 0
    while len(members) < MEMBERS - 1:
        tried += 1
        us = {name: generator.uniform(-1, 1) for name in GROUPS}
        boundary_u = {name: generator.uniform(-1, 1) for name in model.boundaries}
        if meets(model, prices.of_groups(us), boundary_u):
            members.append(us)
    return members, tried


def fit(work):
    model, prices = Model(work), Prices()
    first = nominal_member(model, prices)
    members, tried = draw(model, prices)
    members.insert(0, first)
    columns = [prices.of_events(us) for us in members]
    with open(SET, "w", encoding="utf-8") as file:
        names = ["nominal"] + [f"m{i}" for i in range(1, MEMBERS)]
        file.write(",".join(["event", *names]) + "\n")
        for row in prices.rows:
            event = row["event"]
            file.write(",".join([event] + [f"{c[event]:.5g}" for c in columns]) + "\n")
    print(f"{MEMBERS - 1} of {tried} draws meet the anchors; {SET} has them")


def quantile(values, share):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def decide(work):
    model, prices = Model(work), Prices()
    rows = {row["event"]: row for row in read(SET)}
    names = [name for name in next(iter(rows.values())) if name != "event"]
    members = []
    for name in names:
        factors = {}
        for row in prices.rows:
            factors.setdefault(group_of(row["event"]), float(rows[row["event"]][name]))
        members.append(factors)
    generator = random.Random(SEED + 1)
    before = [prices.of_groups({name: generator.uniform(-1, 1) for name in GROUPS})
              for _ in range(2000)]
    print("| Prices of | low to high over nominal | of the set | the set's nominal |")
    print("| --- | --- | --- | --- |")
    for name in GROUPS:
        low, high = (Prices.factor(prices.spans[name], u) for u in (-1, 1))
        mine = [m[name] for m in members]
        print(f"| {name} | {low:.2f} to {high:.2f} | {min(mine):.2f} to {max(mine):.2f} | "
              f"{mine[0]:.2f} |")
    print("\n| Power of the chips of | drawn from the table, 5 to 95 % | of the set | high over low |"
          "\n| --- | --- | --- | --- |")
    for point, row in model.points.items():
        drawn = [model.chips(point, f) for f in before]
        mine = [model.chips(point, f) for f in members]
        print(f"| {point}: {row['system']}, {row['workload']} | {quantile(drawn, 0.05):,.0f} to "
              f"{quantile(drawn, 0.95):,.0f} W | {min(mine):,.0f} to {max(mine):,.0f} W | "
              f"{max(mine) / min(mine):.2f} |")
    print("\n| Ratio of powers | drawn from the table, 5 to 95 % | of the set | |"
          "\n| --- | --- | --- | --- |")
    def ratio(what, one, other, scale=1.0):
        drawn = [scale * model.chips(one, f) / model.chips(other, f) for f in before]
        mine = [scale * model.chips(one, f) / model.chips(other, f) for f in members]
        sides = {value > 1 for value in mine}
        print(f"| {what} | {quantile(drawn, 0.05):.2f} to {quantile(drawn, 0.95):.2f} | "
              f"{min(mine):.2f} to {max(mine):.2f} | "
              f"{'decided' if len(sides) == 1 else 'not decided'} |")
    # a step of BERT-Large takes 1.885 s on a POD16 and 1.272 s on a Bow Pod16, as simulated
    ratio("Bow over GC200, a chip that trains BERT-Large", "PWR-04", "PWR-02")
    ratio("the same, joules of a sequence", "PWR-04", "PWR-02", 1.272 / 1.885)
    ratio("GC200: BERT-Large over ResNet-50", "PWR-02", "PWR-01", 1 / 4)
    ratio("GC200: ResNet-50 over the busiest cycle", "PWR-01", "PWR-03", 4)
    ratio("WSE-2 over 92 GC200, busiest cycles (as many multiplications a second)", "PWR-08",
          "PWR-03", 4 / 92.0)
    ratio("WSE-3 over WSE-2, busiest cycles", "PWR-10", "PWR-08")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("what", choices=("fit", "decide"))
    parser.add_argument("--work", default="build/energy_anchors")
    given = parser.parse_args()
    (fit if given.what == "fit" else decide)(given.work)


if __name__ == "__main__":
    main()
