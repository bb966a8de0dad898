"""The table of work is whole and fits the servers and scripts that there are."""
import os
import unittest

from comparison import cases, loads, options
from comparison.checks import fault
from comparison.errors import ComparisonError
from comparison.peers import KINDS
from comparison.servers import TEMPLATES, filled


class CasesTest(unittest.TestCase):
    def test_names_are_unique_and_servers_exist(self):
        self.assertEqual(len(cases.CASES), len({case.name for case in cases.CASES}))
        for case in cases.CASES:
            for name in case.servers:
                self.assertTrue(name == "millrace" or name in KINDS, f"{case.name}: {name}")

    def test_every_script_of_a_case_is_there(self):
        for case in cases.CASES:
            script = getattr(case.load, "script", None)
            if script:
                self.assertTrue(os.path.exists(os.path.join(loads.REQUESTS, script + ".lua")), case.name)

    def test_a_target_that_looks_at_another_case_names_one(self):
        names = {case.name for case in cases.CASES}
        for case in cases.CASES:
            for target in case.targets:
                self.assertIn(getattr(target, "case", case.name), names)

    def test_a_word_names_a_case_or_a_group_and_nothing_in_between(self):
        self.assertEqual(["W1.ka", "W1.100"], [case.name for case in cases.chosen(["W1"])])
        self.assertEqual(["W2.c20.ka"], [case.name for case in cases.chosen(["W2.c20.ka"])])
        self.assertEqual(len(cases.CASES), len(cases.chosen([])))
        with self.assertRaises(ComparisonError):
            cases.chosen(["W1.k"])

    def test_a_template_has_no_word_that_nobody_fills(self):
        words = dict.fromkeys(("USER", "CORES", "FILES", "FOLDER", "ACCESS_LOG", "ORIGIN", "CERTIFICATE", "KEY", "PORT",
                               "TLS_PORT", "RAM", "LOGGING", "STORE", "RAM_MB"), "1")
        for name in os.listdir(TEMPLATES):
            self.assertNotIn("@", filled(name, words).replace("@FOLDER@", ""), name)


class FaultTest(unittest.TestCase):
    class Cache:
        canned = False

    def fault_of(self, name, requests, origin_requests):
        case, = cases.chosen([name])
        return fault(case, self.Cache, {"requests": requests, "origin_requests": origin_requests})

    def test_one_request_at_the_origin_spoils_a_round_of_hits(self):
        self.assertIsNone(self.fault_of("W1.ka", 1000, 0))
        self.assertIn("reached the origin", self.fault_of("W1.ka", 1000, 1))

    def test_what_passes_has_to_reach_the_origin(self):
        self.assertIsNone(self.fault_of("W6.pass", 1000, 1000))
        self.assertIn("50.0%", self.fault_of("W6.pass", 1000, 500))

    def test_of_browsers_requests_three_in_a_hundred_are_misses(self):
        self.assertIsNone(self.fault_of("W11.browsers", 100000, 3000))
        self.assertIsNotNone(self.fault_of("W11.browsers", 100000, 7000))
        self.assertIsNotNone(self.fault_of("W11.browsers", 100000, 300))

    def test_at_a_constant_rate_the_client_keeps_its_times_and_one_in_a_hundred_is_a_miss(self):
        def fault_of(name, fetched, late_ms=0.1):
            case, = cases.chosen([name])
            return fault(case, self.Cache, {"requests": 100000, "origin_requests": fetched, "late_ms": late_ms})

        self.assertIsNone(fault_of("W12.hits", 0))
        self.assertIn("late", fault_of("W12.hits", 0, late_ms=6))
        self.assertIn("reached the origin", fault_of("W12.hits", 10))
        self.assertIsNone(fault_of("W12.misses", 1000))
        self.assertIn("1,000 were new", fault_of("W12.misses", 900))

    def test_of_few_requests_of_browsers_those_left_unanswered_count(self):
        self.assertIsNone(self.fault_of("W11.browsers", 440, 55))


class OptionsTest(unittest.TestCase):
    def test_products_and_variants_have_names_and_settings(self):
        chosen = options.products(["/a", "new=/b"], ["nolog:log.access.enabled=false", "nolog:x=1"], lambda: "/none")
        self.assertEqual(
            {"millrace": ("/a", ()), "millrace-new": ("/b", ()),
             "millrace-nolog": ("/a", ("log.access.enabled=false", "x=1"))}, chosen)

    def test_without_a_product_the_packed_one_is_taken(self):
        self.assertEqual({"millrace": ("/packed", ())}, options.products([], [], lambda: "/packed"))

    def test_a_variant_of_a_product_has_its_home(self):
        chosen = options.products(["/a", "new=/b"], ["new:x=1"], lambda: "/none")
        self.assertEqual(("/b", ("x=1",)), chosen["millrace-new"])


if __name__ == "__main__":
    unittest.main()
