"""The command line."""
import argparse
import os
import tempfile

EXAMPLES = """\
examples:
  benchmarks/compare W1.ka                            one case, with everybody who is installed
  benchmarks/compare W1 W2 --servers limit,millrace,nginx
  benchmarks/compare --report docs/side-by-side.md    every case; takes about two hours
  benchmarks/compare W1.ka --product /tmp/old --product new=/tmp/new     two products beside each other
  benchmarks/compare W1.ka --variant nolog:log.access.enabled=false      millrace, and millrace-nolog
  benchmarks/compare --tag night --report night.md --only-report         what was measured under a tag so far

Exit codes: 0 done (whether or not targets were met), 1 a server failed or answered wrongly, 2 the command is wrong or
something that it cannot do without is missing, 130 interrupted.
"""


def parser():
    p = argparse.ArgumentParser(
        prog="benchmarks/compare", epilog=EXAMPLES, formatter_class=argparse.RawDescriptionHelpFormatter,
        description="The same work against Millrace and other HTTP caches on this machine, in turn, and what each"
                    " request cost. Servers and tools that are not installed are left out, with a message.")
    p.add_argument("cases", nargs="*", metavar="CASE", help="cases, or their first part (W2); all without any")
    p.add_argument("--list", action="store_true", help="list cases, targets and servers, and what is not installed")
    p.add_argument("--servers", metavar="A,B", help="only these servers; one more than the case has may be named too")
    p.add_argument("--mode", choices=("pinned", "free"), default="pinned",
                   help="pinned: servers on core 0, load and origin on the last core (default); free: all on all cores")
    p.add_argument("--rounds", type=positive, default=3, help="measured rounds (default %(default)s)")
    p.add_argument("--secs", type=positive, default=8, help="length of a round in s (default %(default)s)")
    p.add_argument("--warm", type=int, default=2,
                   help="warming up in s; Millrace goes on in pieces of twice that until its JVM has compiled, for 90 s"
                        " at most (default %(default)s)")
    p.add_argument("--max-others", type=float, default=0.25, metavar="SHARE",
                   help="a round in which others use more of the machine is run once more (default %(default)s)")
    p.add_argument("--product", action="append", default=[], metavar="[NAME=]DIR",
                   help="folder of an unpacked product instead of dist/target/millrace-*.tar.gz; more with a NAME are"
                        " measured beside it as millrace-NAME")
    p.add_argument("--variant", action="append", default=[], metavar="NAME:KEY=VALUE",
                   help="measure millrace-NAME too: the product with this setting; repeat for more settings")
    p.add_argument("--tag", help="collect results under this name; without it each run has a name of its own")
    p.add_argument("--report", metavar="FILE.md", help="write everything under the tag as Markdown; docs/performance.md gets the targets, and"
                   " benchmarks/results a file with all figures")
    p.add_argument("--only-report", action="store_true", help="measure nothing")
    p.add_argument("--work", metavar="DIR", default=os.path.join(tempfile.gettempdir(), "millrace-compare"),
                   help="folder for caches, logs and results (default %(default)s)")
    return p


def positive(text):
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError("at least 1")
    return value


def products(folders, variants, standard):
    """{name: (home, settings)} from --product and --variant; standard gives the home when none is named."""
    homes = {}
    for word in folders:
        name, equals, home = word.partition("=")
        homes["millrace-" + name if equals else "millrace"] = os.path.abspath(home if equals else word)
    if "millrace" not in homes:
        homes["millrace"] = standard()
    result = {name: (home, ()) for name, home in homes.items()}
    for word in variants:
        name, _, setting = word.partition(":")
        if not name or "=" not in setting:
            raise ValueError(f"--variant takes NAME:KEY=VALUE, not {word}")
        name = "millrace-" + name
        home, settings = result.get(name, (homes["millrace"], ()))
        result[name] = (home, settings + (setting,))
    return result
