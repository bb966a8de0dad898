"""A server under measurement: where it listens, how it is started, and that it is ended."""
import os
import re
import shutil
import subprocess
import time

from comparison import asking
from comparison.errors import ComparisonError, NotAvailable
from comparison.processes import Child

TEMPLATES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "peers")
READY_SECONDS = 180


def program(name):
    """The path of an installed program, or None; servers often lie where only root looks."""
    return shutil.which(name, path=os.environ.get("PATH", "") + ":/usr/sbin:/usr/local/sbin:/sbin")


def version_of(command, pattern=r"\d+\.\d+[\w.~+-]*"):
    """The first version in what a command prints, or None."""
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=20)
    except (OSError, subprocess.TimeoutExpired):
        return None
    found = re.search(pattern, done.stdout)
    return found.group(0) if found else None


def filled(template, words):
    """The text of a template with @WORD@ replaced; a word that is left over is a mistake."""
    with open(os.path.join(TEMPLATES, template)) as text:
        result = re.sub(r"@([A-Z_]+)@", lambda m: str(words[m.group(1)]), text.read())
    return result


class Server:
    """Started by start(), ended by end(); the caller sees to it that end() is called."""

    name = None  # also how it is called on the command line
    tls = False
    warm_factor = 1  # how much longer than others it is warmed up
    fill_passes = 1  # how often a key has to be asked for, at least, until it is as hot as it gets
    canned = False  # answers with bytes of its own, without asking the origin

    def __init__(self, bench, small_ram=False):
        self.bench = bench
        self.small_ram = small_ram
        self.instance = self.name + ("-small" if small_ram else "")
        self.folder = bench.path("servers", self.instance)
        self.port = self.tls_port = self.h2c_port = None
        self.child = None
        self.had_idle = False
        self.filled = set()

    def version(self):
        raise NotImplementedError

    def compile_seconds(self):
        """CPU time that compiling while it runs has taken so far; None where nothing is compiled."""
        return None

    def prepare(self):
        """Writes what the server reads, and returns the command that starts it in the foreground."""
        raise NotImplementedError

    def start(self):
        shutil.rmtree(self.folder, ignore_errors=True)
        os.makedirs(self.folder)
        self.port, self.tls_port, self.h2c_port = self.bench.free_ports(3)
        self.run(self.prepare())
        self.await_answer()

    def run(self, command, preparation=None, environment=None):
        log = self.bench.path("logs", self.instance + ".log")
        self.child = Child(command, log, self.bench.ledger, self.bench.server_cpus, preparation, environment)

    def await_answer(self):
        until = time.monotonic() + READY_SECONDS
        while time.monotonic() < until:
            if not self.child.running():
                raise ComparisonError(f"{self.instance} ended while it started: {self.child.log_end()}")
            try:
                if asking.get(self.port, "/s/500", timeout=2).status == 200:
                    self.tree()
                    return
            except OSError:
                pass
            time.sleep(0.2)
        raise ComparisonError(f"{self.instance} did not answer within {READY_SECONDS} s: {self.child.log_end()}")

    def tree(self):
        return self.child.tree()

    def url(self, tls=False):
        return f"https://127.0.0.1:{self.tls_port}" if tls else f"http://127.0.0.1:{self.port}"

    def h2c_url(self):
        return f"http://127.0.0.1:{self.h2c_port}"

    def fast_lane_requests(self):
        """Requests so far that were answered in the fast lane, and all; None from a server that has none."""
        return None

    def end(self):
        """Ends the processes; the folder stays until the next start, since to remove a large cache takes a while."""
        if self.child is not None:
            self.child.end()
            self.child = None


class Peer(Server):
    """An installed program."""

    binary = None
    version_arguments = ("-v",)

    def __init__(self, bench, small_ram=False):
        super().__init__(bench, small_ram)
        self.program = program(self.binary)
        if self.program is None:
            raise NotAvailable(f"{self.name} is not installed")

    def version(self):
        return version_of([self.program, *self.version_arguments])

    def write(self, template, name, **words):
        """Fills a template into a file of this server's folder, and returns its path."""
        path = os.path.join(self.folder, name)
        certificate, key = self.bench.certificate
        words.update(FOLDER=self.folder, CORES=self.bench.threads, PORT=self.port, TLS_PORT=self.tls_port,
                     ORIGIN=self.bench.origin.port, CERTIFICATE=certificate, KEY=key, FILES=self.bench.files)
        with open(path, "w") as out:
            out.write(filled(template, words))
        return path
