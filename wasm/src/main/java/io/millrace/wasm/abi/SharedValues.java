package io.millrace.wasm.abi;

import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/** The shared data of all instances of one extension. It survives a reload of the module. Thread-safe. */
public final class SharedValues {
    /** Limit of the bytes of all keys and values. */
    public static final int BYTES_MAX = 1 << 20;

    /** Limit of keys. */
    public static final int KEYS_MAX = 10_000;

    /** A value. Immutable. */
    public static final class Value {
        private final byte[] bytes;
        private final int version;

        Value(byte[] bytes, int version) {
            this.bytes = bytes;
            this.version = version;
        }

        /** The bytes. Borrowed, and must not be changed. */
        public byte[] bytes() {
            return bytes;
        }

        /** The number for compare-and-set, never 0. */
        public int version() {
            return version;
        }
    }

    private final Lock lock = new ReentrantLock();
    private final Map<String, Value> values = new HashMap<>();
    private int versions;
    private long usedBytes;

    /** Returns a value; null if the key has none. */
    @Nullable
    public Value get(String key) {
        lock.lock();
        try {
            return values.get(key);
        } finally {
            lock.unlock();
        }
    }

    /**
     * Sets a value. An empty value removes the key.
     *
     * @param version the version that the key must have; 0 for any
     * @return the status for the module
     */
    public int set(String key, byte[] bytes, int version) {
        lock.lock();
        try {
            Value before = values.get(key);
            if (version != 0 && (before == null || before.version() != version)) {
                return Status.CAS_MISMATCH;
            }
            long freed = before == null ? 0 : key.length() + before.bytes().length;
            if (bytes.length == 0) {
                values.remove(key);
                usedBytes -= freed;
                return Status.OK;
            }
            long used = usedBytes - freed + key.length() + bytes.length;
            if (used > BYTES_MAX || (before == null && values.size() >= KEYS_MAX)) {
                return Status.INTERNAL_FAILURE;
            }
            versions = versions == Integer.MAX_VALUE ? 1 : versions + 1;
            values.put(key, new Value(bytes, versions));
            usedBytes = used;
            return Status.OK;
        } finally {
            lock.unlock();
        }
    }
}
