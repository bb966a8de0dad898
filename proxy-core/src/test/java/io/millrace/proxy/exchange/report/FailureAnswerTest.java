package io.millrace.proxy.exchange.report;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.fetch.OriginFailure.Reason;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** Tests the responses to clients after failed requests to an origin. */
class FailureAnswerTest {
    @ParameterizedTest
    @CsvSource({
        "QUEUE_FULL, 503, too many requests wait for the origin: queue-full",
        "NONE_UP, 503, no host of the origin is up: no-origin-up",
        "MEMORY, 503, this proxy is short of memory: memory-full",
        "CONNECT_REFUSED, 502, no connection to the origin could be made: connect-refused",
        "RESET, 502, the origin gave no complete answer: reset",
        "FIRST_BYTE_TIMEOUT, 504, the origin gave no complete answer: first-byte-timeout"
    })
    void textNamesTheFailure(Reason reason, int status, String text) {
        assertEquals(status, FailureAnswer.status(reason));
        assertEquals(text, FailureAnswer.text(reason));
    }

    @ParameterizedTest
    @EnumSource(Reason.class)
    void failuresOfThisProxyAreNotAttributedToTheOrigin(Reason reason) {
        String text = FailureAnswer.text(reason);
        assertTrue(text.endsWith(": " + reason.text()), text);
        assertFalse(reason.isUnavailable() && text.contains("the origin gave"), text);
    }
}
