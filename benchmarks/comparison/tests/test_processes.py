"""What a comparison starts it ends, with all that was started below; what a killed one left the next one ends."""
import os
import subprocess
import tempfile
import unittest

from comparison.processes import Child, Ledger, alive, start_time, tree

# A shell that ignores SIGTERM and has a child that waits.
STUBBORN = ["sh", "-c", "trap '' TERM; sleep 1000 & echo ready; wait; wait"]


class ProcessesTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.ledger = Ledger(os.path.join(self.folder.name, "running"))

    def start(self):
        child = Child(STUBBORN, os.path.join(self.folder.name, "log"), self.ledger)
        while "ready" not in child.log_end() or len(child.tree()) < 2:
            self.assertTrue(child.running())
        return child

    def test_a_process_that_ignores_sigterm_is_killed_with_its_children(self):
        child = self.start()
        pids = child.tree()
        child.end(grace_seconds=0)
        self.assertEqual([], [pid for pid in pids if alive(pid)])
        self.assertEqual({}, self.ledger.running)

    def test_the_next_comparison_ends_what_a_killed_one_left(self):
        child = self.start()
        pids = child.tree()
        self.assertEqual(sorted(pids), sorted(self.ledger.running))
        next_ledger = Ledger(self.ledger.path)
        self.assertGreaterEqual(next_ledger.end_leftovers(grace_seconds=0), 1)
        self.assertEqual([], [pid for pid in pids if alive(pid)])
        child.process.wait()
        self.assertEqual(0, next_ledger.end_leftovers())

    def test_another_process_that_got_the_id_meanwhile_is_left_alone(self):
        other = subprocess.Popen(["sleep", "1000"])
        try:
            with open(self.ledger.path, "w") as out:
                out.write(f"{other.pid} {start_time(other.pid) - 1}\n")
            self.assertEqual(0, self.ledger.end_leftovers())
            self.assertTrue(alive(other.pid))
            self.assertEqual([other.pid], tree(other.pid))
        finally:
            other.kill()
            other.wait()


if __name__ == "__main__":
    unittest.main()
