package io.millrace.proxy.config.cache;

import io.millrace.proxy.config.key.ConfigKey;
import io.millrace.proxy.config.key.ValueType;
import java.util.List;

/** Configuration keys for compression of responses. Remap rules can override all except the memory limit. */
public final class CompressionKeys {
    /** Path of the section. If it is present, even empty, compression is on by default. */
    public static final String SECTION = "compression";

    public static final ConfigKey<Boolean> ENABLED = ConfigKey.builder("compression.enabled", ValueType.BOOLEAN)
            .defaultsTo(false)
            .perRule()
            .description("Whether responses of the listed types are compressed for clients that accept it. If the"
                    + " section compression is present, even empty, the default is true.");
    public static final ConfigKey<List<String>> ENCODINGS = ConfigKey.builder("compression.encodings", ValueType.NAMES)
            .defaultsTo(List.of("br", "zstd", "gzip"))
            .perRule()
            .description("The encodings, the preferred one first: br, zstd, gzip. The client's weights in"
                    + " Accept-Encoding decide; between equal weights, the first in this list.");
    public static final ConfigKey<List<String>> TYPES = ConfigKey.builder("compression.types", ValueType.NAMES)
            .defaultsTo(List.of(
                    "text/html",
                    "text/css",
                    "text/plain",
                    "text/xml",
                    "text/javascript",
                    "text/markdown",
                    "text/csv",
                    "application/javascript",
                    "application/json",
                    "application/ld+json",
                    "application/manifest+json",
                    "application/xml",
                    "application/xhtml+xml",
                    "application/rss+xml",
                    "application/atom+xml",
                    "application/wasm",
                    "image/svg+xml"))
            .perRule()
            .description("Media types that are compressed; text/* means all subtypes of text.");
    public static final ConfigKey<Long> MIN_SIZE = ConfigKey.builder("compression.min_size", ValueType.SIZE)
            .within(0L, 1L << 30)
            .defaultsTo(1024L)
            .perRule()
            .description("Smallest content that is compressed. Content of unknown length is always compressed.");
    public static final ConfigKey<Long> MAX_SIZE = ConfigKey.builder("compression.max_size", ValueType.SIZE)
            .within(1024L, 1L << 40)
            .defaultsTo(16L << 20)
            .perRule()
            .description("Largest content that is compressed, if its length is known.");
    public static final ConfigKey<Integer> BR_LEVEL = ConfigKey.builder("compression.br_level", ValueType.INTEGER)
            .within(0, 11)
            .defaultsTo(5)
            .perRule()
            .description("Level of br. 11 compresses most, but is about a hundred times slower than 5.");
    public static final ConfigKey<Integer> ZSTD_LEVEL = ConfigKey.builder("compression.zstd_level", ValueType.INTEGER)
            .within(1, 19)
            .defaultsTo(6)
            .perRule()
            .description("Level of zstd. 19 compresses most and is slowest.");
    public static final ConfigKey<Integer> GZIP_LEVEL = ConfigKey.builder("compression.gzip_level", ValueType.INTEGER)
            .within(1, 9)
            .defaultsTo(6)
            .perRule()
            .description("Level of gzip. 9 compresses most and is slowest.");

    /** Path of the section about dictionaries. If it is present, even empty, they are on by default. */
    public static final String DICTIONARIES = SECTION + ".dictionaries";

    public static final ConfigKey<Boolean> DICTIONARIES_ENABLED = ConfigKey.builder(
                    "compression.dictionaries.enabled", ValueType.BOOLEAN)
            .defaultsTo(false)
            .perRule()
            .description("Whether stored responses with Use-As-Dictionary are dictionaries for later responses"
                    + " (RFC 9842). If the section dictionaries is present, even empty, the default is true.");
    public static final ConfigKey<List<String>> DICTIONARIES_ENCODINGS = ConfigKey.builder(
                    "compression.dictionaries.encodings", ValueType.NAMES)
            .defaultsTo(List.of("dcb", "dcz"))
            .perRule()
            .description("The encodings with a dictionary, the preferred one first: dcb (Brotli, at br_level), dcz"
                    + " (Zstandard, at zstd_level).");
    public static final ConfigKey<Long> DICTIONARIES_MAX_SIZE = ConfigKey.builder(
                    "compression.dictionaries.max_size", ValueType.SIZE)
            .within(1024L, 16L << 20)
            .defaultsTo(2L << 20)
            .perRule()
            .description("Largest response, after decoding, that becomes a dictionary. compression.dictionaries.memory"
                    + " must be at least 6 x max_size + max(max_size / 4, 256 KiB) + 4 KiB.");
    public static final ConfigKey<Long> DICTIONARIES_MEMORY = ConfigKey.builder(
                    "compression.dictionaries.memory", ValueType.SIZE)
            .within(1L << 20, 4L << 30)
            .defaultsTo(32L << 20)
            .description("Memory of all dictionaries; beyond it, those not used for the longest time are dropped.");

    private CompressionKeys() {}

    /** Returns true if dictionaries are on when this key is set and {@link #DICTIONARIES_ENABLED} is not. */
    public static boolean turnsOnDictionaries(ConfigKey<?> key) {
        return key.path().startsWith(DICTIONARIES + ".");
    }

    /** Returns true if compression is on when this key is set and {@link #ENABLED} is not. */
    public static boolean turnsOn(ConfigKey<?> key) {
        return key.path().startsWith(SECTION + ".");
    }
}
