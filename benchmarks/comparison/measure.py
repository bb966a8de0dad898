"""What the kernel says of processes and of the machine: CPU time, memory, who else was busy."""
import glob
import os
import re
import threading
import time
from dataclasses import dataclass

TICKS = os.sysconf("SC_CLK_TCK")
PAGE_SIZE = os.sysconf("SC_PAGE_SIZE")


def cpu_seconds(pids):
    """CPU time (user, system) of these processes since they began, all threads, ended ones included."""
    user = system = 0
    for pid in pids:
        try:
            with open(f"/proc/{pid}/stat") as stat:
                fields = stat.read().rsplit(")", 1)[1].split()
        except OSError:
            continue
        user += int(fields[11])
        system += int(fields[12])
    return user / TICKS, system / TICKS


def thread_seconds(pids, names):
    """CPU time of these processes' threads, of those alive, whose names begin so."""
    ticks = 0
    for pid in pids:
        for stat in glob.glob(f"/proc/{pid}/task/*/stat"):
            try:
                with open(stat) as text:
                    name, fields = text.read().split("(", 1)[1].rsplit(")", 1)
            except OSError:
                continue
            if name.startswith(names):
                ticks += sum(int(f) for f in fields.split()[11:13])
    return ticks / TICKS


def resident_bytes(pids):
    total = 0
    for pid in pids:
        try:
            with open(f"/proc/{pid}/statm") as statm:
                total += int(statm.read().split()[1]) * PAGE_SIZE
        except (OSError, IndexError):
            pass
    return total


def own_bytes(pids):
    """Resident memory with shared pages counted in parts (PSS); needs the right to look into the processes."""
    total = 0
    for pid in pids:
        try:
            with open(f"/proc/{pid}/smaps_rollup") as rollup:
                total += int(re.search(r"^Pss:\s+(\d+)", rollup.read(), re.M).group(1)) * 1024
        except (OSError, AttributeError):
            pass
    return total


def machine_seconds():
    """(busy, stolen) CPU seconds of all cores since the boot."""
    with open("/proc/stat") as stat:
        v = [int(x) for x in stat.readline().split()[1:9]]
    return (v[0] + v[1] + v[2] + v[5] + v[6]) / TICKS, v[7] / TICKS


@dataclass
class Usage:
    """What a server, and everybody else, used between two moments."""
    seconds: float
    user: float
    system: float
    others: float  # share of the machine that neither the server nor the origin nor the load generator used
    stolen: float  # share of the machine that the host gave to others
    resident_bytes: int  # the highest sum over the tree that was seen

    @property
    def cpu(self):
        return self.user + self.system


class Meter:
    """Measures a server's process tree while a with block runs; usage is there when the block has ended."""

    def __init__(self, server_tree, origin_pid):
        """server_tree is called for the ids, since a server may replace its processes."""
        self.server_tree = server_tree
        self.origin_pid = origin_pid
        self.generator_seconds = 0.0  # CPU of the load generator, told when it has ended
        self.usage = None

    def __enter__(self):
        self.pids = self.server_tree()
        self.peak = resident_bytes(self.pids)
        self.ended = threading.Event()
        self.sampler = threading.Thread(target=self._sample, daemon=True)
        self.sampler.start()
        self.before = self._read()
        return self

    def _read(self):
        return (time.monotonic(), cpu_seconds(self.pids), sum(cpu_seconds([self.origin_pid])), machine_seconds())

    def _sample(self):
        while not self.ended.wait(0.5):
            self.peak = max(self.peak, resident_bytes(self.pids))

    def __exit__(self, *failure):
        after = self._read()
        self.ended.set()
        self.sampler.join()
        (t0, cpu0, origin0, (busy0, stolen0)), (t1, cpu1, origin1, (busy1, stolen1)) = self.before, after
        seconds, user, system = t1 - t0, cpu1[0] - cpu0[0], cpu1[1] - cpu0[1]
        capacity = seconds * os.cpu_count()
        others = busy1 - busy0 - user - system - (origin1 - origin0) - self.generator_seconds
        self.usage = Usage(seconds, user, system, max(0.0, others) / capacity, (stolen1 - stolen0) / capacity,
                           max(self.peak, resident_bytes(self.pids)))
        self.replaced = sorted(self.server_tree()) != sorted(self.pids)
