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
}
