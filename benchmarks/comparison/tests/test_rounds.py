"""Servers are warmed up until what they compile is compiled, and no longer than a minute and a half."""
import types
import unittest
from unittest import mock

from comparison import rounds


class Clock:
    def __init__(self):
        self.now = 0.0

    def monotonic(self):
        return self.now


def warmed(compiled_at, seconds=2, factor=2):
    """Seconds of load until warm, for a server whose compiler has taken compiled_at(time) so far."""
    clock = Clock()

    def load(bench, server, length):
        # A little longer than it was told, as tools are, and told in whole seconds, as wrk wants it.
        assert isinstance(length, int), length
        clock.now += length + 0.01

    case = types.SimpleNamespace(load=types.SimpleNamespace(warm_up=load))
    server = types.SimpleNamespace(warm_factor=factor, compile_seconds=lambda: compiled_at(clock.now))
    with mock.patch.object(rounds, "time", clock):
        return rounds.warm_up(case, server, None, seconds)


class WarmUpTest(unittest.TestCase):
    def test_a_server_that_compiles_nothing_is_warmed_up_once(self):
        self.assertEqual(2, warmed(lambda now: None, factor=1))

    def test_a_server_is_warmed_up_until_its_compiler_is_quiet(self):
        # Half a core for 17 s, then nothing: the piece from 16 to 20 s still has some of it, the two next have none.
        self.assertEqual(28, warmed(lambda now: min(now, 17.0) / 2))

    def test_a_compiler_that_begins_again_is_waited_for(self):
        # Quiet from 4 to 8 s, half a core from 8 to 12 s, then nothing.
        def compiled(now):
            return min(now, 4.0) / 2 + min(max(now - 8.0, 0.0), 4.0) / 2

        self.assertEqual(20, warmed(compiled))

    def test_a_thread_of_the_compiler_that_ends_says_nothing(self):
        # Two threads, half a core each; one ends after 6 s and takes its time along, the other after 14 s.
        self.assertEqual(24, warmed(lambda now: now if now < 6.0 else min(now, 14.0) / 2))

    def test_a_compiler_that_never_rests_is_waited_for_a_minute_and_a_half(self):
        self.assertEqual(88, warmed(lambda now: now / 2))


class FirstMinuteTest(unittest.TestCase):
    def test_each_round_begins_with_the_start_of_the_server_and_without_warm_up(self):
        events = []

        def measure(bench, server, seconds):
            events.append(f"{seconds} s of load")
            return {"others": 0.9, "cpu_us": 1.0, "busy": 1.0, "rate": 1.0, "errors": 0}

        load = types.SimpleNamespace(measure=measure, warm_up=lambda *_: events.append("warm-up"))
        case = types.SimpleNamespace(name="W6.first", load=load, unit="request", first_seconds=60)
        server = types.SimpleNamespace(name="millrace", version=lambda: "1", end=lambda: events.append("end"),
                                       start=lambda: events.append("start"))
        fleet = types.SimpleNamespace(for_case=lambda *_: [server], why_left_out=lambda *_: {})
        bench = types.SimpleNamespace(mode="pinned")
        with mock.patch.object(rounds.checks, "prepare"), mock.patch.object(rounds.checks, "fault", return_value=None):
            result = rounds.run(case, fleet, bench, ("millrace",), rounds.Plan(2, 5, 6, 0.25), lambda text: None)
        self.assertEqual(["end", "start", "60 s of load"] * 2, events)
        self.assertEqual(60, result["seconds"])


if __name__ == "__main__":
    unittest.main()
