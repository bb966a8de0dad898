package io.millrace.proxy.caching.storing;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.caching.Heads;
import io.millrace.proxy.caching.LifetimeRules;
import io.millrace.proxy.caching.settings.StatusSet;
import io.millrace.proxy.http.RequestHead;
import java.util.Collections;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RequestErrorsTest {
    private static boolean isOne(RequestHead request, int status) {
        return RequestErrors.isRequestError(
                request, status, new LifetimeRules.NegativeCaching(false, 60, StatusSet.of(status)));
    }

    private static RequestHead withBytes(int bytes) {
        int rest = bytes - Heads.get("X: ").fields().wireLength();
        RequestHead request = Heads.get("X: " + "a".repeat(rest));
        assertEquals(bytes, request.fields().wireLength());
        return request;
    }

    private static RequestHead withLines(int lines) {
        return Heads.get(Collections.nCopies(lines, "X: a").toArray(String[]::new));
    }

    @Test
    void anyErrorToMoreThanOrdinaryBytes() {
        assertFalse(isOne(withBytes(RequestErrors.ORDINARY_BYTES_MAX), 400));
        assertTrue(isOne(withBytes(RequestErrors.ORDINARY_BYTES_MAX + 1), 400));
        assertTrue(isOne(withBytes(RequestErrors.ORDINARY_BYTES_MAX + 1), 404));
        assertFalse(isOne(withBytes(RequestErrors.ORDINARY_BYTES_MAX + 1), 302));
    }

    @Test
    void anyErrorToMoreThanOrdinaryLines() {
        assertFalse(isOne(withLines(RequestErrors.ORDINARY_LINES_MAX), 500));
        assertTrue(isOne(withLines(RequestErrors.ORDINARY_LINES_MAX + 1), 500));
    }

    @ParameterizedTest
    @ValueSource(strings = {"X: caf\u00e9", "X: \u0080", "X: \u00ff"})
    void anyErrorToBytesThatAreNotVisibleAscii(String line) {
        assertTrue(isOne(Heads.get(line), 404));
        assertFalse(isOne(Heads.get(line), 200));
    }

    @Test
    void tabAndSpaceAndEveryVisibleCharacterAreOrdinary() {
        StringBuilder all = new StringBuilder("X: a\t");
        for (char c = ' '; c <= '~'; c++) {
            all.append(c);
        }
        assertFalse(isOne(Heads.get(all.toString()), 404));
    }

    @ParameterizedTest
    @ValueSource(ints = {428, 429, 431, 511})
    void statusCodesThatMustNotBeStored_rfc6585_s3(int status) {
        assertTrue(isOne(Heads.get(), status));
    }

    /** A status that an operator lists concerns the URL, unless the request is unusual. */
    @Test
    void statusThatAnOperatorNames() {
        LifetimeRules.NegativeCaching named = new LifetimeRules.NegativeCaching(true, 60, StatusSet.of(413, 404));
        assertFalse(RequestErrors.isRequestError(Heads.get(), 413, named));
        assertTrue(RequestErrors.isRequestError(Heads.get(), 431, named));
        assertTrue(RequestErrors.isRequestError(withLines(65), 413, named));
        assertTrue(RequestErrors.isRequestError(withLines(65), 404, named));
    }

    @ParameterizedTest
    @ValueSource(ints = {200, 304, 400, 403, 404, 405, 410, 414, 451, 499, 500, 501, 502, 503, 504, 599})
    void statusCodesThatAreAboutTheUrlOrTheServer(int status) {
        assertFalse(isOne(Heads.get(), status));
    }
}
