package io.millrace.worker.traces;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.opentelemetry.proto.collector.trace.v1.ExportTracePartialSuccess;
import io.opentelemetry.proto.collector.trace.v1.ExportTraceServiceResponse;
import java.time.Instant;
import java.util.HexFormat;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests what the answers of collectors mean. */
class OtlpAnswerTest {
    @ParameterizedTest
    @CsvSource({
        "200, true, false",
        "202, true, false",
        "301, false, false",
        "400, false, false",
        "404, false, false",
        "413, false, false",
        "429, false, true",
        "500, false, false",
        "502, false, true",
        "503, false, true",
        "504, false, true"
    })
    void onlyFourStatusesAreRepeated(int status, boolean isSuccess, boolean isRetryable) {
        OtlpAnswer answer = new OtlpAnswer(status, -1, PartialSuccess.COMPLETE);
        assertEquals(isSuccess, answer.isSuccess());
        assertEquals(isRetryable, answer.isRetryable());
    }

    @ParameterizedTest
    @CsvSource({
        ", -1",
        "'', -1",
        "0, 0",
        "7, 7",
        "' 30 ', 30",
        "Thu, -1",
        "-1, -1",
        "1.5, -1",
        "99999999999999999999, -1",
        "'Thu, 01 Jan 1970 00:01:40 GMT', 100",
        "'Thu, 01 Jan 1970 00:00:00 GMT', 0"
    })
    void retryAfterHasSecondsOrADate(@Nullable String field, long seconds) {
        long nanos = OtlpAnswer.retryAfterNanos(field, Instant.EPOCH);
        assertEquals(seconds, nanos < 0 ? -1 : TimeUnit.NANOSECONDS.toSeconds(nanos));
    }

    @ParameterizedTest
    @CsvSource({
        "1, -1, 0, 800",
        "1, -1, 1, 1200",
        "2, -1, 0.5, 1500",
        "4, -1, 0.5, 3375",
        "9, -1, 0.5, 5000",
        "1, 0, 0, 0",
        "3, 20000, 0, 20000",
        "1, 3600000, 0, 60000"
    })
    void thePausesGrowUnlessTheCollectorAsks(int attempts, long askedMillis, double random, long millis) {
        long asked = askedMillis < 0 ? -1 : TimeUnit.MILLISECONDS.toNanos(askedMillis);
        assertEquals(millis, TimeUnit.NANOSECONDS.toMillis(OtlpRetry.delayNanos(attempts, asked, random)));
    }

    @ParameterizedTest
    @CsvSource({"0, ''", "0, slow down", "5, too old", "300, ''"})
    void aPartialSuccessIsDecoded(long rejected, String message) {
        ExportTraceServiceResponse answer = ExportTraceServiceResponse.newBuilder()
                .setPartialSuccess(ExportTracePartialSuccess.newBuilder()
                        .setRejectedSpans(rejected)
                        .setErrorMessage(message))
                .build();
        assertEquals(new PartialSuccess(rejected, message), PartialSuccess.decode(answer.toByteArray()));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"", "7b7d", "0a", "0aff", "0a05", "0affffffffffffffffffff", "0affffffff0f", "08", "0b0c", "1001"
            })
    void anotherContentIsACompleteSuccess(String hex) {
        assertEquals(
                PartialSuccess.COMPLETE, PartialSuccess.decode(HexFormat.of().parseHex(hex)));
    }

    @Test
    void aMessageIsOneShortLine() {
        ExportTraceServiceResponse answer = ExportTraceServiceResponse.newBuilder()
                .setPartialSuccess(ExportTracePartialSuccess.newBuilder().setErrorMessage("a\nb" + "c".repeat(1000)))
                .build();
        String message = PartialSuccess.decode(answer.toByteArray()).message();
        assertEquals("a b" + "c".repeat(197) + "...", message);
    }
}
