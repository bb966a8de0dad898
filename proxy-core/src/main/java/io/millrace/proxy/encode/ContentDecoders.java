package io.millrace.proxy.encode;

import io.millrace.proxy.caching.settings.ContentCoding;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.zip.GZIPInputStream;
import org.jspecify.annotations.Nullable;

/**
 * Decodes stored content, so that it can be encoded in another coding.
 *
 * <p>Thread-safe: no state.
 */
public final class ContentDecoders {
    private static final int BUFFER_BYTES = 16 * 1024;

    private ContentDecoders() {}

    /**
     * Returns the decoded content. Slow: must be called on an encoder thread.
     *
     * @param coding the coding of the content; null for none
     * @param content borrowed
     * @param bytesMax limit of the decoded content
     * @return null if the decoded content is longer; the caller releases the buffer
     * @throws IOException if the content is not valid in the coding
     */
    public static @Nullable ByteBuf decode(@Nullable ContentCoding coding, ByteBuf content, int bytesMax)
            throws IOException {
        if (coding == null) {
            return content.readableBytes() > bytesMax ? null : content.retainedDuplicate();
        }
        requireLibrary(coding);
        return decoded(decoder(coding, new ByteBufInputStream(content)), content, bytesMax);
    }

    /**
     * Returns the decoded content of a coding with a dictionary. Slow: must be called on an encoder thread.
     *
     * @param content borrowed, with its header
     * @return null if the decoded content is longer; the caller releases the buffer
     * @throws IOException if the content is not valid in the coding
     */
    public static @Nullable ByteBuf decode(
            ContentCoding coding, CompressionDictionary dictionary, ByteBuf content, int bytesMax) throws IOException {
        requireLibrary(coding);
        ByteBuf stream = content.slice().skipBytes(CompressionDictionary.headerBytes(coding));
        return decoded(dictionary.decoder(coding, new ByteBufInputStream(stream)), content, bytesMax);
    }

    /**
     * Returns the decoded content; null if it is longer than the limit. Always closes the decoder, since decoders have
     * memory outside the Java heap.
     */
    static @Nullable ByteBuf decoded(InputStream decoder, ByteBuf content, int bytesMax) throws IOException {
        try (InputStream from = decoder) {
            ByteBuf decoded = content.alloc().directBuffer((int) Math.min(bytesMax, content.readableBytes() * 4L + 64));
            boolean complete = false;
            try {
                complete = copy(from, decoded, bytesMax);
            } finally {
                if (!complete) {
                    decoded.release();
                }
            }
            return complete ? decoded : null;
        }
    }

    /** Returns false if there are more bytes than the limit. */
    private static boolean copy(InputStream from, ByteBuf to, int bytesMax) throws IOException {
        byte[] part = new byte[BUFFER_BYTES];
        int length;
        while ((length = from.read(part)) >= 0) {
            if (length > bytesMax - to.readableBytes()) {
                return false;
            }
            to.writeBytes(part, 0, length);
        }
        return true;
    }

    private static void requireLibrary(ContentCoding coding) throws IOException {
        if (!ContentEncoders.isAvailable(coding)) {
            throw new IOException("this process has no library for " + coding.token());
        }
    }

    private static InputStream decoder(ContentCoding coding, InputStream from) throws IOException {
        return switch (coding) {
            case GZIP -> new GZIPInputStream(from, BUFFER_BYTES);
            case BROTLI -> BrotliLibrary.decoder(from);
            case ZSTD -> ZstdLibrary.decoder(from);
            case DICTIONARY_BROTLI, DICTIONARY_ZSTD -> throw new IOException(coding + " needs a dictionary");
        };
    }
}
