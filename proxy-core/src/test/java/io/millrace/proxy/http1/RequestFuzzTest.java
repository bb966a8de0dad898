package io.millrace.proxy.http1;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.code_intelligence.jazzer.junit.FuzzTest;
import io.millrace.proxy.FuzzInputs;
import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpDecoderConfig;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpRequestDecoder;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.util.ReferenceCountUtil;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/**
 * Fuzz test with arbitrary bytes from a client. The decoder never throws, and reads the bytes equally however they are
 * split. An accepted request is the one that Netty's decoder reads, with the same fields and content, and has an
 * unambiguous framing. Written out in the simplest form, it is read equally again.
 */
class RequestFuzzTest {
    private static final int LENGTH_MAX = 4096;
    /** Limit of tested positions in a long input; a short one is split at all positions. */
    private static final int CUTS_MAX = 300;

    @FuzzTest(maxDuration = "30s")
    void readsTheSameHoweverItIsCutAndAsNettyDoes(byte[] bytes) {
        if (bytes.length <= LENGTH_MAX) {
            check(bytes, 4);
        }
    }

    /** Runs the stored inputs, split at every position. */
    @TestFactory
    Stream<DynamicTest> keptInputsReadTheSameCutAnywhere() throws IOException {
        return FuzzInputs.of(getClass(), "readsTheSameHoweverItIsCutAndAsNettyDoes").entrySet().stream()
                .map(input -> DynamicTest.dynamicTest(input.getKey(), () -> check(input.getValue(), CUTS_MAX)));
    }

    private static void check(byte[] bytes, int cutsMax) {
        RequestTranscript whole = RequestTranscript.of(bytes);
        for (int[] cuts : RequestTranscript.cutsOf(bytes, cutsMax)) {
            String cut = RequestTranscript.of(bytes, cuts).toString();
            if (!cut.equals(whole.toString())) {
                assertEquals(whole.toString(), cut, () -> "cut at " + cuts[0] + (cuts.length > 1 ? " and so on" : ""));
            }
        }
        for (RequestTranscript.Read read : whole.requests()) {
            checkFields(read);
            checkRoundTrip(read);
        }
        List<String> netty = netty(bytes);
        for (int i = 0; i < whole.requests().size(); i++) {
            RequestTranscript.Read read = whole.requests().get(i);
            if (read.complete) {
                assertEquals(i < netty.size() ? netty.get(i) : "nothing", read.toString());
            }
        }
    }

    private static final Pattern FIELD =
            Pattern.compile("[!#$%&'*+.^_`|~0-9A-Za-z-]+: [^\\x00-\\x08\\x0a-\\x1f\\x7f]*");

    /** RFC 9110 s5.1, s5.5; RFC 9112 s3.2, s6.3. */
    private static void checkFields(RequestTranscript.Read read) {
        for (String field : read.fields) {
            assertTrue(FIELD.matcher(field).matches(), read::toString);
        }
        long hosts = count(read, "host");
        assertTrue(hosts == 1 || (hosts == 0 && read.line.endsWith(" HTTP/1.0")), read::toString);
        assertTrue(count(read, "content-length") + count(read, "transfer-encoding") <= 1, read::toString);
    }

    private static long count(RequestTranscript.Read read, String name) {
        return read.fields.stream()
                .filter(field -> field.toLowerCase(Locale.ROOT).startsWith(name + ":"))
                .count();
    }

    private static void checkRoundTrip(RequestTranscript.Read read) {
        String fields = read.fields.isEmpty() ? "" : String.join("\r\n", read.fields) + "\r\n";
        // Neither CONNECT's target nor an asterisk is a path; and a space after each colon may exceed a limit.
        if (!read.complete || !read.line.contains(" /") || fields.length() + 2 > RequestTranscript.FIELDS_MAX) {
            return;
        }
        String content = read.content.toString();
        if (count(read, "transfer-encoding") > 0) {
            String chunk = content.isEmpty() ? "" : Integer.toHexString(content.length()) + "\r\n" + content + "\r\n";
            content = chunk + "0\r\n\r\n";
        }
        // An empty Host is added to a target that names its host (RFC 9112 s3.2.2), as in the read request.
        boolean named = read.line.endsWith(" HTTP/1.1") && read.fields.stream().anyMatch("host: "::equalsIgnoreCase);
        String wire =
                (named ? read.line.replaceFirst(" /", " http://a/") : read.line) + "\r\n" + fields + "\r\n" + content;
        RequestTranscript again = RequestTranscript.of(wire.getBytes(StandardCharsets.ISO_8859_1));
        assertEquals("[" + read + "]", again.requests().toString());
    }

    /**
     * Returns Netty's result for the bytes, with any length: the proxy's limits are counted differently, for head and
     * trailers each.
     */
    private static List<String> netty(byte[] bytes) {
        EmbeddedChannel channel = new EmbeddedChannel(new HttpRequestDecoder(new HttpDecoderConfig()
                .setMaxInitialLineLength(LENGTH_MAX)
                .setMaxHeaderSize(LENGTH_MAX)
                .setStrictLineParsing(true)));
        channel.writeInbound(Unpooled.copiedBuffer(bytes));
        List<String> requests = new ArrayList<>();
        RequestTranscript.Read read = new RequestTranscript.Read();
        for (Object message = channel.readInbound(); message != null; message = channel.readInbound()) {
            if (message instanceof HttpRequest request) {
                read = new RequestTranscript.Read();
                read.line = request.method() + " " + pathAndQuery(request.uri()) + " HTTP/1."
                        + Math.min(1, request.protocolVersion().minorVersion());
                for (Map.Entry<String, String> field : request.headers()) {
                    read.fields.add(field.getKey() + ": " + field.getValue());
                }
            }
            if (message instanceof HttpContent content) {
                read.content.append(content.content().toString(StandardCharsets.ISO_8859_1));
            }
            if (message instanceof LastHttpContent last && !last.decoderResult().isFailure()) {
                read.complete = true;
                requests.add(read.toString());
            }
            ReferenceCountUtil.release(message);
        }
        channel.finishAndReleaseAll();
        return requests;
    }

    private static String pathAndQuery(String target) {
        int scheme = target.indexOf("://");
        if (target.startsWith("/") || scheme < 0) {
            // CONNECT's target is an authority, which has no path.
            return target.startsWith("/") || target.equals("*") ? target : "";
        }
        int path = scheme + 3;
        while (path < target.length() && target.charAt(path) != '/' && target.charAt(path) != '?') {
            path++;
        }
        String rest = target.substring(path);
        return rest.startsWith("/") ? rest : "/" + rest;
    }
}
