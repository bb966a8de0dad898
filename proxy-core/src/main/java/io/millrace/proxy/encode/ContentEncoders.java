package io.millrace.proxy.encode;

import io.millrace.proxy.caching.settings.ContentCoding;
import java.io.IOException;
import java.io.OutputStream;
import java.util.zip.GZIPOutputStream;

/**
 * Creates encoders. Brotli and Zstandard need libraries that are optional dependencies of this module.
 *
 * <p>Thread-safe.
 */
public final class ContentEncoders {
    /** Window of 512 KiB in which encoders search for repetitions. Limits the memory of one encoder to a few MiB. */
    static final int WINDOW_BITS = 19;

    /** Window of 8 MiB, the limit in HTTP (RFC 9659). */
    static final int WINDOW_BITS_MAX = 23;

    private static final int BUFFER_BYTES = 16 * 1024;

    /** The highest levels that are quick enough for an event loop; see {@link #isQuick}. */
    private static final int BROTLI_LEVEL_QUICK = 6;

    private static final int ZSTD_LEVEL_QUICK = 9;

    /** The lowest levels that need {@link #PERMITS_LARGE} permits. */
    private static final int BROTLI_LEVEL_LARGE = 10;

    private static final int ZSTD_LEVEL_LARGE = 16;
    private static final int PERMITS_LARGE = 4;

    /** The least level of Zstandard whose tables are larger than the window. */
    static final int ZSTD_LEVEL_TABLES = 10;

    /** Limit of the tables of Zstandard below {@link #ZSTD_LEVEL_TABLES}. */
    private static final long ZSTD_TABLE_BYTES = 8 << 20;

    /** Two tables of 4 bytes for each position of the window, for the dictionary and again for the content. */
    private static final int ZSTD_TABLE_SHARE = 2 * 2 * 4;

    private ContentEncoders() {}

    /** Returns true if this process has an encoder for the coding. The first call loads its library. */
    public static boolean isAvailable(ContentCoding coding) {
        return switch (coding) {
            case GZIP -> true;
            case BROTLI, DICTIONARY_BROTLI -> Libraries.BROTLI;
            case ZSTD, DICTIONARY_ZSTD -> Libraries.ZSTD;
        };
    }

    /** Returns true if an encoder of this level needs at most about a millisecond for 16 KiB. */
    static boolean isQuick(ContentCoding coding, int level) {
        return switch (coding) {
            case GZIP -> true;
            case BROTLI -> level <= BROTLI_LEVEL_QUICK;
            case ZSTD -> level <= ZSTD_LEVEL_QUICK;
            // The search tables of the dictionary are built first, which takes longer.
            case DICTIONARY_BROTLI, DICTIONARY_ZSTD -> false;
        };
    }

    /**
     * Returns the number of permits of {@link EncoderThreads} that an encoder needs for its memory. Slow levels, and
     * Brotli with a dictionary, have up to 10 MiB of search tables; others have up to 4 MiB.
     */
    static int permits(ContentCoding coding, int level) {
        boolean isLarge =
                switch (coding) {
                    case GZIP -> false;
                    case BROTLI -> level >= BROTLI_LEVEL_LARGE;
                    case ZSTD -> level >= ZSTD_LEVEL_LARGE;
                    case DICTIONARY_BROTLI, DICTIONARY_ZSTD -> true;
                };
        return isLarge ? PERMITS_LARGE : 1;
    }

    /**
     * Returns the number of permits that an encoder with a dictionary needs for its memory. Brotli's tables of the
     * dictionary are not counted here: all encoders share the tables of {@link CompressionDictionary}. Zstandard copies
     * the dictionary and builds tables for each encoder.
     *
     * @param length bytes of the content; -1 if it is not known
     */
    static int permits(ContentCoding coding, int level, long dictionaryLength, long length) {
        int least = permits(coding, level);
        if (coding != ContentCoding.DICTIONARY_ZSTD) {
            return least;
        }
        long window = 1L << windowBits(dictionaryLength, length);
        long tables = level < ZSTD_LEVEL_TABLES ? ZSTD_TABLE_BYTES : window * ZSTD_TABLE_SHARE;
        return Math.max(least, EncoderThreads.permitsOf(dictionaryLength + window + tables));
    }

    /**
     * Returns the binary logarithm of the window of Zstandard with a dictionary. The encoder can use the dictionary
     * only for content within the first window. So the window is as long as the content, up to the limit that each
     * client accepts (RFC 9842 s5).
     *
     * @param length bytes of the content; -1 if it is not known, and is expected to be about as long as the dictionary
     */
    static int windowBits(long dictionaryLength, long length) {
        long bytes = length < 0 ? 2 * dictionaryLength : length;
        int bits = Long.SIZE - Long.numberOfLeadingZeros(Math.max(1, bytes - 1));
        return Math.max(WINDOW_BITS, Math.min(bits, WINDOW_BITS_MAX));
    }

    /** Returns the Maven coordinates of the library that a coding needs; empty for none. */
    public static String mavenCoordinates(ContentCoding coding) {
        return switch (coding) {
            case GZIP -> "";
            case BROTLI, DICTIONARY_BROTLI -> "com.aayushatharva.brotli4j:brotli4j";
            case ZSTD, DICTIONARY_ZSTD -> "com.github.luben:zstd-jni";
        };
    }

    /**
     * Creates an encoder with a dictionary.
     *
     * @param length bytes of the content; -1 if it is not known
     */
    static ContentEncoder create(ContentCoding coding, int level, CompressionDictionary dictionary, long length) {
        return new ContentEncoder(to -> dictionary.encoder(to, coding, level, length));
    }

    /** Creates an encoder. */
    static ContentEncoder create(ContentCoding coding, int level) {
        return new ContentEncoder(
                switch (coding) {
                    case GZIP -> to -> new Gzip(to, level);
                    case BROTLI -> to -> BrotliLibrary.encoder(to, level);
                    case ZSTD -> to -> ZstdLibrary.encoder(to, level);
                    case DICTIONARY_BROTLI, DICTIONARY_ZSTD ->
                        throw new IllegalArgumentException(coding + " needs a dictionary");
                });
    }

    /**
     * Records which libraries could be loaded. Each load catches errors, since the classes of a library may be missing.
     */
    private static final class Libraries {
        static final boolean BROTLI = isBrotliLoaded();
        static final boolean ZSTD = isZstdLoaded();

        private static boolean isBrotliLoaded() {
            try {
                return BrotliLibrary.isLoaded();
            } catch (LinkageError | RuntimeException e) {
                return false;
            }
        }

        private static boolean isZstdLoaded() {
            try {
                return ZstdLibrary.isLoaded();
            } catch (LinkageError | RuntimeException e) {
                return false;
            }
        }
    }

    private static final class Gzip extends GZIPOutputStream {
        Gzip(OutputStream to, int level) throws IOException {
            super(to, BUFFER_BYTES, true);
            def.setLevel(level);
        }

        /** Frees the memory even if the end of the content cannot be written. */
        @Override
        public void close() throws IOException {
            try {
                super.close();
            } finally {
                def.end();
            }
        }
    }
}
