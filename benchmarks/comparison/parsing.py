"""What the load generators print, as numbers.

Each function returns a dict, or None when the text is not what it should be:
requests, rate (per second), p50_ms and p99_ms (absent where not told), errors, and problems, a list of sentences.
"""
import re

MILLISECONDS = {"us": 1e-3, "ms": 1, "s": 1e3, "m": 6e4, "h": 3.6e6}


def milliseconds(text):
    """A duration as wrk and h2load write it, such as 1.02ms, in ms."""
    m = re.fullmatch(r"([\d.]+)(us|ms|s|m|h)", text)
    return float(m.group(1)) * MILLISECONDS[m.group(2)] if m else None


def wrk(text):
    total = re.search(r"(\d+) requests in ", text)
    rate = re.search(r"Requests/sec:\s+([\d.]+)", text)
    if not total or not rate:
        return None
    result = {"requests": int(total.group(1)), "rate": float(rate.group(1)), "errors": 0, "problems": []}
    for key, percent in (("p50_ms", 50), ("p99_ms", 99)):
        m = re.search(rf"^\s+{percent}%\s+(\S+)", text, re.M)
        if m:
            result[key] = milliseconds(m.group(1))
    sockets = re.search(r"Socket errors: connect (\d+), read (\d+), write (\d+), timeout (\d+)", text)
    if sockets:
        result["errors"] += sum(int(n) for n in sockets.groups())
        result["problems"].append(sockets.group(0))
    status = re.search(r"Non-2xx or 3xx responses: (\d+)", text)
    if status:
        result["errors"] += int(status.group(1))
        result["problems"].append(status.group(0))
    return result


def ab(text):
    rate = re.search(r"Requests per second:\s+([\d.]+)", text)
    total = re.search(r"Complete requests:\s+(\d+)", text)
    failed = re.search(r"Failed requests:\s+(\d+)", text)
    if not rate or not total or not failed:
        return None
    result = {"requests": int(total.group(1)), "rate": float(rate.group(1)), "errors": int(failed.group(1)),
              "problems": []}
    if result["errors"]:
        result["problems"].append(f"Failed requests: {result['errors']}")
    status = re.search(r"Non-2xx responses:\s+(\d+)", text)
    if status:
        result["errors"] += int(status.group(1))
        result["problems"].append(status.group(0))
    for key, percent in (("p50_ms", 50), ("p99_ms", 99)):
        m = re.search(rf"^\s+{percent}%\s+(\d+)", text, re.M)
        if m:
            result[key] = float(m.group(1))
    return result


def h2load(text, log_lines=()):
    """log_lines are those of --log-file: start, status, and duration in us, separated by tabs."""
    total = re.search(r"requests: \d+ total, \d+ started, \d+ done, (\d+) succeeded, (\d+) failed, (\d+) errored",
                      text)
    rate = re.search(r"finished in [\d.]+\w+, ([\d.]+) req/s", text)
    if not total or not rate:
        return None
    succeeded, failed, errored = (int(n) for n in total.groups())
    result = {"requests": succeeded, "rate": float(rate.group(1)), "errors": failed, "problems": []}
    if failed:
        result["problems"].append(f"{failed} failed, {errored} of them without an answer")
    durations = sorted(int(parts[2]) for parts in (line.split("\t") for line in log_lines) if len(parts) == 3)
    if durations:
        result["p50_ms"] = durations[len(durations) // 2] / 1e3
        result["p99_ms"] = durations[int(len(durations) * .99)] / 1e3
    return result


def s_time(text):
    """What openssl s_time -reuse prints: a letter for each connection, r where the session was resumed, * where not."""
    measured = text.rpartition("Now timing with session id reuse.")[2]
    done = re.search(r"(\d+) connections in (\d+) real seconds", measured)
    if not done:
        return None
    connections, seconds = (int(n) for n in done.groups())
    full = measured.partition("connections in")[0].count("*")
    return {"requests": connections, "rate": connections / max(seconds, 1), "errors": full,
            "problems": [f"{full} handshakes were not resumed"] if full else []}


def _words(text):
    """"done 5 bad 0" as {"done": 5.0, "bad": 0.0}."""
    return {name: float(value) for name, value in re.findall(r"(\w+) ([\d.]+)", text)}


def client_get(text):
    """The unit of work is the mebibyte here."""
    w = _words(text)
    if "bytes" not in w or not w.get("seconds"):
        return None
    mebibytes = w["bytes"] / (1 << 20)
    return {"requests": mebibytes, "rate": mebibytes / w["seconds"], "errors": int(w["bad"]), "problems": []}


def client_fill(text):
    w = _words(text)
    return None if "done" not in w else {"requests": int(w["done"]), "errors": int(w["bad"])}


def client_herd(text):
    w = _words(text)
    if not w.get("last_us"):
        return None
    return {"requests": int(w["done"]), "rate": w["done"] / w["last_us"] * 1e6, "p50_ms": w["p50_us"] / 1e3,
            "p99_ms": w["p99_us"] / 1e3, "errors": int(w["bad"]), "problems": []}


def client_constant(text):
    w = _words(text)
    if not w.get("done"):
        return None
    late = w["late_us"] / 1e3
    return {"requests": int(w["done"]), "rate": w["rate_s"], "p50_ms": w["p50_us"] / 1e3, "p99_ms": w["p99_us"] / 1e3,
            "p999_ms": w["p999_us"] / 1e3, "max_ms": w["max_us"] / 1e3, "late_ms": late, "errors": int(w["bad"]),
            "problems": []}


def prometheus(text):
    """The samples of a Prometheus text page: a list of (name, labels, value)."""
    samples = []
    for line in text.splitlines():
        m = re.match(r"(\w+)(?:\{(.*)\})?\s+(\S+)", line)
        if m and not line.startswith("#"):
            labels = dict(re.findall(r'(\w+)="((?:[^"\\]|\\.)*)"', m.group(2) or ""))
            samples.append((m.group(1), labels, float(m.group(3))))
    return samples
