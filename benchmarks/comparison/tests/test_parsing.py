"""What load generators print is read as they mean it."""
import unittest

from comparison import parsing

WRK = """Running 8s test @ http://127.0.0.1:21202/s/500
  1 threads and 1800 connections
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency    12.01ms   15.50ms 419.84ms   99.17%
  Latency Distribution
     50%   10.20ms
     75%   12.03ms
     90%   14.82ms
     99%    1.21s
  326816 requests in 8.06s, 245.30MB read
  Socket errors: connect 1, read 2, write 3, timeout 4
  Non-2xx or 3xx responses: 5
Requests/sec:  40547.12
Transfer/sec:     30.43MB
"""
AB = """Concurrency Level:      250
Time taken for tests:   8.000 seconds
Complete requests:      200000
Failed requests:        3
   (Connect: 0, Receive: 0, Length: 3, Exceptions: 0)
Non-2xx responses:      2
Requests per second:    25000.10 [#/sec] (mean)
Percentage of the requests served within a certain time (ms)
  50%      5
  66%      6
  99%      7
 100%     12 (longest request)
"""
H2LOAD = """finished in 5.00s, 30333.20 req/s, 17.90MB/s
requests: 151666 total, 151670 started, 151666 done, 151660 succeeded, 6 failed, 4 errored, 0 timeout
status codes: 151660 2xx, 0 3xx, 0 4xx, 2 5xx
"""


class ParsingTest(unittest.TestCase):
    def test_wrk_tells_rate_latencies_and_every_kind_of_error(self):
        result = parsing.wrk(WRK)
        self.assertEqual(326816, result["requests"])
        self.assertEqual(40547.12, result["rate"])
        self.assertEqual(10.2, result["p50_ms"])
        self.assertEqual(1210, result["p99_ms"])
        self.assertEqual(1 + 2 + 3 + 4 + 5, result["errors"])
        self.assertEqual(2, len(result["problems"]))

    def test_wrk_without_a_summary_is_no_result(self):
        self.assertIsNone(parsing.wrk("unable to connect to 127.0.0.1:1 Connection refused"))

    def test_ab_counts_failures_and_other_statuses(self):
        result = parsing.ab(AB)
        self.assertEqual((200000, 25000.10, 5, 7, 5),
                         tuple(result[k] for k in ("requests", "rate", "p50_ms", "p99_ms", "errors")))

    def test_h2load_counts_failures_once_and_takes_latencies_from_its_log(self):
        log = [f"1\t200\t{us}\n" for us in range(1000, 101000, 1000)]
        result = parsing.h2load(H2LOAD, log)
        self.assertEqual((151660, 6), (result["requests"], result["errors"]))
        self.assertEqual((51, 100), (result["p50_ms"], result["p99_ms"]))

    def test_s_time_counts_handshakes_that_were_not_resumed(self):
        text = ("\n\nNow timing with session id reuse.\nstarting\nrr*r\n\n4 connections in 0.16s;"
                " 25.00 connections/user sec, bytes read 2000\n4 connections in 2 real seconds, 500 bytes read\n")
        result = parsing.s_time(text)
        self.assertEqual((4, 2, 1), tuple(result[k] for k in ("requests", "rate", "errors")))
        self.assertIsNone(parsing.s_time("ERROR\nBIO_connect:Connection refused\n"))

    def test_the_own_client_counts_large_objects_in_mebibytes(self):
        result = parsing.client_get("bytes 1048576000 seconds 2.000 done 10 bad 1\n")
        self.assertEqual((1000, 500, 1), (result["requests"], result["rate"], result["errors"]))
        self.assertIsNone(parsing.client_get(""))

    def test_the_own_client_tells_when_the_last_of_a_herd_had_its_answer(self):
        result = parsing.client_herd("done 500 bad 0 p50_us 300000 p99_us 400000 last_us 500000\n")
        self.assertEqual((500, 1000, 300, 400), tuple(result[k] for k in ("requests", "rate", "p50_ms", "p99_ms")))

    def test_the_own_client_tells_how_late_it_was_itself(self):
        result = parsing.client_constant("done 990 bad 10 rate_s 100.5 p50_us 100 p99_us 2000 p999_us 3000 max_us 4000"
                                         " late_us 50\n")
        self.assertEqual((990, 10, 100.5, 0.1, 2, 3, 4, 0.05),
                         tuple(result[k] for k in ("requests", "errors", "rate", "p50_ms", "p99_ms", "p999_ms", "max_ms",
                                                   "late_ms")))
        self.assertIsNone(parsing.client_constant("done 0 bad 5 rate_s 0.0 late_us 0\n"))

    def test_metrics_are_read_with_their_labels(self):
        page = '# HELP a b\nx_total{application="m",lane="fast"} 12.0\ny 3\n'
        self.assertEqual([("x_total", {"application": "m", "lane": "fast"}, 12.0), ("y", {}, 3.0)],
                         parsing.prometheus(page))


if __name__ == "__main__":
    unittest.main()
