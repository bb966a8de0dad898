package io.millrace.proxy.config.value;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class OpenFilesLimitTest {
    @ParameterizedTest
    @CsvSource({
        "1024, 1025, true",
        "1024, 1024, false",
        "unlimited, 10000000, false",
        "99999999999999999999, 10000000, false"
    })
    void connectionsAboveTheLimitAreReportedWithBothNumbers(String limit, int connections, boolean warns) {
        List<String> lines = List.of(
                "Limit                     Soft Limit           Hard Limit           Units     ",
                "Max processes             5                    5                    processes ",
                "Max open files            " + limit + "                 1048576              files     ");
        String warning = OpenFilesLimit.warning(connections, lines);
        assertEquals(warns, warning != null);
        if (warning != null) {
            assertTrue(warning.contains("1025") && warning.contains("1024"), warning);
            assertTrue(warning.contains("LimitNOFILE"), warning);
        }
    }

    @Test
    void noMessageWithAnUnknownLimit() {
        assertNull(OpenFilesLimit.warning(10_000_000, List.of("something else")));
    }

    /** No Linux system permits a process to open this many files. */
    @Test
    void tooLargeConfigurationGetsAWarning() {
        String warning = OpenFilesLimit.warning(Integer.MAX_VALUE);
        assertTrue(warning == null || warning.contains("ulimit -n"), warning);
    }
}
