package io.millrace.cli.log;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

final class LogFilterTest {
    private static final LogLine LINE = LogParser.parse(
            "1700000000.123 4 10.1.2.3 TCP_MISS/404 1720 GET http://www.example.com:8080/a.js - DIRECT/10.0.0.1:9000 text/html");

    private static LogFilter of(String... conditions) {
        return LogFilter.of(List.of(conditions), Long.MIN_VALUE);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "status=404",
                "status=4xx",
                "status=400-499",
                "host=www.example.com",
                "host=WWW.example.com:8080",
                "host=.example.com",
                "cache=miss",
                "result=tcp_miss",
                "client=10.0.0.0/8",
                "client=10.1.2.3",
                "url=[.]js$",
                "method=get",
                "origin=10.0.0.1",
                "type=text/",
                "slower=3ms"
            })
    void acceptsMatchingLines(String condition) {
        assertTrue(of(condition).matches(LINE));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "status=200",
                "status=5xx",
                "host=example.com",
                "cache=hit",
                "client=10.2.0.0/16",
                "client=2001:db8::/32",
                "url=^/a",
                "method=HEAD",
                "slower=1s",
                "type=image/"
            })
    void rejectsOtherLines(String condition) {
        assertFalse(of(condition).matches(LINE));
    }

    @Test
    void allConditionsMustHold() {
        assertTrue(of("status=4xx", "cache=miss").matches(LINE));
        assertFalse(of("status=4xx", "cache=hit").matches(LINE));
    }

    @Test
    void anExpressionThatIsTooMuchForAUrlIsAFaultAndNoTrace() {
        LogLine longest = LogParser.parse("1700000000.123 4 10.1.2.3 TCP_MISS/404 1720 GET http://www.example.com/"
                + "ab".repeat(500_000) + " - DIRECT/10.0.0.1:9000 text/html");
        LogFilter filter = of("url=(a|b)*$");
        assertTrue(assertThrows(IllegalArgumentException.class, () -> filter.matches(longest))
                .getMessage()
                .startsWith("the expression (a|b)*$ needs too much stack for a text of"));
    }

    @Test
    void sinceLooksAtTheArrival() {
        assertTrue(LogFilter.of(List.of(), 1_700_000_000_123L).matches(LINE));
        assertFalse(LogFilter.of(List.of(), 1_700_000_000_124L).matches(LINE));
    }

    @Test
    void unknownLinesPassAnEmptyFilter() {
        assertTrue(of().matches(null));
        assertFalse(of("status=404").matches(null));
    }

    @ParameterizedTest
    @CsvSource({
        "status, not of the form NAME=VALUE: status",
        "color=red, 'no condition ''color'': there are status, host, cache, result, client, url, method, origin, type, slower'",
        "status=many, 'not a status such as 404, 5xx or 400-499: many'",
        "cache=warm, 'cache is hit, miss, error or other, not: warm'",
        "client=example.com, not an address or a range such as 10.0.0.0/8: example.com",
        "client=10.0.0.0/99, not a range such as 10.0.0.0/8: 10.0.0.0/99",
        "url=a(, 'not a regular expression: a( (Unclosed group at 3)'",
        "slower=soon, 'slower is a time such as 500ms or 2s, not: soon'"
    })
    void reportsTheProblem(String condition, String message) {
        assertEquals(
                message,
                assertThrows(IllegalArgumentException.class, () -> of(condition))
                        .getMessage());
    }
}
