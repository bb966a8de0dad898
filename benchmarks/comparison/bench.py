"""What all runs of one comparison share: a work folder, cores, ports, the origin, and the ledger of processes."""
import fcntl
import os
import resource
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time

from comparison import asking
from comparison.errors import ComparisonError, NotAvailable
from comparison.processes import Child, Ledger

HERE = os.path.dirname(os.path.abspath(__file__))
FIRST_PORT = 21200
STOPPING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
NATIVE = ("origin", "limit", "client")


class MachineLock:
    """One comparison at a time on this machine: two would measure each other."""

    def __init__(self, say):
        self.file = open(os.path.join(tempfile.gettempdir(), "millrace-compare.lock"), "a+")
        try:
            fcntl.flock(self.file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say("waiting for another comparison to end")
            fcntl.flock(self.file, fcntl.LOCK_EX)


class Origin:
    def __init__(self, bench):
        self.port = bench.free_ports(1)[0]
        self.child = Child([bench.native("origin"), str(self.port), str(bench.threads)],
                           bench.path("logs", "origin.log"), bench.ledger, bench.client_cpus)
        self.pid = self.child.pid

    def await_answer(self):
        for _ in range(100):
            try:
                asking.get(self.port, "/s/500", timeout=2)
                return
            except OSError:
                time.sleep(0.05)
        raise ComparisonError("the origin does not answer: " + self.child.log_end())

    def requests(self):
        """How many requests it got so far, checks included, this question not."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=10) as s:
            s.sendall(b"GET /requests HTTP/1.0\r\n\r\n")
            return int(s.makefile("rb").read().rsplit(b"\r\n\r\n", 1)[1])

    def settled_requests(self):
        """The same, once nobody asks any more: what a server still fetches for the last round is not of the next."""
        before = self.requests()
        for _ in range(50):
            time.sleep(0.1)
            now = self.requests()
            if now == before:
                break
            before = now
        return before

    def end(self):
        self.child.end()


class Bench:
    def __init__(self, folder, mode, say):
        """mode pinned: servers on core 0 with one worker, load and origin on the last core; free: all on all."""
        if mode == "pinned" and os.cpu_count() < 2:
            raise ComparisonError("one core alone cannot be shared out; use --mode free")
        self.folder = folder
        self.mode = mode
        self.say = say
        self.threads = 1 if mode == "pinned" else os.cpu_count()
        self.server_cpus = "0" if mode == "pinned" else None
        self.client_cpus = str(os.cpu_count() - 1) if mode == "pinned" else None
        self.files = self._raise_open_files()
        self.next_port = FIRST_PORT
        self.origin = None
        os.makedirs(self.path("logs"), exist_ok=True)
        # The peers' users look for their files here.
        os.chmod(folder, 0o755)
        self.ledger = Ledger(self.path("running"))
        self.ledger.end_leftovers()
        self.clear_servers()

    def __enter__(self):
        self._compile()
        self.certificate = self._make_certificate()
        self.origin = Origin(self)
        try:
            self.origin.await_answer()
        except BaseException:
            self.origin.end()
            raise
        return self

    def __exit__(self, *failure):
        if self.origin:
            self.origin.end()

    def clear_servers(self):
        """Removes what servers that have ended kept on disk; large caches take a while."""
        folder = self.path("servers")
        with open("/proc/mounts") as mounts:
            for line in mounts:
                if line.split()[1].startswith(folder + "/"):
                    subprocess.run(["umount", line.split()[1]], check=False)
        shutil.rmtree(folder, ignore_errors=True)

    def path(self, *parts):
        return os.path.join(self.folder, *parts)

    def native(self, name):
        return self.path("native", name)

    def free_ports(self, count):
        """The next ports that nobody listens on."""
        ports = []
        while len(ports) < count:
            with socket.socket() as probe:
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                try:
                    probe.bind(("127.0.0.1", self.next_port))
                    ports.append(self.next_port)
                except OSError:
                    pass
            self.next_port += 1
        return ports

    def start_client(self, command, talks=False):
        """Starts a load generator; whoever calls ends it with end_client."""
        if self.client_cpus is not None:
            command = ["taskset", "-c", self.client_cpus] + command
        process = subprocess.Popen(
            command, stdin=subprocess.PIPE if talks else subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=None if talks else subprocess.STDOUT, text=True, start_new_session=True)
        self.ledger.add([process.pid])
        return process

    def end_client(self, process):
        if process.returncode is None and process.poll() is None:
            process.kill()
            process.wait()
        for pipe in (process.stdin, process.stdout):
            if pipe:
                pipe.close()
        self.ledger.remove([process.pid])

    def run_client(self, command, timeout_seconds):
        """Runs a load generator to its end. Returns what it printed and the CPU seconds that it took."""
        process = self.start_client(command)
        killer = threading.Timer(timeout_seconds, process.kill)
        killer.start()
        try:
            text = process.stdout.read()
            _, status, used = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            return text, used.ru_utime + used.ru_stime
        finally:
            killer.cancel()
            self.end_client(process)

    def _compile(self):
        compiler = shutil.which("gcc") or shutil.which("cc")
        os.makedirs(self.path("native"), exist_ok=True)
        for name in NATIVE:
            source, header = (os.path.join(HERE, "native", file) for file in (name + ".c", "http.h"))
            newest = max(os.path.getmtime(source), os.path.getmtime(header))
            if os.path.exists(self.native(name)) and os.path.getmtime(self.native(name)) > newest:
                continue
            if compiler is None:
                raise NotAvailable("gcc is not installed; the origin and the client are written in C")
            subprocess.run([compiler, "-O2", "-pthread", "-o", self.native(name) + ".new", source], check=True)
            os.replace(self.native(name) + ".new", self.native(name))

    def _make_certificate(self):
        """A self-signed P-256 certificate; returns its file and that of the key."""
        certificate, key = self.path("certificate.pem"), self.path("key.pem")
        if not os.path.exists(certificate):
            if shutil.which("openssl") is None:
                raise NotAvailable("openssl is not installed; it makes the certificate")
            subprocess.run(
                ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                 "-days", "3650", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1",
                 "-keyout", key, "-out", certificate], check=True, stderr=subprocess.DEVNULL)
            os.chmod(key, 0o644)
        return certificate, key

    @staticmethod
    def _raise_open_files():
        hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
        return min(hard, 1 << 20) - 100


def stop_on_signals():
    """Ctrl-C, SIGTERM and SIGHUP end the run with everything that was started."""
    def interrupt(number, frame):
        raise KeyboardInterrupt

    for number in STOPPING:
        signal.signal(number, interrupt)


def hold_signals():
    """From here on nothing interrupts the ending of what was started."""
    for number in STOPPING:
        signal.signal(number, signal.SIG_IGN)
