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
            return resize(size, size) >= 0;
        }

        /**
         * Sets the size of the share to the wanted one. Near the limit, to the least one and half of the bytes that are left:
         * then a content that grows further is copied few times, and others still have room.
         *
         * @return the size; -1 at the limit for the least size, and after {@link #release}; then it is unchanged
         */
        long resize(long least, long wanted) {
            lock.lock();
            try {
                long most = BYTES_MAX - bytes + held;
                if (isReleased || least > most) {
                    return -1;
                }
                long size = wanted <= most ? wanted : least + (most - least) / 2;
                bytes += size - held;
                held = size;
                return size;
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
