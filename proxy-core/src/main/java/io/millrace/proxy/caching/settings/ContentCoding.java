package io.millrace.proxy.caching.settings;

import org.jspecify.annotations.Nullable;

/** A content coding in which this proxy can encode responses (RFC 9110 s8.4.1). Immutable. */
public enum ContentCoding {
    /** Brotli (RFC 7932). */
    BROTLI("br"),
    /** Zstandard (RFC 8878). */
    ZSTD("zstd"),
    /** gzip (RFC 1952). */
    GZIP("gzip"),
    /** Brotli with a dictionary that the client names (RFC 9842 s4). */
    DICTIONARY_BROTLI("dcb"),
    /** Zstandard with a dictionary that the client names (RFC 9842 s5). */
    DICTIONARY_ZSTD("dcz");

    private final String token;

    ContentCoding(String token) {
        this.token = token;
    }

    /** The name in Accept-Encoding and Content-Encoding. */
    public String token() {
        return token;
    }

    /** Returns true if the coding needs a dictionary that the client has (RFC 9842). */
    public boolean usesDictionary() {
        return this == DICTIONARY_BROTLI || this == DICTIONARY_ZSTD;
    }

    /** Returns the coding with this name, in lower case; null for any other name. */
    public static @Nullable ContentCoding ofToken(String token) {
        for (ContentCoding coding : values()) {
            if (coding.token.equals(token)) {
                return coding;
            }
        }
        return null;
    }
}
