package io.millrace.wasm.body;

import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;

/** The limit of the bytes of all contents that the modules of one extension hold at a time. Thread-safe. */
public final class HeldBytes {
    /** Limit of the bytes of all contents, and thus of one. */
    public static final long BYTES_MAX = 64L << 20;

    private final Lock lock = new ReentrantLock();
    private long bytes;

    /** The share of one content. */
    final class Share {
        private long held;
        private boolean isReleased;

        private Share() {}

        /** Sets the size of the share. Returns false at the limit, and after {@link #release}; then it is unchanged. */
        boolean resize(long size) {
            lock.lock();
            try {
                if (isReleased || size - held > BYTES_MAX - bytes) {
                    return false;
                }
                bytes += size - held;
                held = size;
                return true;
            } finally {
                lock.unlock();
            }
        }

        /** Gives the share back. Idempotent. */
        void release() {
            lock.lock();
            try {
                isReleased = true;
                bytes -= held;
                held = 0;
            } finally {
                lock.unlock();
            }
        }
    }

    Share open() {
        return new Share();
    }

    /** The bytes of all contents. */
    public long bytes() {
        lock.lock();
        try {
            return bytes;
        } finally {
            lock.unlock();
        }
    }
}
