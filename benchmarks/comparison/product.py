"""The packed product: unpacked, started with the flags it has by itself and a configuration of a few lines."""
import glob
import hashlib
import json
import os
import subprocess
import tarfile
import time

from comparison import asking, parsing
from comparison.errors import ComparisonError
from comparison.measure import cpu_seconds, thread_seconds
from comparison.servers import Server, version_of

HERE = os.path.dirname(os.path.abspath(__file__))
REPOSITORY = os.path.dirname(os.path.dirname(HERE))
SMALL_RAM_MIB = 64  # as the peers have it
SETTLE_SECONDS = 30


def packed():
    """The newest archive that the build made."""
    archives = glob.glob(os.path.join(REPOSITORY, "dist/target/millrace-*.tar.gz"))
    if not archives:
        raise ComparisonError("there is no dist/target/millrace-*.tar.gz; make it with:"
                              " mvn package -pl dist -am -DskipTests, or name a folder with --product")
    return max(archives, key=os.path.getmtime)


def digest_of(path):
    digest = hashlib.sha256()
    with open(path, "rb") as content:
        for piece in iter(lambda: content.read(1 << 20), b""):
            digest.update(piece)
    return digest.hexdigest()


def unpacked(archive, folder):
    """Unpacks an archive below the folder, once for each content, and returns the folder with bin/."""
    home = os.path.join(folder, "product-" + digest_of(archive)[:12])
    if not os.path.isdir(home):
        with tarfile.open(archive) as tar:
            tar.extractall(home + ".new")
        os.rename(home + ".new", home)
    inner = glob.glob(os.path.join(home, "*", "bin", "millrace"))
    if not inner:
        raise ComparisonError(f"{archive} has no bin/millrace")
    return os.path.dirname(os.path.dirname(inner[0]))


class Millrace(Server):
    """One product folder under one name, with settings over the configuration where a variant has some."""

    name = "millrace"
    tls = True
    warm_factor = 2  # and on until its JVM has compiled

    def __init__(self, bench, home, name="millrace", settings=(), small_ram=False):
        self.name = name
        self.home = home
        self.settings = settings
        super().__init__(bench, small_ram)
        self.executable = os.path.join(home, "bin", "millrace")
        if not os.access(self.executable, os.X_OK):
            raise ComparisonError(f"{self.executable} is not there; --product takes the folder of an unpacked product")

    def version(self):
        # Builds of one version differ, and their files have no times of their own.
        content = hashlib.sha256()
        for jar in sorted(glob.glob(os.path.join(self.home, "lib", "*.jar"))):
            content.update(digest_of(jar).encode())
        return f"{version_of([self.executable, '--version'])} (content {content.hexdigest()[:8]})"

    def record_class_archive(self):
        """Records the class archive of the worker, as packages do at their installation. Products without the command
        record it after their first start."""
        subprocess.run([self.executable, "archive"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def prepare(self):
        self.record_class_archive()
        certificate, key = self.bench.certificate
        configuration = {
            "listen": [f"127.0.0.1:{self.port}", {"address": f"127.0.0.1:{self.h2c_port}", "h2c": True},
                       {"address": f"127.0.0.1:{self.tls_port}", "tls": {"certificate": certificate, "key": key}}],
            "remap": [{"map": "/", "to": f"http://127.0.0.1:{self.bench.origin.port}"}],
            "storage": [{"path": os.path.join(self.folder, "cache"), "size": "6GiB"}],
            "admin": {"socket": self._admin_socket()},
        }
        if self.small_ram:
            configuration["cache"] = {"ram_size": f"{SMALL_RAM_MIB}MiB"}
        path = os.path.join(self.folder, "millrace.yaml")
        with open(path, "w") as out:
            json.dump(configuration, out, indent=2)  # which is YAML too
        command = [self.executable, "run", "--config", path, "--state", os.path.join(self.folder, "state")]
        for setting in self.settings:
            command += ["--set", setting]
        return command

    def _admin_socket(self):
        return os.path.join(self.folder, "admin.sock")

    def await_answer(self):
        super().await_answer()
        self._settle()

    def _settle(self):
        """Waits until what a first start does in the background is done."""
        until = time.monotonic() + SETTLE_SECONDS
        quiet = 0
        while quiet < 3 and time.monotonic() < until:
            before = sum(cpu_seconds(self.tree()))
            time.sleep(0.5)
            quiet = quiet + 1 if sum(cpu_seconds(self.tree())) - before < 0.05 else 0

    def replace_worker(self):
        """Replaces the worker. Returns when the new one serves."""
        asking.over_unix_socket(self._admin_socket(), "POST", "/v1/server/restart", "{}", timeout=120)

    def compile_seconds(self):
        return thread_seconds(self.tree(), ("C1 Compiler", "C2 Compiler"))

    def fast_lane_requests(self):
        try:
            page = asking.get_over_unix_socket(self._admin_socket(), "/metrics")
        except OSError:
            return None
        sums = {}
        for name, _, value in parsing.prometheus(page):
            sums[name] = sums.get(name, 0) + value
        if "millrace_fast_lane_requests_total" not in sums:
            return None
        return sums["millrace_fast_lane_requests_total"], sums.get("millrace_requests_total", 0)
