"""One case: every server checked and warmed up, then rounds in turn (A B C A B C ...)."""
import datetime
import os
import time
from dataclasses import dataclass

from comparison import asking, checks
from comparison.errors import NotAvailable, WrongAnswer
from comparison.loads import Constant, H2load
from comparison.targets import percentile


WARM_SECONDS_MAX = 90  # a compiler that is busy after that is a finding, not a start
COMPILING = 0.02  # share of a core below which a compiler counts as quiet
QUIET_PIECES = 2  # in a row: connections that end and begin again between two pieces may set off another compilation


@dataclass(frozen=True)
class Plan:
    rounds: int
    seconds: int
    warm_seconds: int
    others_max: float  # a round in which others used more of the machine than this is run once more


def run(case, fleet, bench, names, plan, say):
    """Returns what the results file keeps of the case: samples and faults by server, and when it ran."""
    began = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC")
    load_before = os.getloadavg()[0]
    samples, faults, left_out, warmed = {}, {}, {}, {}
    servers = []
    if isinstance(case.load, Constant):
        case.load.set_rate(bench, fleet.for_case(case, ("nginx",))[0], plan.seconds)
    for server in fleet.for_case(case, names):
        try:
            warmed[server.name] = ready(case, server, bench, plan)
            servers.append(server)
            samples[server.name] = []
        except NotAvailable as e:
            left_out[server.name] = str(e)
            say(f"  {case.name}: {e}")
        except (WrongAnswer, OSError) as e:
            fail(case, server, fleet, faults, str(e), say)
    for number in range(plan.rounds):
        for server in list(servers):
            try:
                if case.first_seconds:
                    restart(server)
                sample = one_round(case, server, bench, plan)
            except (WrongAnswer, OSError) as e:
                servers.remove(server)
                fail(case, server, fleet, faults, str(e), say)
                continue
            samples[server.name].append(sample)
            why = checks.fault(case, server, sample)
            if why:
                faults.setdefault(server.name, []).append(f"round {number + 1}: {why}")
            say(line(case, number, server, sample) + (f" FAULT {why}" if why else ""))
    return {"case": case.name, "mode": bench.mode, "began": began, "load_before": load_before, "rounds": plan.rounds,
            "seconds": case.first_seconds or plan.seconds, "samples": samples, "faults": faults, "warmed": warmed,
            "versions": {server.name: server.version() for server in servers},
            "left_out": {**fleet.why_left_out(names, case), **left_out}}


def ready(case, server, bench, plan):
    if isinstance(case.load, H2load) and not case.load.speaks(server):
        raise NotAvailable(f"{server.name} does not speak HTTP/2")
    checks.prepare(case, server, bench)
    return warm_up(case, server, bench, plan.warm_seconds) if plan.warm_seconds and not case.first_seconds else 0


def restart(server):
    """Starts a server anew with an empty cache. Returns when it serves."""
    server.end()
    server.start()


def warm_up(case, server, bench, seconds):
    """Warms a server up until its compiler, if it has one, is quiet; returns after how many seconds of load it was."""
    total, piece, quiet = 0, seconds * server.warm_factor, 0
    while True:
        compiled, began = server.compile_seconds(), time.monotonic()
        case.load.warm_up(bench, server, piece)
        took = time.monotonic() - began
        total += took
        now = server.compile_seconds()
        if compiled is None or now is None:
            return round(total)
        # Less than before: a thread of the compiler has ended, and nobody knows what the others did.
        quiet = quiet + 1 if 0 <= now - compiled < COMPILING * took else 0
        if quiet == QUIET_PIECES or total + piece > WARM_SECONDS_MAX:
            return round(total)


def one_round(case, server, bench, plan):
    if case.first_seconds:
        return case.load.measure(bench, server, case.first_seconds)
    sample = case.load.measure(bench, server, plan.seconds)
    if sample["others"] > plan.others_max:
        again = case.load.measure(bench, server, plan.seconds)
        again["repeated"] = True
        # What is measured only the first time stays.
        sample = {**{k: v for k, v in sample.items() if k not in again}, **again}
    return sample


def fail(case, server, fleet, faults, why, say):
    faults.setdefault(server.name, []).append(why)
    say(f"  {case.name} {server.name}: FAULT {why}")
    fleet.drop(server)


def line(case, number, server, sample):
    latency = " ".join(f"{percentile(k)} {sample[k]:.2f} ms" for k in ("p50_ms", "p99_ms", "p999_ms") if sample.get(k) is not None)
    cost = "" if sample["cpu_us"] is None else f" {sample['cpu_us']:.2f} us/{case.unit} busy {sample['busy']:.2f}"
    return (f"  {case.name} round {number + 1} {server.name}:{cost}"
            f" {sample['rate']:,.0f}/s {latency} others {sample['others']:.0%}"
            f" errors {sample['errors']}")
