package io.millrace.proxy.encode;

import io.millrace.proxy.caching.settings.ContentCoding;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.Base64;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * The content of a dictionary (RFC 9842), and its hash. Brotli's search tables are built once, at the first use, and
 * are freed with this object. Content that was encoded with a dictionary begins with a header:
 *
 * <pre>
 * dcb  ff 44 43 42              SHA-256 of the dictionary (32 bytes)   Brotli stream
 * dcz  5e 2a 4d 18 20 00 00 00  SHA-256 of the dictionary (32 bytes)   Zstandard frames
 * </pre>
 *
 * <p>Thread-safe.
 */
public final class CompressionDictionary {
    /** Least length: libraries ignore shorter dictionaries. */
    public static final int BYTES_MIN = 64;

    /** Bytes of memory of each response with the content: its head, URL and terms. */
    public static final int RESPONSE_BYTES = 4096;

    /** Bytes of a hash. */
    public static final int HASH_BYTES = 32;

    /**
     * Memory of a dictionary in bytes, for each byte of its content: one in the Java heap and one outside of it, and
     * four in the tables of Brotli.
     */
    private static final int MEMORY_FACTOR = 6;

    /**
     * Bytes of Brotli's smallest hash table: 2^17 buckets of two bytes. Above 2 MiB the table grows with the content.
     */
    private static final int TABLE_BYTES_MIN = 256 * 1024;

    /** Bytes of content for each bucket of the hash table of Brotli. */
    private static final int TABLE_SHARE = 8;

    private static final byte[] BROTLI_MAGIC = {(byte) 0xff, 0x44, 0x43, 0x42};
    private static final byte[] ZSTD_MAGIC = {0x5e, 0x2a, 0x4d, 0x18, 0x20, 0, 0, 0};

    /**
     * First bytes of a dictionary in Zstandard's own format. The library would interpret such content in that format.
     */
    private static final byte[] TRAINED_MAGIC = {0x37, (byte) 0xa4, 0x30, (byte) 0xec};

    private final byte[] bytes;
    private final byte[] hash;
    private final String hashText;
    private final ReentrantLock preparing = new ReentrantLock();
    private volatile @Nullable Object brotli;

    private CompressionDictionary(byte[] bytes, byte[] hash) {
        this.bytes = bytes;
        this.hash = hash;
        this.hashText = hashText(hash);
    }

    /**
     * Creates a dictionary. Computes the hash: do not call this on an event loop for long content.
     *
     * @param bytes the content without a coding; taken over
     * @return null if the content cannot be used as a raw dictionary
     */
    public static @Nullable CompressionDictionary of(byte[] bytes) {
        if (bytes.length < BYTES_MIN || startsWith(bytes, TRAINED_MAGIC)) {
            return null;
        }
        try {
            return new CompressionDictionary(
                    bytes, MessageDigest.getInstance("SHA-256").digest(bytes));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("this Java runtime has no SHA-256", e);
        }
    }

    /** Returns the hash in the format of the field Available-Dictionary: a byte sequence of RFC 9651. */
    public String hashText() {
        return hashText;
    }

    /** Returns a hash in the format of the field Available-Dictionary. */
    public static String hashText(byte[] hash) {
        return ":" + Base64.getEncoder().encodeToString(hash) + ":";
    }

    /**
     * Returns the hash in the header of encoded content, in the format of the field Available-Dictionary.
     *
     * @param header the first bytes of the content
     * @return null if these bytes are not a header of the coding
     */
    public static @Nullable String hashIn(ContentCoding coding, byte[] header) {
        byte[] magic = magic(coding);
        int end = magic.length + HASH_BYTES;
        return header.length >= end && startsWith(header, magic)
                ? hashText(Arrays.copyOfRange(header, magic.length, end))
                : null;
    }

    /** Returns the number of bytes before the compressed stream. */
    public static int headerBytes(ContentCoding coding) {
        return magic(coding).length + HASH_BYTES;
    }

    /** Length of the content in bytes. */
    public int length() {
        return bytes.length;
    }

    /** Upper bound of the memory that the dictionary uses, in bytes. */
    public long memoryBytes() {
        return memoryBytes(bytes.length);
    }

    /**
     * Returns an upper bound of the memory that a dictionary uses, in bytes.
     *
     * @param length bytes of its content
     */
    public static long memoryBytes(long length) {
        return length * MEMORY_FACTOR + Math.max(TABLE_BYTES_MIN, length / TABLE_SHARE * 2);
    }

    private static byte[] magic(ContentCoding coding) {
        return switch (coding) {
            case DICTIONARY_BROTLI -> BROTLI_MAGIC;
            case DICTIONARY_ZSTD -> ZSTD_MAGIC;
            case BROTLI, ZSTD, GZIP -> throw new IllegalArgumentException(coding + " has no dictionary");
        };
    }

    private static boolean startsWith(byte[] bytes, byte[] prefix) {
        return Arrays.mismatch(bytes, 0, Math.min(bytes.length, prefix.length), prefix, 0, prefix.length) < 0;
    }

    /**
     * Returns an encoder that writes the header first.
     *
     * @param length bytes of the content; -1 if it is not known
     */
    OutputStream encoder(OutputStream to, ContentCoding coding, int level, long length) throws IOException {
        to.write(magic(coding), 0, magic(coding).length);
        to.write(hash, 0, hash.length);
        return coding == ContentCoding.DICTIONARY_BROTLI
                ? BrotliLibrary.encoder(to, level, prepared())
                : ZstdLibrary.encoder(to, level, bytes, length);
    }

    /** Returns a decoder of the stream after the header. */
    InputStream decoder(ContentCoding coding, InputStream from) throws IOException {
        return coding == ContentCoding.DICTIONARY_BROTLI
                ? BrotliLibrary.decoder(from, direct())
                : ZstdLibrary.decoder(from, bytes);
    }

    /** Returns Brotli's tables. Threads that need the tables at the same time wait for the thread that builds them. */
    private Object prepared() {
        Object present = brotli;
        if (present != null) {
            return present;
        }
        preparing.lock();
        try {
            present = brotli;
            if (present == null) {
                present = BrotliLibrary.prepare(direct());
                brotli = present;
            }
            return present;
        } finally {
            preparing.unlock();
        }
    }

    private ByteBuffer direct() {
        return ByteBuffer.allocateDirect(bytes.length).put(bytes).flip();
    }
}
