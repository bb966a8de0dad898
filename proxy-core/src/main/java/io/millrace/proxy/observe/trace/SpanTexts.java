package io.millrace.proxy.observe.trace;

import io.millrace.proxy.observe.CacheResult;
import io.millrace.proxy.observe.log.LogField;
import io.millrace.proxy.observe.log.LoggedRecord;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** The constant texts of spans as bytes. Stateless. The arrays must not be changed. */
final class SpanTexts {
    static final byte[] HTTP = bytes("http");
    static final byte[] HTTPS = bytes("https");
    static final byte[] RAM = bytes("ram");
    static final byte[] DISK = bytes("disk");
    static final byte[] OTHER_METHOD = bytes("_OTHER");
    /** The name of the span of a request whose method is not known. */
    static final byte[] OTHER_NAME = bytes("HTTP");

    /**
     * The methods that the OpenTelemetry semantic conventions list as known (RFC 9110 and PATCH), the most frequent
     * ones first.
     */
    private static final byte[][] METHODS = {
        bytes("GET"),
        bytes("HEAD"),
        bytes("POST"),
        bytes("OPTIONS"),
        bytes("PUT"),
        bytes("DELETE"),
        bytes("PATCH"),
        bytes("CONNECT"),
        bytes("TRACE")
    };

    private static final byte[] VERSION_1_0 = bytes("1.0");
    private static final byte[] VERSION_1_1 = bytes("1.1");
    private static final byte[] VERSION_2 = bytes("2");
    private static final byte[] VERSION_3 = bytes("3");
    private static final byte[][] RESULTS = results();

    private SpanTexts() {}

    static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.ISO_8859_1);
    }

    @SuppressWarnings("EnumOrdinal") // used only within the process: nothing depends on the order of the constants
    private static byte[][] results() {
        CacheResult[] all = CacheResult.values();
        byte[][] words = new byte[all.length][];
        for (CacheResult each : all) {
            words[each.ordinal()] = bytes(each.word());
        }
        return words;
    }

    @SuppressWarnings("EnumOrdinal") // for the reason, see the method results()
    static byte[] of(CacheResult result) {
        return RESULTS[result.ordinal()];
    }

    /** Returns the method of a record; null if it is absent or not a known one. */
    static byte @Nullable [] method(LoggedRecord logged) {
        int from = logged.textStart(LogField.METHOD);
        int length = logged.textLength(LogField.METHOD);
        for (byte[] method : METHODS) {
            if (method.length == length && Arrays.equals(method, 0, length, logged.bytes(), from, from + length)) {
                return method;
            }
        }
        return null;
    }

    static byte[] version(int major, int minor) {
        return switch (major) {
            case 1 -> minor == 0 ? VERSION_1_0 : VERSION_1_1;
            case 2 -> VERSION_2;
            default -> VERSION_3;
        };
    }
}
