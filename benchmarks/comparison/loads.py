"""The kinds of work: how each is driven against one server for some seconds, and what comes out."""
import os
import re
import subprocess
import threading
import time
from dataclasses import dataclass
from typing import Optional

from comparison import asking, parsing
from comparison.errors import WrongAnswer
from comparison.measure import Meter, own_bytes

REQUESTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "requests")
GRACE_SECONDS = 60


def a_tag():
    """A word that was in no URL before."""
    return f"{time.time_ns():x}"


@dataclass(frozen=True)
class Load:
    """What all kinds share. A sample is what parsing says, with the costs beside it."""
    connections: int
    path: str = "/"

    tool = "wrk"
    tls = False

    def command(self, bench, server, seconds):
        raise NotImplementedError

    def parse(self, bench, text):
        raise NotImplementedError

    def warm_up(self, bench, server, seconds):
        self.measure(bench, server, seconds)

    def measure(self, bench, server, seconds):
        command = self.command(bench, server, seconds)
        lane, origin_requests = server.fast_lane_requests(), bench.origin.settled_requests()
        with Meter(server.tree, bench.origin.pid) as meter:
            text, meter.generator_seconds = bench.run_client(command, seconds + GRACE_SECONDS)
        sample = self.parse(bench, text)
        if sample is None:
            raise WrongAnswer(f"{self.tool} came to no result: {' '.join(text.split())[-200:]}")
        if not sample["requests"]:
            raise WrongAnswer(f"{self.tool} got no answer within {seconds} s")
        usage = meter.usage
        sample.update(
            cpu_us=usage.cpu * 1e6 / sample["requests"], user_share=usage.user / max(usage.cpu, 1e-9),
            busy=usage.cpu / usage.seconds, resident_mib=usage.resident_bytes / (1 << 20), others=usage.others,
            stolen=usage.stolen, origin_requests=bench.origin.settled_requests() - origin_requests,
            fast_lane_share=share_of_fast_lane(lane, server.fast_lane_requests()))
        if meter.replaced:
            sample["problems"].append("its processes changed during the round")
        return sample


def share_of_fast_lane(before, after):
    """Both are (requests in the fast lane, all) so far, or None from a server that does not count them."""
    if before is None or after is None or after[1] == before[1]:
        return None
    return (after[0] - before[0]) / (after[1] - before[1])


@dataclass(frozen=True)
class Wrk(Load):
    script: Optional[str] = None
    arguments: tuple = ()
    tls: bool = False

    def command(self, bench, server, seconds):
        command = ["wrk", f"-t{bench.threads}", f"-c{self.connections}", f"-d{seconds}s", "--timeout", "10s",
                   "--latency"]
        if self.script:
            command += ["-s", os.path.join(REQUESTS, self.script + ".lua")]
        command.append(server.url(self.tls) + self.path)
        if self.script:
            command += ["--"] + [a_tag() if a == "@TAG@" else a for a in self.arguments]
        return command

    def parse(self, bench, text):
        return parsing.wrk(text)


@dataclass(frozen=True)
class Ab(Load):
    keep_alive: bool = False
    tls: bool = False

    tool = "ab"

    def command(self, bench, server, seconds):
        # -t sets -n to 50,000, so -n has to come after it.
        command = ["ab", "-q", "-c", str(self.connections), "-t", str(seconds), "-n", "5000000"]
        if self.keep_alive:
            command.append("-k")
        return command + [server.url(self.tls) + self.path]

    def parse(self, bench, text):
        return parsing.ab(text)


@dataclass(frozen=True)
class H2load(Load):
    streams: int = 1
    tls: bool = True

    tool = "h2load"

    def command(self, bench, server, seconds):
        with open(bench.path("h2load.log"), "w"):
            pass
        return ["h2load", "-c", str(self.connections), "-m", str(self.streams), "-t", str(bench.threads), "-D",
                str(seconds), "--log-file", bench.path("h2load.log"), self.url(server) + self.path]

    def url(self, server):
        return server.url(True) if self.tls else server.h2c_url()

    def speaks(self, server):
        """Whether the server speaks HTTP/2 where this load asks it."""
        return asking.speaks_http2(server.tls_port) if self.tls else asking.speaks_h2c(server.h2c_port)

    def parse(self, bench, text):
        with open(bench.path("h2load.log")) as log:
            return parsing.h2load(text, log)


@dataclass(frozen=True)
class Resumed(Load):
    """One connection after the other, each resumes the TLS session of the one before."""
    tls: bool = True

    tool = "openssl"

    def command(self, bench, server, seconds):
        return ["openssl", "s_time", "-connect", f"127.0.0.1:{server.tls_port}", "-tls1_3", "-www", self.path,
                "-reuse", "-time", str(seconds)]

    def parse(self, bench, text):
        return parsing.s_time(text)


@dataclass(frozen=True)
class Get(Load):
    """One large object on a few connections, thrown away as it comes; counted in MiB."""
    tool = "client"

    def command(self, bench, server, seconds):
        return [bench.native("client"), "get", str(server.port), self.path, str(self.connections), str(seconds)]

    def parse(self, bench, text):
        return parsing.client_get(text)


@dataclass(frozen=True)
class Herd(Load):
    """All connections at once on a key that is not stored, from an origin that takes its time."""
    delay_ms: int = 200
    length: int = 1 << 20

    tool = "client"

    def command(self, bench, server, seconds):
        path = f"/slow/{self.delay_ms}/{self.length}/{a_tag()}"
        return [bench.native("client"), "herd", str(server.port), path, str(self.connections), str(self.length)]

    def parse(self, bench, text):
        return parsing.client_herd(text)

    def warm_up(self, bench, server, seconds):
        for _ in range(max(1, seconds // 2)):
            self.measure(bench, server, seconds)


@dataclass(frozen=True)
class Constant(Load):
    """Requests at a constant rate: half of what nginx can answer. A latency counts from the moment at which the request
    was due, so a server that stalls delays all requests that become due meanwhile (no coordinated omission)."""
    new_every: int = 0  # one of so many requests is for a URL that nobody has asked for before

    tool = "client"

    def set_rate(self, bench, nginx, seconds):
        """Measures what nginx can answer; bench.constant_rate is half of it, in requests per second."""
        sample = Wrk(64, self.path).measure(bench, nginx, seconds)
        bench.constant_rate = round(sample["rate"] / max(sample["busy"], 0.1) / 2) if bench.mode == "pinned" \
            else round(sample["rate"] / 2)

    def command(self, bench, server, seconds):
        return [bench.native("client"), "constant", str(server.port), self.path, str(self.connections), str(seconds),
                str(bench.constant_rate), str(self.new_every), a_tag()]

    def parse(self, bench, text):
        return parsing.client_constant(text)

    def warm_up(self, bench, server, seconds):
        # At full load, so that what is compiled is compiled soon.
        Wrk(64, self.path).measure(bench, server, seconds)
        self.measure(bench, server, seconds)


@dataclass(frozen=True)
class ConstantDuringRoll(Constant):
    """The same while the worker is replaced. CPU time is not measured, since it is that of two processes."""
    seconds: int = 75  # the warm-up of the new worker takes 60 s at most
    roll_after: int = 3

    def measure(self, bench, server, seconds):
        before = server.tree()
        timer = threading.Timer(self.roll_after, server.replace_worker)
        timer.start()
        try:
            sample = super().measure(bench, server, self.seconds)
        finally:
            timer.join()
        # The new worker counts as another user of the machine.
        sample.update(cpu_us=None, busy=None, user_share=None, others=0.0)
        sample["problems"] = [] if server.tree() != before else ["the worker was not replaced during the round"]
        return sample

    def warm_up(self, bench, server, seconds):
        Wrk(64, self.path).measure(bench, server, seconds)


@dataclass(frozen=True)
class Idle(Wrk):
    """Connections of which each had one answer and stays open, beside others that are busy."""
    idle: int = 0

    def warm_up(self, bench, server, seconds):
        # With few connections, or the memory of those that are gone serves the idle ones, and nothing is seen.
        Wrk(64, self.path).measure(bench, server, seconds)

    def measure(self, bench, server, seconds):
        before = own_bytes(server.tree())
        holder = bench.start_client(
            [bench.native("client"), "idle", str(server.port), self.path, str(self.idle)], talks=True)
        try:
            line = holder.stdout.readline()
            ready = re.match(r"ready (\d+) bad (\d+)", line)
            if not ready or ready.group(1) == "0":
                raise WrongAnswer(f"no idle connections: {line.strip()}")
            time.sleep(1)
            grown = own_bytes(server.tree()) - before
            sample = super().measure(bench, server, seconds)
            left, _ = holder.communicate(timeout=GRACE_SECONDS)
            alive = re.match(r"alive (\d+)", left)
        except subprocess.TimeoutExpired:
            raise WrongAnswer("the client with the idle connections does not end") from None
        finally:
            bench.end_client(holder)
        opened = int(ready.group(1))
        sample["idle_opened"] = opened
        sample["idle_lost"] = self.idle - (int(alive.group(1)) if alive else 0)
        if not server.had_idle:  # later the memory of the first round's connections serves these
            sample["idle_bytes"] = grown / opened
        server.had_idle = True
        time.sleep(1)
        return sample
