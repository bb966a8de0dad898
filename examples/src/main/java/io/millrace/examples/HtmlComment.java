package io.millrace.examples;

import io.millrace.proxy.spi.BodyTransformHook;
import io.millrace.proxy.spi.Extension;
import io.millrace.proxy.spi.ExtensionConfigException;
import io.millrace.proxy.spi.ExtensionContext;
import io.millrace.proxy.spi.OriginResponseView;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * Inserts a comment before {@code </body>} of HTML pages, or at their end. The changed page is stored, so that each
 * page is changed once.
 *
 * <p>Thread-safe.
 */
public final class HtmlComment implements Extension, BodyTransformHook {
    private static final byte[] END_TAG = "</body>".getBytes(StandardCharsets.US_ASCII);
    private static final int OK = 200;

    private byte[] comment = {};

    /** Creates an extension that is not open. */
    public HtmlComment() {}

    @Override
    public int apiVersion() {
        return Extension.API_VERSION;
    }

    @Override
    public String name() {
        return "html-comment";
    }

    @Override
    public String version() {
        return "1";
    }

    @Override
    public void open(ExtensionContext context) throws ExtensionConfigException {
        String text = context.config().text("text");
        if (text.contains("--") || text.startsWith(">") || text.endsWith("-")) {
            throw context.config()
                    .problem("text", "cannot be part of a comment: it contains --, begins with > or ends with -");
        }
        context.config().rejectOtherKeys();
        comment = ("<!-- " + text + " -->").getBytes(StandardCharsets.UTF_8);
    }

    @Override
    public @Nullable Transform bodyTransform(OriginResponseView response) {
        String type = response.fields().get("Content-Type");
        boolean isHtml = type != null && type.toLowerCase(Locale.ROOT).startsWith("text/html");
        return response.status() == OK && isHtml ? new Insertion(comment) : null;
    }

    /** The transformation of one page. Holds back the bytes at the end of a chunk that may begin the end tag. */
    private static final class Insertion implements Transform {
        private final byte[] comment;
        private byte[] held = {};
        private boolean inserted;

        Insertion(byte[] comment) {
            this.comment = comment;
        }

        @Override
        public void chunk(ByteBuffer in, Output out) {
            if (inserted) {
                out.write(in);
                return;
            }
            byte[] bytes = Arrays.copyOf(held, held.length + in.remaining());
            in.get(bytes, held.length, in.remaining());
            int tag = find(bytes);
            inserted = tag >= 0;
            int end = inserted ? tag : bytes.length - Math.min(bytes.length, END_TAG.length - 1);
            out.write(ByteBuffer.wrap(bytes, 0, end));
            if (inserted) {
                out.write(ByteBuffer.wrap(comment));
                out.write(ByteBuffer.wrap(bytes, end, bytes.length - end));
                held = new byte[0];
            } else {
                held = Arrays.copyOfRange(bytes, end, bytes.length);
            }
        }

        /** Returns the index of the end tag, in upper or lower case; -1 if there is none. */
        private static int find(byte[] bytes) {
            for (int i = 0; i + END_TAG.length <= bytes.length; i++) {
                int matched = 0;
                while (matched < END_TAG.length && lower(bytes[i + matched]) == END_TAG[matched]) {
                    matched++;
                }
                if (matched == END_TAG.length) {
                    return i;
                }
            }
            return -1;
        }

        private static byte lower(byte letter) {
            return letter >= 'A' && letter <= 'Z' ? (byte) (letter + ('a' - 'A')) : letter;
        }

        @Override
        public void end(Output out) {
            if (!inserted) {
                out.write(ByteBuffer.wrap(held));
                out.write(ByteBuffer.wrap(comment));
            }
        }
    }
}
