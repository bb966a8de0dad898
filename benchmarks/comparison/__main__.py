"""benchmarks/compare: reads the command line, runs the cases, writes the report."""
import datetime
import os
import shutil
import sys

from comparison import cases, machine, options, product, report, rounds
from comparison.bench import Bench, MachineLock, hold_signals, stop_on_signals
from comparison.errors import ComparisonError
from comparison.fleet import Fleet
from comparison.loads import Constant
from comparison.peers import KINDS
from comparison.results import Results
from comparison.servers import program


def say(text):
    print(text, file=sys.stderr, flush=True)


def main():
    args = options.parser().parse_args()
    try:
        todo = cases.chosen(args.cases)
        if args.list:
            return list_all(todo)
        stop_on_signals()
        tag = args.tag or datetime.datetime.now().strftime("%Y%m%d-%H%M%S")
        results = Results(os.path.join(args.work, "results"), tag)
        sound = args.only_report or compare(args, todo, results)
        return finish(args, results, sound)
    except (ComparisonError, ValueError) as e:
        say(f"compare: {e}")
        return 2
    except KeyboardInterrupt:
        say("compare: interrupted; everything that it started is ended")
        return 130


def compare(args, todo, results):
    """Runs the cases; False when a server failed in one."""
    chosen = options.products(args.product, args.variant,
                              lambda: product.unpacked(product.packed(), make_folder(args.work)))
    wanted = args.servers.split(",") if args.servers else None
    for name in wanted or ():
        if name not in KINDS and name not in chosen:
            raise ComparisonError(f"there is no server {name}; there are {', '.join([*chosen, *KINDS])}")
    plan = rounds.Plan(args.rounds, args.secs, args.warm, args.max_others)
    lock, about = MachineLock(say), machine.description()
    sound = True
    bench = Bench(make_folder(args.work), args.mode, say)
    fleet = Fleet(bench, chosen, say)
    try:
        with bench, fleet:
            try:
                for case in todo:
                    sound = run_case(case, fleet, bench, plan, servers_of(case, wanted, chosen), about, results) and sound
            finally:
                hold_signals()
    finally:
        stop_on_signals()
        bench.clear_servers()
        lock.file.close()
    return sound


def make_folder(folder):
    os.makedirs(folder, exist_ok=True)
    return folder


def servers_of(case, wanted, chosen):
    """The names to run: those of the case, every product beside millrace, and what was asked for by name."""
    names = [n for n in case.servers if wanted is None or n in wanted]
    for name in wanted or chosen:
        speaks = not case.load.tls or name in chosen or KINDS[name].tls
        if name not in names and speaks and (name in chosen or name not in cases.EVERYBODY):
            names.append(name)
    return names


def run_case(case, fleet, bench, plan, names, about, results):
    if case.load.tool != "client" and not shutil.which(case.load.tool):
        say(f"{case.name} is skipped: {case.load.tool} is not installed")
        return True
    if isinstance(case.load, Constant) and not program("nginx"):
        say(f"{case.name} is skipped: nginx is not installed, and the rate is half of what it can answer")
        return True
    say(f"{case.name}: {case.work}")
    measured = rounds.run(case, fleet, bench, names, plan, say)
    measured["machine"] = about
    results.put(measured)
    print("\n".join([*report.case_table(measured), "", *report.targets([measured]), ""]), flush=True)
    return not measured["faults"] and not fleet.any_failed


def finish(args, results, sound):
    if args.report:
        measured = results.all()
        if not measured:
            raise ComparisonError(f"nothing was measured under this tag; {results.folder} is empty")
        for path in report.write(args.report, measured):
            say(f"{path} is written")
    return 0 if sound else 1


def list_all(todo):
    for case in todo:
        print(f"{case.name:15} {case.work}")
        for target in case.targets:
            print(f"{'':15}   {target.text}")
    print("\nservers: millrace, " + ", ".join(KINDS))
    missing = [name for name, kind in KINDS.items() if getattr(kind, "binary", None) and not program(kind.binary)]
    missing += [tool for tool in ("wrk", "ab", "h2load", "gcc", "openssl", "taskset") if not shutil.which(tool)]
    print("not installed: " + (", ".join(missing) or "nothing"))
    return 0


sys.exit(main())
