"""A target is met by the medians, missed beyond its factor, and open where a figure is missing."""
import unittest

from comparison.targets import BEST_PEER, LIMIT, Bound, CpuPerRequest, LatencyAdded, LatencyOf, RateKept, RateOf


def cost(*values):
    return [{"cpu_us": v} for v in values]


class TargetsTest(unittest.TestCase):
    def test_the_best_peer_is_the_cheapest_by_its_median_and_never_the_limit_or_another_product(self):
        results = {"millrace": cost(12), "nginx": cost(19, 30, 1), "haproxy": cost(20, 20, 20), "limit": cost(6),
                   "millrace-old": cost(5)}
        verdict = CpuPerRequest(0.62, BEST_PEER).judge(results)
        self.assertEqual(("0.63 (nginx); the C limit 0.32", False), (verdict.measured, verdict.met))

    def test_a_ratio_at_the_factor_is_met(self):
        self.assertTrue(CpuPerRequest(1.5, LIMIT).judge({"millrace": cost(9), "limit": cost(6)}).met)

    def test_beside_a_missed_target_stands_what_the_limit_has_of_the_reference(self):
        verdict = CpuPerRequest(0.65, "nginx").judge({"millrace": cost(8), "nginx": cost(10), "limit": cost(6)})
        self.assertEqual("0.80; the C limit 0.60", verdict.measured)
        self.assertEqual("missed", verdict.word)

    def test_beside_a_target_that_is_met_the_limit_is_not_named(self):
        verdict = CpuPerRequest(0.65, "nginx").judge({"millrace": cost(6.4), "nginx": cost(10), "limit": cost(6)})
        self.assertEqual("0.64", verdict.measured)

    def test_without_the_reference_nothing_is_met_or_missed(self):
        verdict = CpuPerRequest(0.35, "varnish").judge({"millrace": cost(9)})
        self.assertEqual((None, "not measured"), (verdict.met, verdict.word))
        self.assertIn("Varnish", verdict.measured)

    def test_latencies_and_rates_are_compared_with_those_of_another_server(self):
        results = {"millrace": [{"p99_ms": 5.0, "rate": 99}], "nginx": [{"p99_ms": 5.0, "rate": 100}]}
        self.assertTrue(LatencyOf("p99_ms", "nginx").judge(results).met)
        self.assertFalse(RateOf("nginx").judge(results).met)

    def test_a_latency_may_be_so_many_times_that_of_another_server(self):
        results = {"millrace": [{"p999_ms": 6.0}], "nginx": [{"p999_ms": 5.0}]}
        target = LatencyOf("p999_ms", "nginx", 1.2)
        self.assertEqual("p99.9 at most 1.2 times nginx's", target.text)
        self.assertTrue(target.judge(results).met)
        self.assertFalse(LatencyOf("p999_ms", "nginx", 1.1).judge(results).met)

    def test_a_latency_may_be_so_much_above_that_in_another_case(self):
        target = LatencyAdded("p999_ms", 50, "W12.hits")
        others = {"W12.hits": {"millrace": [{"p999_ms": 2.0}]}}
        self.assertTrue(target.judge({"millrace": [{"p999_ms": 52.0}]}, others).met)
        self.assertFalse(target.judge({"millrace": [{"p999_ms": 53.0}]}, others).met)
        self.assertIsNone(target.judge({"millrace": [{"p999_ms": 2.0}]}, {}).met)

    def test_a_rate_is_compared_with_the_one_in_another_case(self):
        others = {"W5.100.zipf": {"millrace": [{"rate": 100}]}}
        results = {"millrace": [{"rate": 75}]}
        self.assertTrue(RateKept(0.75, "W5.100.zipf").judge(results, others).met)
        self.assertIsNone(RateKept(0.75, "W5.100.zipf").judge(results, {}).met)

    def test_a_bound_holds_in_the_worst_round(self):
        fetches = Bound("origin_requests", "origin fetches", 1)
        self.assertTrue(fetches.judge({"millrace": [{"origin_requests": 1}] * 3}).met)
        self.assertFalse(fetches.judge({"millrace": [{"origin_requests": 1}, {"origin_requests": 2}]}).met)

    def test_a_bound_from_below_and_one_on_the_median(self):
        share = Bound("share", "share", 0.9, "{:.0%}", at_least=True)
        self.assertFalse(share.judge({"millrace": [{"share": 0.95}, {"share": 0.89}]}).met)
        p99 = Bound("p99_ms", "p99", 20, as_median=True)
        self.assertTrue(p99.judge({"millrace": [{"p99_ms": 100}, {"p99_ms": 19}, {"p99_ms": 18}]}).met)


if __name__ == "__main__":
    unittest.main()
