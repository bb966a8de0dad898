"""Before a case: every server answers as the origin does, what is to be hit is stored; after a round: it was a hit."""
import time

from comparison import asking, parsing
from comparison.cases import COLD, HIT, MIXED, PASS, STORE
from comparison.errors import WrongAnswer
from comparison.loads import Constant

FILL_CONNECTIONS = 16
FILL_PASSES_MAX = 8
STORED_TRIES = 40
# Of the requests in browsers.lua.
NEW_SHARE = 0.03
# A client that is later than this measures itself.
LATE_MS_MAX = 5
# A browser's cookies must not keep its answers out of a cache.
COOKIE = {"Cookie": "session=1; theme=dark"}


def prepare(case, server, bench):
    """Raises WrongAnswer where the server would be measured doing something else."""
    for prefix, count in case.keys:
        fill(server, bench, prefix, count, all_in_ram=not case.small_ram)
    for path in case.paths:
        same_answer(case, server, bench, path)
        if server.canned:
            continue
        if case.kind in (HIT, MIXED) and not case.small_ram:
            becomes_a_hit(case, server, bench, path)
        if case.kind == PASS:
            is_passed(server, bench, path)
        if case.kind == MIXED and not case.small_ram:
            is_confirmed(server, bench, path)


def same_answer(case, server, bench, path):
    expected = asking.get(bench.origin.port, path)
    port = server.tls_port if case.load.tls else server.port
    for _ in range(2):
        answer = asking.get(port, path, COOKIE, tls=case.load.tls)
        if (answer.status, answer.length, answer.digest) != (expected.status, expected.length, expected.digest):
            raise WrongAnswer(f"{path}: status {answer.status}, {answer.length} bytes, which are not the origin's"
                              f" (status {expected.status}, {expected.length} bytes)")
        if not server.canned and answer.fields.get("etag") != expected.fields["etag"]:
            raise WrongAnswer(f"{path}: ETag {answer.fields.get('etag')} instead of {expected.fields['etag']}")
        if case.load.tls and answer.protocol != "TLSv1.3":
            raise WrongAnswer(f"{path}: {answer.protocol} instead of TLSv1.3")


def becomes_a_hit(case, server, bench, path):
    """Asks until two answers in a row were given without the origin; some servers store in the background."""
    port = server.tls_port if case.load.tls else server.port
    hits = 0
    for _ in range(STORED_TRIES):
        before = bench.origin.requests()
        asking.get(port, path, COOKIE, tls=case.load.tls)
        hits = hits + 1 if bench.origin.requests() == before else 0
        if hits == 2:
            return
        if not hits:
            time.sleep(0.1)
    raise WrongAnswer(f"{path} is not served from the cache")


def is_passed(server, bench, path):
    before = bench.origin.requests()
    for _ in range(3):
        asking.get(server.port, path)
    if bench.origin.requests() - before != 3:
        raise WrongAnswer(f"{path} is no-store and was served without the origin")


def is_confirmed(server, bench, path):
    before = bench.origin.requests()
    answer = asking.get(server.port, path, {"If-None-Match": f'"{path}"', **COOKIE})
    if answer.status != 304 or bench.origin.requests() != before:
        raise WrongAnswer(f"{path} with its entity-tag: status {answer.status} instead of 304 from the cache")


def fill(server, bench, prefix, count, all_in_ram):
    """Asks for each key until all are stored, as often as the server needs; once for each server."""
    if server.canned or (prefix, count) in server.filled:
        return
    for n in range(FILL_PASSES_MAX):
        before = bench.origin.requests()
        text, _ = bench.run_client([bench.native("client"), "fill", str(server.port), prefix, str(count),
                                    str(FILL_CONNECTIONS)], 600)
        result = parsing.client_fill(text)
        if not result or result["errors"] or result["requests"] != count:
            raise WrongAnswer(f"{prefix}0 to {count - 1} could not be stored: {text.strip()}")
        reached = bench.origin.requests() - before
        if n + 1 >= server.fill_passes and (reached == 0 or not all_in_ram):
            break
    else:
        raise WrongAnswer(f"{prefix}0 to {count - 1} do not stay stored: {reached} of {count} were fetched again")
    server.filled.add((prefix, count))


def browsers_fault(case, sample):
    """What shows that the share of misses is not the one that browsers.lua has, or None; chance is allowed for."""
    answered, fetched = sample["requests"], sample["origin_requests"]
    asked = answered + case.load.connections  # the load generator does not count those it left unanswered
    chance = 5 * (NEW_SHARE * (1 - NEW_SHARE) * asked) ** 0.5
    if (NEW_SHARE - 0.01) * answered - chance <= fetched <= (NEW_SHARE + 0.01) * asked + chance:
        return None
    return f"{fetched:,} of {answered:,} requests reached the origin, of which 3 % were new"


def constant_fault(case, sample):
    """What shows that the client was late itself, or that the share of misses is not the one that was asked for."""
    if sample["late_ms"] > LATE_MS_MAX:
        return f"the client was late itself: p99.9 {sample['late_ms']:.1f} ms, limit {LATE_MS_MAX} ms"
    due = sample["requests"] / case.load.new_every if case.load.new_every else 0
    fetched = sample["origin_requests"]
    if abs(fetched - due) > 0.02 * due + 2:
        return f"{fetched:,} requests reached the origin, of which {due:,.0f} were new"
    return None


def fault(case, server, sample):
    """What shows that a round did not measure what it should have, or None."""
    if server.canned:
        return None
    share = sample["origin_requests"] / sample["requests"]
    if case.kind == HIT and sample["origin_requests"]:
        return f"{sample['origin_requests']:,} requests reached the origin, which hits do not"
    if case.kind in (PASS, STORE) and share < 0.99:
        return f"only {share:.1%} of the requests reached the origin"
    if isinstance(case.load, Constant):
        return constant_fault(case, sample)
    if case.kind == MIXED and not case.small_ram:
        return browsers_fault(case, sample)
    if case.kind == COLD and not sample["origin_requests"]:
        return "no request reached the origin"
    return None
