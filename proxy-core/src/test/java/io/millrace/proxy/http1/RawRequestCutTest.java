package io.millrace.proxy.http1;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.RawRequests;
import java.nio.charset.StandardCharsets;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/** Tests that the result of a request does not depend on the positions at which it is split. */
class RawRequestCutTest {
    private static final int BYTES_MAX = 1000;

    @TestFactory
    Stream<DynamicTest> refusedCutAnywhere() {
        return RawRequests.refused()
                .filter(each -> each.wire().length() <= BYTES_MAX)
                .map(each -> DynamicTest.dynamicTest(each.name(), () -> {
                    RequestTranscript read = readCutAnywhere(each.wire());
                    assertTrue(read.requests().stream().noneMatch(one -> one.complete), read::toString);
                    assertTrue(each.halfClose() || read.toString().contains("ed "), read::toString);
                }));
    }

    @TestFactory
    Stream<DynamicTest> takenCutAnywhere() {
        return RawRequests.accepted().stream()
                .map(each -> DynamicTest.dynamicTest(each.name(), () -> {
                    RequestTranscript read = readCutAnywhere(each.wire());
                    assertEquals(1, read.requests().size(), read::toString);
                    assertTrue(read.requests().get(0).toString().endsWith(" 'hello'"), read::toString);
                }));
    }

    private static RequestTranscript readCutAnywhere(String wire) {
        byte[] bytes = wire.getBytes(StandardCharsets.ISO_8859_1);
        RequestTranscript whole = RequestTranscript.of(bytes);
        for (int[] cuts : RequestTranscript.cutsOf(bytes, bytes.length)) {
            assertEquals(whole.toString(), RequestTranscript.of(bytes, cuts).toString(), () -> "cut at " + cuts[0]);
        }
        return whole;
    }
}
