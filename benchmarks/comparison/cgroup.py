"""A bound on a process's memory, its page cache included, where the kernel's control groups allow it."""
import os

from comparison.errors import NotAvailable

VERSION_1 = "/sys/fs/cgroup/memory"
VERSION_2 = "/sys/fs/cgroup"


class MemoryGroup:
    def __init__(self, name, limit_bytes):
        if os.path.isdir(VERSION_1):
            root, limit = VERSION_1, "memory.limit_in_bytes"
        else:
            root, limit = VERSION_2, "memory.max"
        self.folder = os.path.join(root, name)
        try:
            os.makedirs(self.folder, exist_ok=True)
            with open(os.path.join(self.folder, limit), "w") as out:
                out.write(str(limit_bytes))
        except OSError as e:
            self.remove()
            raise NotAvailable(f"its memory cannot be bounded here ({e}); as root it can") from None

    def enter(self):
        """Moves the calling process into the group; what it starts belongs there too."""
        with open(os.path.join(self.folder, "cgroup.procs"), "w") as out:
            out.write(str(os.getpid()))

    def remove(self):
        try:
            os.rmdir(self.folder)
        except OSError:
            pass
