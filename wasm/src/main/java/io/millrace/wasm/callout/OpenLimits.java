package io.millrace.wasm.callout;

import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/** The limits of the calls of one client that are open at a time, and of the bytes of their contents. Thread-safe. */
final class OpenLimits {
    /** Limit of the calls that are open. */
    static final int CALLS_MAX = 256;

    /** The reason for which a call fails at the limit of the bytes. */
    static final String BYTES_REASON =
            "the contents of open calls have more bytes than the limit of " + CalloutSettings.BYTES_MAX;

    private final Lock lock = new ReentrantLock();
    private int calls;
    private long bytes;

    /** The share of one call in the limits, until the module receives the result. */
    final class Slot {
        private long held;
        private boolean isReleased;

        private Slot() {}

        /** Adds bytes of the request or the response. Returns false at the limit, and after {@link #release}. */
        boolean reserve(long added) {
            lock.lock();
            try {
                if (isReleased || added > CalloutSettings.BYTES_MAX - bytes) {
                    return false;
                }
                held += added;
                bytes += added;
                return true;
            } finally {
                lock.unlock();
            }
        }

        /** Gives the share back. Further calls have no effect. */
        void release() {
            lock.lock();
            try {
                if (!isReleased) {
                    isReleased = true;
                    calls--;
                    bytes -= held;
                }
            } finally {
                lock.unlock();
            }
        }
    }

    /** Returns a slot for a call; null at the limit. */
    @Nullable
    Slot open() {
        lock.lock();
        try {
            if (calls >= CALLS_MAX) {
                return null;
            }
            calls++;
            return new Slot();
        } finally {
            lock.unlock();
        }
    }

    /** The number of open calls. */
    int calls() {
        lock.lock();
        try {
            return calls;
        } finally {
            lock.unlock();
        }
    }
}
