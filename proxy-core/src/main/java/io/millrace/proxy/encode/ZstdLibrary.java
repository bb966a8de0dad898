package io.millrace.proxy.encode;

import com.github.luben.zstd.ZstdInputStreamNoFinalizer;
import com.github.luben.zstd.ZstdOutputStreamNoFinalizer;
import com.github.luben.zstd.util.Native;
import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;

/** The only class that uses zstd-jni, an optional dependency. */
final class ZstdLibrary {
    /** Largest window that a decoder accepts, as a binary logarithm. Bounds the memory of a decoder. */
    private static final int WINDOW_BITS_MAX = ContentEncoders.WINDOW_BITS_MAX;

    private ZstdLibrary() {}

    /** Loads the native library. Returns false if there is none for this machine. */
    static boolean isLoaded() {
        Native.load();
        return Native.isLoaded();
    }

    /** Sets a parameter of a stream. */
    private interface Setting<S> {
        void set(S stream) throws IOException;
    }

    /**
     * Applies a setting to a stream, and returns the stream. Closes the stream if the setting fails, since streams have
     * memory outside the Java heap.
     */
    private static <S extends Closeable> S with(S stream, Setting<S> setting) throws IOException {
        boolean isSet = false;
        try {
            setting.set(stream);
            isSet = true;
            return stream;
        } finally {
            if (!isSet) {
                stream.close();
            }
        }
    }

    static InputStream decoder(InputStream from) throws IOException {
        return with(new ZstdInputStreamNoFinalizer(from), stream -> stream.setLongMax(WINDOW_BITS_MAX));
    }

    static OutputStream encoder(OutputStream to, int level) throws IOException {
        return with(
                new ZstdOutputStreamNoFinalizer(to, level),
                stream -> setWindow(stream, level, ContentEncoders.WINDOW_BITS));
    }

    /** Sets the window, and for slow levels the table sizes, which would otherwise be up to 80 MiB for any window. */
    private static ZstdOutputStreamNoFinalizer setWindow(ZstdOutputStreamNoFinalizer stream, int level, int bits)
            throws IOException {
        stream.setWindowLog(bits);
        return level < ContentEncoders.ZSTD_LEVEL_TABLES
                ? stream
                : stream.setChainLog(bits).setHashLog(bits);
    }

    /**
     * Returns an encoder with a dictionary.
     *
     * @param length bytes of the content; -1 if it is not known
     */
    static OutputStream encoder(OutputStream to, int level, byte[] dictionary, long length) throws IOException {
        int window = ContentEncoders.windowBits(dictionary.length, length);
        return with(new ZstdOutputStreamNoFinalizer(to, level), stream -> setWindow(stream, level, window)
                .setDict(dictionary));
    }

    static InputStream decoder(InputStream from, byte[] dictionary) throws IOException {
        return with(new ZstdInputStreamNoFinalizer(from), stream -> stream.setLongMax(WINDOW_BITS_MAX)
                .setDict(dictionary));
    }
}
