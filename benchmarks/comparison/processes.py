"""Processes that a comparison starts, and how it ends them: by their ids, whatever happens."""
import os
import signal
import subprocess
import time


def start_time(pid):
    """When the process began, in clock ticks since the boot, or None; with its id it names a process for good."""
    try:
        with open(f"/proc/{pid}/stat") as stat:
            return int(stat.read().rsplit(")", 1)[1].split()[19])
    except (OSError, IndexError):
        return None


def alive(pid):
    """Whether the process runs; one that has ended and was not waited for does not."""
    try:
        with open(f"/proc/{pid}/stat") as stat:
            return stat.read().rsplit(")", 1)[1].split()[0] not in "ZX"
    except OSError:
        return False


def tree(pid):
    """The process and all below it."""
    found = [pid]
    try:
        for task in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{task}/children") as children:
                for child in children.read().split():
                    found += tree(int(child))
    except OSError:
        pass
    return found


def end(processes, grace_seconds):
    """Ends these {id: start time}: the first is asked to, and what is left after the grace is killed."""
    def left():
        return [pid for pid, began in processes.items() if alive(pid) and start_time(pid) == began]

    for sign, pids, seconds in ((signal.SIGTERM, left()[:1], grace_seconds), (signal.SIGKILL, None, 5)):
        for pid in left() if pids is None else pids:
            try:
                os.kill(pid, sign)
            except ProcessLookupError:
                pass
        until = time.monotonic() + seconds
        while left() and time.monotonic() < until:
            time.sleep(0.05)


class Ledger:
    """A file with the processes that run, so that the next comparison can end what a killed one left behind."""

    def __init__(self, path):
        self.path = path
        self.running = {}

    def end_leftovers(self, grace_seconds=5):
        """Ends what the file names, and returns how many there were."""
        try:
            with open(self.path) as lines:
                left = dict((int(pid), int(began)) for pid, began in (line.split() for line in lines))
        except (OSError, ValueError):
            return 0
        left = {pid: began for pid, began in left.items() if alive(pid) and start_time(pid) == began}
        for pid, began in left.items():
            end({p: start_time(p) for p in tree(pid)}, grace_seconds)
        os.unlink(self.path)
        return len(left)

    def add(self, pids):
        for pid in pids:
            began = start_time(pid)
            if began is not None:
                self.running[pid] = began
        self._write()

    def remove(self, pids):
        for pid in pids:
            self.running.pop(pid, None)
        self._write()

    def _write(self):
        with open(self.path + ".new", "w") as out:
            out.writelines(f"{pid} {began}\n" for pid, began in self.running.items())
        os.replace(self.path + ".new", self.path)


class Child:
    """A running process with all that it starts, in a session of its own so that Ctrl-C reaches only the runner."""

    def __init__(self, command, log_path, ledger, cpus=None, preparation=None, environment=None):
        """cpus as taskset has them; preparation runs in the child before the command, as preexec_fn does."""
        if cpus is not None:
            command = ["taskset", "-c", cpus] + command
        self.ledger = ledger
        self.log_path = log_path
        with open(log_path, "ab") as log:
            self.process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT, start_new_session=True,
                preexec_fn=preparation, env=environment)
        self.pid = self.process.pid
        ledger.add([self.pid])

    def tree(self):
        pids = tree(self.pid)
        if any(pid not in self.ledger.running for pid in pids):
            self.ledger.add(pids)
        return pids

    def running(self):
        return self.process.poll() is None

    def end(self, grace_seconds=8):
        pids = {pid: start_time(pid) for pid in self.tree()}
        end(pids, grace_seconds)
        self.process.wait()
        self.ledger.remove(pids)

    def log_end(self, length=800):
        with open(self.log_path, errors="replace") as log:
            return log.read()[-length:].strip()
