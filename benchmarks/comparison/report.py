"""Results as Markdown: the targets with what was measured, then a table for each case."""
import os
import re

from comparison.cases import CASES
from comparison.product import REPOSITORY
from comparison.targets import LIMIT, PEERS, PRODUCT, SHOWN, cheapest_peer, median

BY_NAME = {case.name: case for case in CASES}


BEGIN, END = "<!-- compare: begin -->", "<!-- compare: end -->"


def write(path, measured, results=os.path.join(REPOSITORY, "benchmarks", "results")):
    """Writes the whole report; gives the paths of the files that it wrote.

    A page that has the two marks gets the targets between them, and the whole report goes to a file below results."""
    page = ""
    if os.path.exists(path):
        with open(path) as text:
            page = text.read()
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end):
        _put(path, document(measured))
        return [path]
    raw = os.path.join(results, raw_name(measured))
    os.makedirs(results, exist_ok=True)
    _put(raw, document(measured))
    link = os.path.relpath(raw, os.path.dirname(path) or ".")
    _put(path, f"{before}{BEGIN}\n\n{brief(measured, link)}\n{END}{after}")
    return [path, raw]


def _put(path, text):
    with open(path, "w") as out:
        out.write(text)


def raw_name(measured):
    """Name of the file with all figures of a run: the day it began, and the newest commit in it."""
    newest = max(measured, key=lambda m: m["began"])
    commit = newest["machine"].get("commit", "unknown").replace("+", "-changed")
    return re.sub(r"[^\w.-]", "-", f"{min(m['began'] for m in measured)[:10]}-{commit}.md")


def document(measured):
    """The report for what Results.all() gives, a table for each case included."""
    parts = ["# Side by side", "", *machine(measured), ""]
    for mode, of_mode in by_mode(measured):
        parts += [f"## {mode.capitalize()}: {MODES[mode]}", "", *targets(of_mode), "", *overview(of_mode), ""]
        for m in of_mode:
            parts += [*case_table(m), ""]
    return "\n".join(parts).rstrip() + "\n"


def brief(measured, link):
    """The targets only, with a link to the file that has all the figures."""
    about = measured[0]["machine"]
    parts = [f"{measured[0]['began']}, commit {about.get('commit', 'unknown')}, {about.get('CPU', 'unknown CPU')}."
             f" [CPU per request of every server]({link}).", ""]
    modes = by_mode(measured)
    for mode, of_mode in modes:
        parts += ([f"{mode.capitalize()}: {MODES[mode]}.", ""] if len(modes) > 1 else []) + [*targets(of_mode), ""]
    return "\n".join(parts).rstrip() + "\n"


def by_mode(measured):
    """(mode, its measurements) for each mode that was measured."""
    found = [(mode, [m for m in measured if m["mode"] == mode]) for mode in MODES]
    return [(mode, of_mode) for mode, of_mode in found if of_mode]


MODES = {"pinned": "each server on one core, load generator and origin on another",
         "free": "every server, the load generator and the origin on all cores"}


def machine(measured):
    """Lines about the machine; a value that differs between the cases is listed with all it had."""
    seen = {}
    for m in measured:
        for name, value in m["machine"].items():
            seen.setdefault(name, [])
            if value not in seen[name]:
                seen[name].append(value)
    versions = {}
    for m in measured:
        for name, version in m["versions"].items():
            if name != LIMIT and version:
                versions[name] = version
    dates = sorted(m["began"] for m in measured)
    lines = [f"- {name}: {' / '.join(values)}" for name, values in seen.items()]
    lines.append("- servers: " + ", ".join(f"{SHOWN.get(n, n)} {v}" for n, v in versions.items()))
    if dates:
        lines.append(f"- measured {dates[0]}" + (f" to {dates[-1]}" if dates[-1] != dates[0] else ""))
    return lines


def targets(measured):
    """One line a target: what is asked for, what came out."""
    by_case = {m["case"]: m["samples"] for m in measured}
    rows = ["| case | work | target | measured | |", "|---|---|---|---|---|"]
    for m in measured:
        case = BY_NAME[m["case"]]
        for target in case.targets:
            verdict = target.judge(m["samples"], by_case)
            word = verdict.word
            if word == "met" and PRODUCT in m["faults"]:
                word = "not valid, see the faults"
            first = target is case.targets[0]
            rows.append(f"| {case.name if first else ''} | {case.work if first else ''} | {target.text} |"
                        f" {verdict.measured} | {'**missed**' if word == 'missed' else word} |")
    return rows if len(rows) > 2 else ["No case with a target was run."]


def overview(measured):
    """CPU per request of every server, a row a case; the cheapest peer is bold."""
    names = []
    for m in measured:
        names += [n for n in m["samples"] if n not in names]
    names.sort(key=lambda n: ([LIMIT, PRODUCT, *PEERS, n].index(n), n))
    rows = ["CPU per request in us, medians:", "", "| case | " + " | ".join(SHOWN.get(n, n) for n in names) + " |",
            "|---" * (len(names) + 1) + "|"]
    for m in measured:
        best = cheapest_peer(m["samples"])
        cells = []
        for name in names:
            cost = number(median(m["samples"].get(name), "cpu_us"), "{:,.1f}")
            cells.append(f"**{cost}**" if name == best else cost)
        rows.append(f"| {m['case']} | " + " | ".join(cells) + " |")
    return rows


def case_table(m):
    case, samples = BY_NAME[m["case"]], m["samples"]
    best = cheapest_peer(samples)
    unit = "MiB" if case.unit == "MiB" else "req"
    lines = [f"### {case.name}: {case.work}", "",
             f"Rounds: {m['rounds']} of {m['seconds']} s; {m['began']}, load before {m['load_before']:.1f}.", "",
             f"| server | CPU us/{unit} (min to max) | of the best peer | of nginx | of the limit | {unit}/s (min to max)"
             " | p50 ms | p99 ms (min to max) | p99.9 ms (min to max) | busy | user | others | RSS MiB | errors |",
             "|---|---|---|---|---|---|---|---|---|---|---|---|---|---|"]
    for name, rounds in samples.items():
        if rounds:
            lines.append(row(name, rounds, samples, best))
    return lines + notes(m, unit)


def row(name, rounds, samples, best):
    cost = median(rounds, "cpu_us")
    ratios = " | ".join(number(ratio(cost, median(samples.get(other), "cpu_us")), "{:.2f}")
                        for other in (best, "nginx", LIMIT))
    return (f"| {SHOWN.get(name, name)} | {spread(rounds, 'cpu_us', '{:,.1f}')} | {ratios} |"
            f" {spread(rounds, 'rate', '{:,.0f}')} | {number(median(rounds, 'p50_ms'), '{:,.2f}')} |"
            f" {spread(rounds, 'p99_ms', '{:,.2f}')} | {spread(rounds, 'p999_ms', '{:,.2f}')} |"
            f" {number(median(rounds, 'busy'), '{:.2f}')} | {number(median(rounds, 'user_share'), '{:.0%}')} | {median(rounds, 'others'):.0%} | {max(s['resident_mib'] for s in rounds):,.0f} |"
            f" {sum(s['errors'] for s in rounds):,} |")


def notes(m, unit):
    """What the table has no column for, a line each."""
    lines = []
    for name, rounds in m["samples"].items():
        who = SHOWN.get(name, name)
        for text in server_notes(name, rounds, unit):
            lines.append(f"- {who}: {text}")
        if name.startswith(PRODUCT) and m.get("warmed", {}).get(name):
            lines.append(f"- {who}: warmed up for {m['warmed'][name]} s, until its JVM had compiled")
    for name, faults in m["faults"].items():
        lines += [f"- **{SHOWN.get(name, name)}: {text}**" for text in faults]
    for name, why in m["left_out"].items():
        lines.append(f"- {SHOWN.get(name, name)} is left out: {why}")
    return [""] + lines if lines else []


def server_notes(name, rounds, unit):
    if not rounds:
        return
    if median(rounds, "stolen") > 0.02:
        yield f"the host gave {median(rounds, 'stolen'):.0%} of the machine to others"
    asked, fetched = sum(s["requests"] for s in rounds), sum(s["origin_requests"] for s in rounds)
    if 0 < fetched < 0.99 * asked and unit == "req" and name != LIMIT:
        yield f"{fetched:,} requests to the origin, {fetched / asked:.2%} of all"
    if rounds[0].get("fast_lane_share") is not None:
        yield f"{median(rounds, 'fast_lane_share'):.1%} answered in the fast lane"
    if rounds[0].get("idle_opened") is not None:
        grown = median(rounds, "idle_bytes")
        yield (f"{median(rounds, 'idle_opened'):,.0f} idle connections, {max(s['idle_lost'] for s in rounds):,} lost,"
               f" {number(grown, '{:,.0f}')} B each")
    for problem in sorted({p for s in rounds for p in s["problems"]}):
        yield problem


def ratio(a, b):
    return a / b if a and b else None


def number(value, form):
    return "–" if value is None else form.format(value)


def spread(rounds, key, form):
    values = [s[key] for s in rounds if s.get(key) is not None]
    if not values:
        return "–"
    middle = form.format(median(rounds, key))
    return middle if len(values) == 1 else f"{middle} ({form.format(min(values))} to {form.format(max(values))})"
