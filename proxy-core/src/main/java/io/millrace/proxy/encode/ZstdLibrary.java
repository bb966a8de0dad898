package io.millrace.proxy.encode;

import com.github.luben.zstd.ZstdInputStreamNoFinalizer;
import com.github.luben.zstd.ZstdOutputStreamNoFinalizer;
import com.github.luben.zstd.util.Native;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;

/** The only class that uses zstd-jni, an optional dependency. */
final class ZstdLibrary {
    /** Window of 8 MiB, the limit in HTTP (RFC 9659). It bounds the memory of a decoder. */
    private static final int WINDOW_BITS_MAX = 23;

    private ZstdLibrary() {}

    /** Loads the native library. Returns false if there is none for this machine. */
    static boolean isLoaded() {
        Native.load();
        return Native.isLoaded();
    }

    static InputStream decoder(InputStream from) throws IOException {
        return new ZstdInputStreamNoFinalizer(from).setLongMax(WINDOW_BITS_MAX);
    }

    static OutputStream over(OutputStream to, int level) throws IOException {
        return new ZstdOutputStreamNoFinalizer(to, level).setWindowLog(ContentEncoders.WINDOW_BITS);
    }

    /**
     * Returns an encoder with a dictionary. A dictionary can be used up to the end of the window only. So the window is as
     * long as the content, up to the limit that each client accepts (RFC 9842 s5).
     *
     * @param length bytes of the content; -1 if it is not known, and is expected to be about as long as the dictionary
     */
    static OutputStream over(OutputStream to, int level, byte[] dictionary, long length) throws IOException {
        long bytes = length < 0 ? 2L * dictionary.length : length;
        int bits = Long.SIZE - Long.numberOfLeadingZeros(Math.max(1, bytes - 1));
        int window = Math.max(ContentEncoders.WINDOW_BITS, Math.min(bits, WINDOW_BITS_MAX));
        return new ZstdOutputStreamNoFinalizer(to, level).setWindowLog(window).setDict(dictionary);
    }

    static InputStream decoder(InputStream from, byte[] dictionary) throws IOException {
        return new ZstdInputStreamNoFinalizer(from).setLongMax(WINDOW_BITS_MAX).setDict(dictionary);
    }
}
