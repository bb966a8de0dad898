"""What a case is held to, and whether the figures meet it."""
import statistics
from dataclasses import dataclass
from typing import Optional

PRODUCT = "millrace"
LIMIT = "limit"
PEERS = ("nginx", "varnish", "ats", "squid", "haproxy")
BEST_PEER = "the best peer"
SHOWN = {"nginx": "nginx", "varnish": "Varnish", "ats": "Traffic Server", "squid": "Squid",
         "haproxy": "haproxy", PRODUCT: "Millrace", LIMIT: "the C limit", BEST_PEER: BEST_PEER}


@dataclass(frozen=True)
class Verdict:
    measured: str
    met: Optional[bool]  # None when there is nothing to compare

    @property
    def word(self):
        return {True: "met", False: "missed", None: "not measured"}[self.met]


def median(samples, key):
    """The median of what the rounds measured, or None where none did."""
    values = [s[key] for s in samples or () if s.get(key) is not None]
    return statistics.median(values) if values else None


def cheapest_peer(results):
    """The peer with the lowest median of CPU per request, or None."""
    costs = {name: median(results.get(name), "cpu_us") for name in PEERS}
    costs = {name: cost for name, cost in costs.items() if cost}
    return min(costs, key=costs.get) if costs else None


def not_measured(what):
    return Verdict(f"no figure of {what}", None)


@dataclass(frozen=True)
class CpuPerRequest:
    """CPU per request at most this many times the reference's. Where it is missed, what the C limit has of it is said too."""
    factor: float
    reference: str

    @property
    def text(self):
        return f"CPU at most {self.factor:g} of {SHOWN[self.reference]}"

    def judge(self, results, others=None):
        name = cheapest_peer(results) if self.reference == BEST_PEER else self.reference
        own, reference = median(results.get(PRODUCT), "cpu_us"), median(results.get(name), "cpu_us")
        if not own or not reference:
            return not_measured(SHOWN.get(name, "any peer") if own else "Millrace")
        ratio = own / reference
        which = f" ({SHOWN[name]})" if self.reference == BEST_PEER else ""
        return Verdict(f"{ratio:.2f}{which}{self._floor(results, ratio, reference)}", ratio <= self.factor)

    def _floor(self, results, ratio, reference):
        limit = median(results.get(LIMIT), "cpu_us")
        if ratio <= self.factor or not limit or self.reference == LIMIT:
            return ""
        return f"; {SHOWN[LIMIT]} {limit / reference:.2f}"


@dataclass(frozen=True)
class LatencyOf:
    """A percentile at most so many times that of another server."""
    key: str
    reference: str
    factor: float = 1

    @property
    def text(self):
        times = "" if self.factor == 1 else f"{self.factor:g} times "
        return f"{percentile(self.key)} at most {times}{SHOWN[self.reference]}'s"

    def judge(self, results, others=None):
        own, reference = median(results.get(PRODUCT), self.key), median(results.get(self.reference), self.key)
        if own is None or reference is None:
            return not_measured("Millrace" if own is None else SHOWN[self.reference])
        return Verdict(f"{own:,.1f} ms against {reference:,.1f}", own <= self.factor * reference)


def percentile(key):
    """The name of a percentile: p99.9 for p999_ms."""
    digits = key[1:].split("_")[0]
    return f"p{digits[:2]}" + (f".{digits[2:]}" if digits[2:] else "")


@dataclass(frozen=True)
class LatencyAdded:
    """A percentile at most so many milliseconds above that in another case of the same run."""
    key: str
    more_ms: float
    case: str

    @property
    def text(self):
        return f"{percentile(self.key)} at most {self.more_ms:g} ms more than in {self.case}"

    def judge(self, results, others=None):
        own = median(results.get(PRODUCT), self.key)
        other = median(((others or {}).get(self.case) or {}).get(PRODUCT), self.key)
        if own is None or other is None:
            return not_measured("Millrace" if own is None else self.case)
        return Verdict(f"{own:,.1f} ms against {other:,.1f}", own <= other + self.more_ms)


@dataclass(frozen=True)
class RateOf:
    """No fewer requests, or MB, per second than another server."""
    reference: str
    unit: str = "req/s"

    @property
    def text(self):
        return f"no fewer {self.unit} than {SHOWN[self.reference]}"

    def judge(self, results, others=None):
        own, reference = median(results.get(PRODUCT), "rate"), median(results.get(self.reference), "rate")
        if not own or not reference:
            return not_measured("Millrace" if not own else SHOWN[self.reference])
        return Verdict(f"{own / reference:.2f} of it", own >= reference)


@dataclass(frozen=True)
class RateKept:
    """A rate at least this share of that in another case of the same run."""
    share: float
    case: str

    @property
    def text(self):
        return f"req/s at least {self.share:g} of those in {self.case}"

    def judge(self, results, others=None):
        own = median(results.get(PRODUCT), "rate")
        other = median(((others or {}).get(self.case) or {}).get(PRODUCT), "rate")
        if not own or not other:
            return not_measured(self.case if own else "Millrace")
        return Verdict(f"{own / other:.2f}", own >= self.share * other)


@dataclass(frozen=True)
class Bound:
    """A figure of Millrace's own within a bound: in every round, or as the median of the rounds."""
    key: str
    name: str
    bound: float
    form: str = "{:,.0f}"
    at_least: bool = False
    as_median: bool = False

    @property
    def text(self):
        if self.bound == 0 and not self.at_least:
            return f"no {self.name}"
        return f"{self.name} at {'least' if self.at_least else 'most'} {self.form.format(self.bound)}"

    def judge(self, results, others=None):
        values = [s[self.key] for s in results.get(PRODUCT) or () if s.get(self.key) is not None]
        if not values:
            return not_measured(self.name if results.get(PRODUCT) else "Millrace")
        worst = statistics.median(values) if self.as_median else min(values) if self.at_least else max(values)
        met = worst >= self.bound if self.at_least else worst <= self.bound
        return Verdict(self.form.format(worst), met)
