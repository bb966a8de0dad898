package io.millrace.proxy.http2;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.code_intelligence.jazzer.junit.FuzzTest;
import io.millrace.proxy.FuzzInputs;
import io.millrace.proxy.http.FieldName;
import io.millrace.proxy.http.FieldSection;
import io.millrace.proxy.http.RequestHead;
import io.millrace.proxy.http.TargetUri;
import io.millrace.proxy.http2.frame.ErrorCode;
import io.millrace.proxy.http2.frame.Http2Exception;
import io.millrace.proxy.http2.hpack.HpackDecoder;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/**
 * Fuzz test with arbitrary field blocks of one connection, each preceded by two bytes of length. The decoder throws
 * only its own exception. An accepted request has valid fields of RFC 9110 without connection-specific ones, one host,
 * and at most one length. Encoded in the simplest form, it is read equally again.
 */
class FieldBlockFuzzTest {
    private static final int LENGTH_MAX = 4096;
    private static final int LIST_MAX = 2048;
    private static final Pattern FIELD = Pattern.compile("[!#$%&'*+.^_`|~0-9a-z-]+: [^\\x00\\r\\n]*");

    @FuzzTest(maxDuration = "30s")
    void requestsAreUnambiguous(byte[] bytes) {
        if (bytes.length <= LENGTH_MAX) {
            check(bytes);
        }
    }

    /** Runs the stored inputs. */
    @TestFactory
    Stream<DynamicTest> keptInputsAreUnambiguous() throws IOException {
        return FuzzInputs.of(getClass(), "requestsAreUnambiguous").entrySet().stream()
                .map(input -> DynamicTest.dynamicTest(input.getKey(), () -> check(input.getValue())));
    }

    /** Checks blocks of one connection, each preceded by two bytes of length. */
    private static void check(byte[] bytes) {
        HpackDecoder hpack = new HpackDecoder();
        RequestFields fields = new RequestFields();
        try {
            int at = 0;
            while (at + 2 <= bytes.length) {
                int length = Math.min(((bytes[at] & 0xff) << 8) | (bytes[at + 1] & 0xff), bytes.length - at - 2);
                at += 2;
                RequestHead head = decode(hpack, fields, bytes, at, at + length);
                if (head != null) {
                    checkFields(head, fields.isExtendedConnect());
                    checkOwned(fields, head);
                    if (!fields.isExtendedConnect()) {
                        checkRoundTrip(head);
                    }
                }
                at += length;
            }
        } catch (Http2Exception e) {
            assertEquals(ErrorCode.COMPRESSION_ERROR, e.code());
            assertEquals(Http2Exception.CONNECTION, e.streamId());
        }
    }

    private static @Nullable RequestHead decode(HpackDecoder hpack, RequestFields fields, byte[] in, int from, int to)
            throws Http2Exception {
        fields.begin(LIST_MAX, false);
        hpack.decode(in, from, to, fields);
        return fields.isTooLarge() ? null : fields.head(false);
    }

    private static void checkFields(RequestHead head, boolean handshake) {
        FieldSection fields = head.fields();
        for (int line = 0; line < fields.size(); line++) {
            String text = fields.name(line) + ": " + fields.value(line);
            assertTrue(FIELD.matcher(text).matches(), text);
        }
        assertEquals(1, count(fields, FieldName.HOST), fields::toString);
        assertTrue(count(fields, FieldName.CONTENT_LENGTH) <= 1, fields::toString);
        for (FieldName name : List.of(
                FieldName.CONNECTION,
                FieldName.TRANSFER_ENCODING,
                FieldName.KEEP_ALIVE,
                FieldName.PROXY_CONNECTION,
                FieldName.UPGRADE)) {
            boolean ofHandshake = handshake && (name.equals(FieldName.CONNECTION) || name.equals(FieldName.UPGRADE));
            assertEquals(ofHandshake ? 1 : 0, count(fields, name), fields::toString);
        }
        String target = head.target().toString();
        assertTrue(target.chars().allMatch(c -> c > ' ' && c != 0x7f), target);
        assertTrue(head.methodName().matches("[!#$%&'*+.^_`|~0-9A-Za-z-]+"), head::methodName);
    }

    private static int count(FieldSection fields, FieldName name) {
        int count = 0;
        for (int line = fields.find(name); line >= 0; line = fields.next(name, line)) {
            count++;
        }
        return count;
    }

    private static void checkOwned(RequestFields fields, RequestHead head) {
        RequestHead owned = fields.withOwnBytes(head);
        assertEquals(head.fields().toString(), owned.fields().toString());
        assertEquals(head.methodName(), owned.methodName());
    }

    private static void checkRoundTrip(RequestHead head) throws Http2Exception {
        TargetUri target = head.target();
        if (target.form() != TargetUri.Form.ORIGIN) {
            return;
        }
        FieldSection fields = head.fields();
        List<String> plain = new ArrayList<>(List.of(":method", head.methodName(), ":scheme", target.scheme()));
        plain.addAll(List.of(":path", target.pathAndQuery()));
        for (int line = 0; line < fields.size(); line++) {
            plain.add(fields.name(line).toLowerCase(Locale.ROOT));
            plain.add(fields.value(line));
        }
        byte[] block = Http2Client.block(plain.toArray(String[]::new));
        RequestFields again = new RequestFields();
        again.begin(64 * 1024, false);
        new HpackDecoder().decode(block, 0, block.length, again);
        RequestHead same = again.head(false);
        assertNotNull(same, () -> plain + ": " + again.malformed());
        assertEquals(text(head), text(same));
    }

    private static String text(RequestHead head) {
        byte[] bytes = (head + "\n" + head.fields()).getBytes(StandardCharsets.ISO_8859_1);
        return new String(bytes, StandardCharsets.ISO_8859_1);
    }
}
