"""The machine that the figures are from, and what ran on it."""
import os
import platform
import re
import shutil
import subprocess

from comparison.product import REPOSITORY
from comparison.servers import version_of


def _first(path, pattern):
    try:
        with open(path) as text:
            found = re.search(pattern, text.read(), re.M)
            return found.group(1) if found else None
    except OSError:
        return None


def _output(command):
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=10).stdout.strip()
    except (OSError, subprocess.TimeoutExpired):
        return ""


def commit():
    """The commit of the sources, with a + when they differ from it."""
    name = _output(["git", "-C", REPOSITORY, "rev-parse", "--short=12", "HEAD"])
    changed = _output(["git", "-C", REPOSITORY, "status", "--porcelain", "--untracked-files=no"])
    return name + ("+" if changed else "") if name else "unknown"


def description():
    """Name and value pairs, as the report shows them."""
    java = os.path.join(os.environ["JAVA_HOME"], "bin", "java") if os.environ.get("JAVA_HOME") else "java"
    memory_kib = int(_first("/proc/meminfo", r"^MemTotal:\s+(\d+)") or 0)
    flags = _first("/proc/cpuinfo", r"^flags\s*:(.*)") or ""
    tools = {"wrk": ["wrk", "-v"], "ab": ["ab", "-V"], "h2load": ["h2load", "--version"]}
    return {
        "CPU": (_first("/proc/cpuinfo", r"^model name\s*:\s*(.*)") or platform.machine())
        + (", virtual" if "hypervisor" in flags.split() else ""),
        "cores": str(os.cpu_count()),
        "memory": f"{memory_kib / (1 << 20):.0f} GiB",
        "kernel": platform.system() + " " + platform.release(),
        "system": _first("/etc/os-release", r'^PRETTY_NAME="?([^"\n]*)') or "unknown",
        "JDK": version_of([java, "-version"], r'(?<=")[^"]+') or "unknown",
        "commit": commit(),
        "load generators": ", ".join(f"{name} {version_of(command) or '?'}" for name, command in tools.items()
                                     if shutil.which(name)),
    }
