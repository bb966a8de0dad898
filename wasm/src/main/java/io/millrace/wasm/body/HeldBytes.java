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

        /** Sets the size of the share. Returns false, without a change, at the limit and after {@link #release}. */
        boolean resize(long size) {
            return resize(size, size) >= 0;
        }

        /**
         * Sets the size of the share to {@code wanted}. If too few bytes are left, sets it to {@code least} plus half
         * of the remaining bytes: a content that grows further is then copied only a few times, and others still have
         * space.
         *
         * @return the size; -1, without a change, if fewer than {@code least} bytes are left, or after {@link #release}
         */
        long resize(long least, long wanted) {
            lock.lock();
            try {
                long available = BYTES_MAX - bytes + held;
                if (isReleased || least > available) {
                    return -1;
                }
                long size = wanted <= available ? wanted : least + (available - least) / 2;
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
