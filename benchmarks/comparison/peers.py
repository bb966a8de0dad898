"""The programs that Millrace is compared with, each with the configuration that suits it, and the C limit."""
import os
import pwd
import shutil
import subprocess

from comparison.cgroup import MemoryGroup
from comparison.errors import ComparisonError, NotAvailable
from comparison.servers import Peer, Server

# RAM for a tenth of 512 MB: a little more than that, since they count other things in it.
SMALL_RAM_MIB = 64


class Limit(Server):
    name = "limit"
    canned = True

    def version(self):
        return "of this repository"

    def prepare(self):
        return [self.bench.native("limit"), str(self.port), str(self.bench.threads)]


class Nginx(Peer):
    name = binary = "nginx"
    tls = True
    # It keeps bodies in the page cache: its memory with what it needs for 100,000 keys, and a tenth of their bodies.
    small_ram_bytes = 180 << 20

    def prepare(self):
        os.makedirs(os.path.join(self.folder, "cache"))
        path = self.write("nginx.conf", "nginx.conf", ACCESS_LOG=self.access_log(),
                          USER="user root;" if os.geteuid() == 0 else "")
        return [self.program, "-p", self.folder, "-c", path]

    def access_log(self):
        return "off"

    def run(self, command, preparation=None, environment=None):
        self.group = MemoryGroup("millrace-compare-" + self.instance, self.small_ram_bytes) if self.small_ram else None
        super().run(command, self.group.enter if self.group else None, environment)

    def end(self):
        super().end()
        if getattr(self, "group", None):
            self.group.remove()


class NginxLogging(Nginx):
    """With an access log, buffered; to see what a log costs elsewhere."""
    name = "nginx-log"

    def access_log(self):
        return os.path.join(self.folder, "access.log") + " combined buffer=64k flush=1s"


class Varnish(Peer):
    name = "varnish"
    binary = "varnishd"
    version_arguments = ("-V",)

    def prepare(self):
        # Its log in shared memory is a file that is written all the time, and belongs on tmpfs.
        state = os.path.join(self.folder, "state")
        os.makedirs(state)
        if os.geteuid() == 0:
            subprocess.run(["mount", "-t", "tmpfs", "-o", "size=512m", "none", state], check=True)
        vcl = self.write("varnish.vcl", "default.vcl")
        storage = f"malloc,{SMALL_RAM_MIB}m" if self.small_ram else "malloc,6g"
        return [self.program, "-F", "-j", "none", "-n", os.path.join(state, "n"), "-a", f"127.0.0.1:{self.port},HTTP",
                "-a", f"127.0.0.1:{self.h2c_port},HTTP", "-p", "feature=+http2",
                "-T", "none", "-f", vcl, "-s", storage, "-p", "thread_pools=2", "-p", "thread_pool_min=200",
                "-p", "thread_pool_max=5000", "-p", "listen_depth=4096", "-p", "timeout_idle=600",
                "-p", "default_grace=10", "-p", "workspace_client=64k"]

    def end(self):
        super().end()
        state = os.path.join(self.folder, "state")
        if os.path.ismount(state):
            subprocess.run(["umount", state], check=False)


class TrafficServer(Peer):
    name = "ats"
    binary = "traffic_server"
    version_arguments = ("--version",)
    tls = True
    fill_passes = 4  # its RAM cache takes only what it has seen before
    installed = "/etc/trafficserver"
    copied = ("ip_allow.yaml", "logging.yaml", "plugin.config", "parent.config", "hosting.config", "volume.config",
              "cache.config", "splitdns.config", "sni.yaml", "strategies.yaml", "socks.config")
    logging = 0

    def prepare(self):
        if os.geteuid() != 0:
            raise NotAvailable("ats is left out: its package runs only when root starts it")
        for folder in ("etc", "var/log", "var/run", "cache"):
            os.makedirs(os.path.join(self.folder, folder))
        for name in self.copied:
            if os.path.exists(os.path.join(self.installed, name)):
                shutil.copy(os.path.join(self.installed, name), os.path.join(self.folder, "etc", name))
        shutil.copytree(os.path.join(self.installed, "body_factory"), os.path.join(self.folder, "etc/body_factory"))
        for source, name in zip(self.bench.certificate, ("certificate.pem", "key.pem")):
            shutil.copy(source, os.path.join(self.folder, "etc", name))
        self.write("ats-records.config", "etc/records.config", LOGGING=self.logging,
                   RAM=f"{SMALL_RAM_MIB}M" if self.small_ram else "6G")
        self._line("etc/remap.config", f"map / http://127.0.0.1:{self.bench.origin.port}/")
        self._line("etc/ssl_multicert.config", "dest_ip=* ssl_cert_name=certificate.pem ssl_key_name=key.pem")
        self._line("etc/storage.config", os.path.join(self.folder, "cache") + " 6G")
        run_root = self.write("ats-runroot.yaml", "runroot.yaml")
        subprocess.run(["chown", "-R", "trafficserver", self.folder], check=True)
        return [self.program, "--run-root=" + run_root]

    def _line(self, name, text):
        with open(os.path.join(self.folder, name), "w") as out:
            out.write(text + "\n")


class TrafficServerLogging(TrafficServer):
    """With its default access log."""
    name = "ats-log"
    logging = 3


class Squid(Peer):
    name = binary = "squid"

    def prepare(self):
        many = self.bench.threads > 1
        store = f"rock {self.folder}/rock 6000" if many else f"aufs {self.folder}/aufs 6000 16 256"
        path = self.write("squid.conf", "squid.conf", STORE=store, RAM_MB=SMALL_RAM_MIB if self.small_ram else 4000)
        if os.geteuid() == 0:
            shutil.chown(self.folder, pwd.getpwnam("proxy").pw_name)
        # Names of shared memory have letters and digits only.
        name = "compare" + self.instance.replace("-", "")
        made = subprocess.run([self.program, "-n", name, "-f", path, "--foreground", "-z"], capture_output=True,
                              text=True, timeout=60)
        if made.returncode:
            raise ComparisonError("squid cannot make its cache: " + made.stderr[-300:])
        return [self.program, "-n", name, "-f", path, "--foreground"]


class Haproxy(Peer):
    name = binary = "haproxy"

    def prepare(self):
        if self.small_ram:
            raise NotAvailable("haproxy is left out: it has no disk to go with a small RAM cache")
        return [self.program, "-f", self.write("haproxy.cfg", "haproxy.cfg")]


KINDS = {kind.name: kind for kind in (Limit, Nginx, NginxLogging, Varnish, TrafficServer, TrafficServerLogging, Squid,
                                      Haproxy)}
