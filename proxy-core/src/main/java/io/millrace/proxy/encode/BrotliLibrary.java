package io.millrace.proxy.encode;

import com.aayushatharva.brotli4j.Brotli4jLoader;
import com.aayushatharva.brotli4j.decoder.BrotliInputStream;
import com.aayushatharva.brotli4j.encoder.BrotliOutputStream;
import com.aayushatharva.brotli4j.encoder.Encoder;
import com.aayushatharva.brotli4j.encoder.PreparedDictionary;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.ByteBuffer;

/** The only class that uses brotli4j, an optional dependency. */
final class BrotliLibrary {
    /** Brotli's code for a raw dictionary, whose bytes have no format of their own. */
    private static final int RAW = 0;

    /** The least quality that searches in dictionaries. */
    private static final int DICTIONARY_LEVEL_MIN = 5;

    private BrotliLibrary() {}

    /** Loads the native library. Returns false if there is none for this machine. */
    static boolean isLoaded() {
        return Brotli4jLoader.isAvailable();
    }

    static InputStream decoder(InputStream from) throws IOException {
        return new BrotliInputStream(from);
    }

    /** Returns an encoder that writes to a stream. */
    static OutputStream encoder(OutputStream to, int level) throws IOException {
        return new BrotliOutputStream(
                to, new Encoder.Parameters().setQuality(level).setWindow(ContentEncoders.WINDOW_BITS));
    }

    /**
     * Returns search tables for a dictionary, which are freed when they are no longer referenced.
     *
     * @param dictionary a direct buffer, kept by the tables
     */
    static Object prepare(ByteBuffer dictionary) {
        Brotli4jLoader.ensureAvailability();
        return Encoder.prepareDictionary(dictionary, RAW);
    }

    /**
     * Returns an encoder with a dictionary that writes to a stream.
     *
     * @param prepared the result of {@link #prepare}
     */
    static OutputStream encoder(OutputStream to, int level, Object prepared) throws IOException {
        BrotliOutputStream stream = new BrotliOutputStream(
                to,
                new Encoder.Parameters()
                        .setQuality(Math.max(level, DICTIONARY_LEVEL_MIN))
                        .setWindow(ContentEncoders.WINDOW_BITS));
        boolean isAttached = false;
        try {
            stream.attachDictionary((PreparedDictionary) prepared);
            isAttached = true;
            return stream;
        } finally {
            if (!isAttached) {
                stream.close();
            }
        }
    }

    /** @param dictionary a direct buffer */
    static InputStream decoder(InputStream from, ByteBuffer dictionary) throws IOException {
        BrotliInputStream stream = new BrotliInputStream(from);
        boolean isAttached = false;
        try {
            stream.attachDictionary(dictionary);
            isAttached = true;
            return stream;
        } finally {
            if (!isAttached) {
                stream.close();
            }
        }
    }
}
