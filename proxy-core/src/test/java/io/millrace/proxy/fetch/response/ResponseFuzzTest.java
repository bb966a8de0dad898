package io.millrace.proxy.fetch.response;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.code_intelligence.jazzer.junit.FuzzTest;
import io.millrace.proxy.FuzzInputs;
import io.millrace.proxy.fetch.response.OriginResponseDecoder.BadResponse;
import io.millrace.proxy.fetch.response.OriginResponseDecoder.ReceivedHead;
import io.millrace.proxy.http.FieldName;
import io.millrace.proxy.http.FieldSection;
import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpDecoderConfig;
import io.netty.handler.codec.http.HttpMessage;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpResponseDecoder;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.util.ReferenceCountUtil;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/**
 * Fuzz test with arbitrary bytes from an origin. The lowest bit of the first byte selects HEAD. The decoder never
 * throws, and reads the bytes equally however they are split. A complete response has the announced content, is the
 * response that Netty's decoder reads, and has an unambiguous framing. Written out in the simplest form, it is read
 * equally again.
 */
class ResponseFuzzTest {
    private static final int LENGTH_MAX = 4096;
    /** Limit of tested positions in a long input; a short one is split at all positions. */
    private static final int CUTS_MAX = 300;

    private static final int HEAD_MAX = 1024;

    private record Read(List<String> heads, String content, String end, long length) {}

    @FuzzTest(maxDuration = "30s")
    void readsTheSameHoweverItIsCutAndAsNettyDoes(byte[] bytes) {
        if (bytes.length > 0 && bytes.length <= LENGTH_MAX) {
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
        boolean toHead = (bytes[0] & 1) == 1;
        Read whole = read(bytes, toHead);
        int places = Math.max(0, bytes.length - 2);
        Random random = new Random(Arrays.hashCode(bytes));
        for (int i = 0; i < Math.min(cutsMax, places); i++) {
            int cut = 2 + (places <= cutsMax ? i : random.nextInt(places));
            assertEquals(whole, read(bytes, toHead, cut), () -> "cut at " + cut);
        }
        int[] all = new int[Math.max(0, bytes.length - 2)];
        Arrays.setAll(all, i -> i + 2);
        assertEquals(whole, read(bytes, toHead, all));
        if (whole.end.equals("complete")) {
            assertTrue(whole.length < 0 || toHead || whole.content.length() == whole.length, whole::toString);
            assertEquals(netty(bytes, toHead), whole.heads + " '" + whole.content + "'");
            checkRoundTrip(whole, toHead);
        }
    }

    private static void checkRoundTrip(Read read, boolean toHead) {
        String last = read.heads.get(read.heads.size() - 1);
        int status = Integer.parseInt(last.substring(0, 3));
        String fields = last.substring(3);
        boolean empty = toHead || status == 204 || status == 304;
        boolean chunked = !empty && read.length < 0;
        String content = read.content;
        if (chunked) {
            String chunk = content.isEmpty() ? "" : Integer.toHexString(content.length()) + "\r\n" + content + "\r\n";
            content = chunk + "0\r\n\r\n";
        }
        String head =
                "HTTP/1.1 " + status + " " + fields + (chunked ? "\r\nTransfer-Encoding: chunked" : "") + "\r\n\r\n";
        if (head.length() > HEAD_MAX) {
            // Optional white space is present now.
            return;
        }
        Read again = read(("x" + head + content).getBytes(StandardCharsets.ISO_8859_1), toHead);
        assertEquals(List.of(last), again.heads);
        assertEquals(read.content, again.content);
        assertEquals("complete", again.end);
    }

    /** Reads one response from pieces that end at these positions, and the connection's end. */
    private static Read read(byte[] bytes, boolean toHead, int... cuts) {
        OriginResponseDecoder decoder = new OriginResponseDecoder();
        EmbeddedChannel channel = new EmbeddedChannel(decoder);
        decoder.expectResponse(toHead, false, null, HEAD_MAX);
        List<String> heads = new ArrayList<>();
        StringBuilder content = new StringBuilder();
        String[] end = {"nothing"};
        long[] length = {-1};
        int from = 1;
        for (int i = 0; i <= cuts.length; i++) {
            int to = i < cuts.length ? cuts[i] : bytes.length;
            if (to > from) {
                channel.writeInbound(Unpooled.copiedBuffer(bytes, from, to - from));
            }
            from = to;
            take(channel, heads, content, end, length);
        }
        channel.finish();
        take(channel, heads, content, end, length);
        channel.releaseOutbound();
        return new Read(heads, content.toString(), end[0], length[0]);
    }

    private static void take(
            EmbeddedChannel channel, List<String> heads, StringBuilder content, String[] end, long[] length) {
        for (Object message = channel.readInbound(); message != null; message = channel.readInbound()) {
            // Bytes after a complete response only cause the close of the connection.
            if (end[0].equals("complete")) {
                ReferenceCountUtil.release(message);
                continue;
            }
            if (message instanceof ReceivedHead received) {
                FieldSection fields = received.head().fields();
                StringBuilder head = new StringBuilder(received.head().status() + "");
                for (int line = 0; line < fields.size(); line++) {
                    field(head, fields.name(line), fields.value(line));
                }
                heads.add(head.toString());
                boolean both =
                        fields.contains(FieldName.CONTENT_LENGTH) && fields.contains(FieldName.TRANSFER_ENCODING);
                assertFalse(both && received.framing().kind() != ResponseFraming.Kind.NONE, head::toString);
                length[0] =
                        received.head().isInterim() ? -1 : received.framing().contentLength();
            } else if (message instanceof BadResponse bad) {
                // The reason may be reported at another byte, but the response must be refused in each case.
                end[0] = bad.problem().isEmpty() ? "no reason" : "bad";
            } else if (message instanceof HttpContent piece) {
                content.append(piece.content().toString(StandardCharsets.ISO_8859_1));
                if (message instanceof LastHttpContent) {
                    end[0] = "complete";
                }
            }
            ReferenceCountUtil.release(message);
        }
    }

    /**
     * Netty removes Transfer-Encoding from heads of responses without content; the splitting of the content shows it
     * anyway.
     */
    private static void field(StringBuilder head, String name, String value) {
        if (!name.equalsIgnoreCase("transfer-encoding")) {
            head.append("\r\n").append(name).append(": ").append(value);
        }
    }

    private static String netty(byte[] bytes, boolean toHead) {
        EmbeddedChannel channel = new EmbeddedChannel(
                new HttpResponseDecoder(new HttpDecoderConfig()
                        .setMaxInitialLineLength(HEAD_MAX)
                        .setMaxHeaderSize(HEAD_MAX)) {
                    @Override
                    protected boolean isContentAlwaysEmpty(HttpMessage message) {
                        return toHead || super.isContentAlwaysEmpty(message);
                    }
                });
        channel.writeInbound(Unpooled.copiedBuffer(bytes, 1, bytes.length - 1));
        channel.finish();
        List<String> heads = new ArrayList<>();
        StringBuilder content = new StringBuilder();
        boolean over = false;
        boolean interim = false;
        for (Object message = channel.readInbound(); message != null; message = channel.readInbound()) {
            if (!over && message instanceof HttpResponse response) {
                interim = response.status().code() < 200;
                StringBuilder head = new StringBuilder(response.status().code() + "");
                for (Map.Entry<String, String> field : response.headers()) {
                    field(head, field.getKey(), field.getValue());
                }
                heads.add(head.toString());
            }
            if (!over && !interim && message instanceof HttpContent piece) {
                content.append(piece.content().toString(StandardCharsets.ISO_8859_1));
                over = message instanceof LastHttpContent;
            }
            ReferenceCountUtil.release(message);
        }
        return heads + " '" + content + "'";
    }
}
