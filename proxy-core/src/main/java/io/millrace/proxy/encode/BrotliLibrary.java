package io.millrace.proxy.encode;

import com.aayushatharva.brotli4j.Brotli4jLoader;
import com.aayushatharva.brotli4j.decoder.BrotliInputStream;
import com.aayushatharva.brotli4j.encoder.BrotliOutputStream;
import com.aayushatharva.brotli4j.encoder.Encoder;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;

/** The only class that uses brotli4j, an optional dependency. */
final class BrotliLibrary {
    private BrotliLibrary() {}

    /** Loads the native library. Returns false if there is none for this machine. */
    static boolean isLoaded() {
        return Brotli4jLoader.isAvailable();
    }

    static InputStream decoder(InputStream from) throws IOException {
        return new BrotliInputStream(from);
    }

    static OutputStream over(OutputStream to, int level) throws IOException {
        return new BrotliOutputStream(
                to, new Encoder.Parameters().setQuality(level).setWindow(ContentEncoders.WINDOW_BITS));
    }
}
