"""The report says what was measured, against what, and what is wrong with it."""
import os
import tempfile
import unittest

from comparison import report
from comparison.results import Results


def sample(cpu_us, rate=1000.0, p99_ms=5.0, **more):
    return {"requests": 8000, "rate": rate, "p50_ms": 1.0, "p99_ms": p99_ms, "errors": 0, "problems": [],
            "cpu_us": cpu_us, "user_share": 0.5, "busy": 0.9, "resident_mib": 100.0, "others": 0.0, "stolen": 0.0,
            "origin_requests": 0, "fast_lane_share": None, **more}


def measured(case="W1.ka", **samples):
    return {"case": case, "mode": "pinned", "began": "2026-01-01 00:00 UTC", "load_before": 0.1, "rounds": 3,
            "seconds": 8, "samples": samples, "faults": {}, "versions": {"nginx": "1.22.1"}, "left_out": {},
            "machine": {"CPU": "a CPU", "commit": "abc"}}


class ReportTest(unittest.TestCase):
    def test_targets_stand_beside_what_was_measured(self):
        text = report.document([measured(millrace=[sample(10), sample(12), sample(11)], nginx=[sample(20)] * 3,
                                         limit=[sample(5)] * 3)])
        self.assertIn("| CPU at most 0.62 of the best peer | 0.55 (nginx) | met |", text)
        self.assertIn("| CPU at most 1.8 of the C limit | 2.20 | **missed** |", text)
        self.assertIn("| no errors | 0 | met |", text)
        self.assertIn("11.0 (10.0 to 12.0) | 0.55 | 0.55 | 2.20 |", text)
        self.assertIn("- servers: nginx 1.22.1", text)

    def test_a_fault_is_told_and_takes_the_word_met_away(self):
        m = measured(millrace=[sample(10)], nginx=[sample(20)])
        m["faults"] = {"millrace": ["round 1: 5 requests reached the origin, which hits do not"]}
        text = report.document([m])
        self.assertIn("**Millrace: round 1: 5 requests reached the origin, which hits do not**", text)
        self.assertIn("0.50 (nginx) | not valid, see the faults |", text)

    def test_a_page_with_marks_gets_the_targets_between_them_and_a_link_to_all_figures(self):
        with tempfile.TemporaryDirectory() as folder:
            page, results = os.path.join(folder, "docs", "page.md"), os.path.join(folder, "results")
            os.mkdir(os.path.dirname(page))
            with open(page, "w") as out:
                out.write(f"before\n{report.BEGIN}\nold\n{report.END}\nafter\n")
            for _ in range(2):
                paths = report.write(page, [measured(millrace=[sample(10)], nginx=[sample(20)])], results)
                with open(page) as text:
                    written = text.read()
            self.assertTrue(written.startswith("before\n") and written.endswith("after\n"), written)
            self.assertNotIn("old", written)
            self.assertEqual(1, written.count("0.50 (nginx)"))
            self.assertNotIn("| W1.ka | 10.0 |", written)
            raw = os.path.join(results, "2026-01-01-abc.md")
            self.assertEqual([page, raw], paths)
            self.assertIn("(../results/2026-01-01-abc.md)", written)
            with open(raw) as text:
                self.assertIn("RSS", text.read())

    def test_a_page_without_marks_gets_the_whole_report(self):
        with tempfile.TemporaryDirectory() as folder:
            page = os.path.join(folder, "page.md")
            self.assertEqual([page], report.write(page, [measured(millrace=[sample(10)])], folder))
            with open(page) as text:
                self.assertIn("RSS", text.read())

    def test_the_file_of_a_run_is_named_after_its_first_day_and_newest_commit(self):
        first, last = measured(), measured()
        last["began"], last["machine"] = "2026-01-02 03:00 UTC", {"commit": "def+"}
        self.assertEqual("2026-01-01-def-changed.md", report.raw_name([first, last]))

    def test_who_is_left_out_is_named_with_the_reason(self):
        m = measured(millrace=[sample(10)])
        m["left_out"] = {"squid": "squid is not installed"}
        self.assertIn("- Squid is left out: squid is not installed", report.document([m]))

    def test_idle_connections_and_lanes_have_their_lines(self):
        rounds = [sample(10, idle_opened=15000, idle_lost=0, idle_bytes=3000.0, fast_lane_share=0.97),
                  sample(10, idle_opened=15000, idle_lost=0, fast_lane_share=0.97)]
        text = report.document([measured("W7.idle", millrace=rounds, nginx=[sample(20)])])
        self.assertIn("15,000 idle connections, 0 lost, 3,000 B each", text)
        self.assertIn("97.0% answered in the fast lane", text)
        self.assertIn("| memory per idle connection at most 4,096 B | 3,000 B | met |", text)

    def test_results_of_several_runs_under_one_tag_come_back_in_the_order_of_the_cases(self):
        with tempfile.TemporaryDirectory() as folder:
            results = Results(folder, "night")
            for case in ("W7.idle", "W1.ka"):
                results.put(measured(case, millrace=[sample(10)]))
            self.assertEqual(["W1.ka", "W7.idle"], [m["case"] for m in results.all()])
            self.assertEqual([], Results(folder, "other").all())


if __name__ == "__main__":
    unittest.main()
