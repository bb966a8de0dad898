"""The table of work: what is asked, of whom, and what Millrace is held to."""
from dataclasses import dataclass

from comparison.errors import ComparisonError
from comparison.loads import Ab, Constant, ConstantDuringRoll, Get, H2load, Herd, Idle, Load, Resumed, Wrk
from comparison.targets import BEST_PEER, LIMIT, Bound, CpuPerRequest, LatencyAdded, LatencyOf, RateKept, RateOf

HIT, PASS, STORE, MIXED, COLD = "hit", "pass", "store", "mixed", "cold"
EVERYBODY = ("limit", "millrace", "nginx", "varnish", "ats", "squid", "haproxy")
CACHES = EVERYBODY[1:]
SPEAK_TLS = ("millrace", "nginx", "ats")


@dataclass(frozen=True)
class Case:
    name: str
    work: str
    load: Load
    kind: str = HIT  # decides what is checked: hits never reach the origin, what passes always does
    paths: tuple = ()  # asked for beforehand and compared with the origin's own answer
    keys: tuple = ()  # (prefix, count): PREFIX0 to PREFIX(count-1) are stored beforehand
    servers: tuple = EVERYBODY
    targets: tuple = ()
    small_ram: bool = False  # RAM for a tenth of the keys
    fresh: bool = False  # servers are started for this case alone
    first_seconds: int = 0  # length of a round that begins with the start of the server, without warm-up; 0: none does

    @property
    def unit(self):
        return "MiB" if isinstance(self.load, Get) else "request"


NO_ERRORS = Bound("errors", "errors", 0)
MIX = ("/s/1024", "/s/5120", "/s/10240")
MIDDLE, LARGE = "/s/789504", "/s/104857600"
PAGES = ("/s/1024/b", "/s/5120/b", "/s/10240/b")
NEW = "/s/1024/new"


def _keys(name, order, count, targets=(), **more):
    work = f"{count:,} objects of 5 KiB, {order}, " + more.pop("ram", "all in RAM") + ", 64 connections"
    return Case(name, work, Wrk(64, "/", "keys", (order, str(count), "4711")), paths=("/n/0",),
                keys=(("/n/", count),), targets=targets, **more)


CASES = (
    Case("W1.ka", "500 B hit, keep-alive, 1,800 connections", Wrk(1800, "/s/500"), paths=("/s/500",),
         targets=(CpuPerRequest(0.62, BEST_PEER), CpuPerRequest(1.8, LIMIT), NO_ERRORS, LatencyOf("p99_ms", "nginx"))),
    Case("W1.100", "500 B hit, reconnecting every 100 requests, 1,800 connections",
         Wrk(1800, "/s/500", "reconnecting", ("/s/500", "100")), paths=("/s/500",),
         targets=(CpuPerRequest(0.70, BEST_PEER),)),
    Case("W2.c20.ka", "1/5/10 KiB hits in turn, 20 connections", Wrk(20, "/", "in_turn", ("keep",) + MIX), paths=MIX,
         targets=(CpuPerRequest(0.95, "haproxy"), CpuPerRequest(0.65, "nginx"))),
    Case("W2.c1000.ka", "1/5/10 KiB hits in turn, 1,000 connections", Wrk(1000, "/", "in_turn", ("keep",) + MIX),
         paths=MIX, targets=(CpuPerRequest(0.65, BEST_PEER),)),
    Case("W2.c20.close", "1/5/10 KiB hits in turn, 20 connections, Connection: close",
         Wrk(20, "/", "in_turn", ("close",) + MIX), paths=MIX, targets=(CpuPerRequest(1.0, "nginx"),)),
    Case("W2.c1000.close", "1/5/10 KiB hits in turn, 1,000 connections, Connection: close",
         Wrk(1000, "/", "in_turn", ("close",) + MIX), paths=MIX, targets=(CpuPerRequest(1.0, "nginx"),)),
    # ab speaks HTTP/1.0, to which haproxy gives nothing from its cache.
    Case("W3.ab", "ab -c 250 -k, 7 KiB page", Ab(250, "/s/7168", keep_alive=True), paths=("/s/7168",),
         servers=("limit", "millrace", "nginx", "varnish", "ats", "squid"),
         targets=(CpuPerRequest(0.65, "nginx"), CpuPerRequest(0.35, "varnish"))),
    Case("W4.771K", "771 KiB hits, 100 connections", Wrk(100, MIDDLE), paths=(MIDDLE,),
         targets=(CpuPerRequest(1.1, "nginx"), RateOf("nginx", "MB/s"))),
    _keys("W5.100.zipf", "zipf", 100),
    _keys("W5.100000.zipf", "zipf", 100000,
          targets=(CpuPerRequest(0.95, "haproxy"), RateKept(0.75, "W5.100.zipf"))),
    _keys("W5.100000.uni", "uniform", 100000, targets=(CpuPerRequest(0.5, "nginx"),)),
    _keys("W5.10pct.zipf", "zipf", 100000, ram="RAM for a tenth of them", kind=MIXED, small_ram=True,
          servers=("millrace", "nginx", "varnish", "ats", "squid"),
          targets=(CpuPerRequest(0.75, BEST_PEER), RateOf("ats"))),
    Case("W6.pass", "no-store 1 KiB passed through, distinct URLs, 64 connections",
         Wrk(64, "/", "new_keys", ("/nostore/1024", "@TAG@")), kind=PASS, paths=("/nostore/1024/check",),
         targets=(CpuPerRequest(1.1, "nginx"),)),
    Case("W6.same", "no-store 1 KiB passed through, all on one URL, 64 connections", Wrk(64, "/nostore/1024"),
         kind=PASS, paths=("/nostore/1024",),
         targets=(CpuPerRequest(1.1, "nginx"), Bound("p99_ms", "p99", 20, "{:,.1f} ms", as_median=True))),
    Case("W6.store", "every request a new 1 KiB object (miss and store), 64 connections",
         Wrk(64, "/", "new_keys", (NEW, "@TAG@")), kind=STORE, paths=("/s/1024/check",),
         targets=(CpuPerRequest(0.8, "ats"),)),
    Case("W6.first", "as W6.store, in the first minute of a server that was started for the round",
         Wrk(64, "/", "new_keys", (NEW, "@TAG@")), kind=STORE, paths=("/s/1024/check",), fresh=True, first_seconds=60,
         targets=(CpuPerRequest(1.5, "ats"),)),
    Case("W7.idle", "15,000 idle connections and 2,000 active, 500 B hit", Idle(2000, "/s/500", idle=15000),
         paths=("/s/500",), fresh=True, servers=("limit", "millrace", "nginx", "varnish", "ats", "squid"),
         targets=(CpuPerRequest(0.65, "nginx"),
                  Bound("idle_bytes", "memory per idle connection", 4096, "{:,.0f} B"),
                  Bound("idle_lost", "idle connections lost", 0))),
    Case("W8.100M", "100 MiB object, 4 connections", Get(4, LARGE), paths=(LARGE,),
         targets=(CpuPerRequest(1.1, "nginx"), RateOf("nginx", "MB/s"))),
    Case("W9.herd", "500 clients on one cold 1 MiB key, origin 200 ms slow", Herd(500), kind=COLD,
         paths=("/s/1048576",), servers=CACHES,
         targets=(Bound("origin_requests", "origin fetches", 1), LatencyOf("p50_ms", "varnish"),
                  LatencyOf("p99_ms", "varnish"))),
    Case("W10.ka", "500 B hit over TLS 1.3, keep-alive, 64 connections", Wrk(64, "/s/500", tls=True),
         paths=("/s/500",), servers=SPEAK_TLS, targets=(CpuPerRequest(0.75, "nginx"),)),
    Case("W10.hs", "TLS 1.3 full handshake and 500 B hit for each request, 32 at a time", Ab(32, "/s/500", tls=True),
         paths=("/s/500",), servers=SPEAK_TLS, targets=(CpuPerRequest(0.85, "nginx"),)),
    Case("W10.resumed", "TLS 1.3 resumed handshake and 500 B hit for each request, one at a time", Resumed(1, "/s/500"),
         paths=("/s/500",), servers=SPEAK_TLS, targets=(CpuPerRequest(1.1, "nginx"), NO_ERRORS)),
    Case("W10.h2", "500 B hit over HTTP/2 and TLS, 64 connections of 10 streams",
         H2load(64, "/s/500", streams=10), paths=("/s/500",), servers=SPEAK_TLS,
         targets=(CpuPerRequest(0.50, "nginx"), NO_ERRORS)),
    Case("W10.h2c", "500 B hit over HTTP/2 without TLS, 64 connections of 10 streams",
         H2load(64, "/s/500", streams=10, tls=False), paths=("/s/500",), servers=("millrace", "varnish"),
         targets=(CpuPerRequest(0.45, "varnish"), NO_ERRORS)),
    Case("W10.h2.100M", "100 MiB object over HTTP/2 and TLS, 4 connections of one stream", H2load(4, LARGE),
         paths=(LARGE,), servers=SPEAK_TLS, targets=(CpuPerRequest(1.2, "nginx"),)),
    Case("W11.browsers",
         "requests of browsers (20 fields, cookies), 93 % hit, 4 % If-None-Match answered 304, 3 % miss and store, "
         "1,000 connections",
         Wrk(1000, "/", "browsers", ("@TAG@", "400") + PAGES), kind=MIXED, paths=tuple(p + "0" for p in PAGES),
         keys=tuple((p, 400) for p in PAGES), servers=CACHES,
         targets=(CpuPerRequest(0.75, BEST_PEER),
                  Bound("fast_lane_share", "share answered in the fast lane", 0.9, "{:.1%}", at_least=True))),
    Case("W12.hits", "500 B hits at a constant rate, half of what nginx can answer, 256 connections",
         Constant(256, "/s/500"), paths=("/s/500",), servers=CACHES,
         targets=(LatencyOf("p999_ms", "nginx", 1.2), NO_ERRORS)),
    Case("W12.misses", "the same, but one request in a hundred is a miss that is stored",
         Constant(256, "/s/500", new_every=100), kind=MIXED, paths=("/s/500",), servers=CACHES,
         targets=(LatencyOf("p999_ms", "nginx", 1.2), NO_ERRORS)),
    Case("W12.roll", "hits as in W12.hits while millctl server restart replaces the worker",
         ConstantDuringRoll(256, "/s/500"), paths=("/s/500",), servers=("millrace",),
         targets=(LatencyAdded("p999_ms", 50, "W12.hits"), NO_ERRORS)),
)


def chosen(words):
    """The cases that these words name: a name, or its first part (W2, W2.c20); all without any."""
    for word in words:
        if not any(_names(word, case) for case in CASES):
            raise ComparisonError(f"there is no case {word}; --list shows them")
    return [case for case in CASES if not words or any(_names(word, case) for word in words)]


def _names(word, case):
    return case.name == word or case.name.startswith(word + ".")
