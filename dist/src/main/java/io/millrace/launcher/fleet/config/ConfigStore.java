package io.millrace.launcher.fleet.config;

import java.io.IOException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The entries of the fleet's configuration on the NATS servers, by key. Methods block. Thread-safe. */
public interface ConfigStore {
    /**
     * An entry.
     *
     * @param version revision of the store at which this value was written
     */
    @SuppressWarnings("ArrayRecordComponent") // never compared
    record Entry(byte[] value, long version) {}

    /** Returns an entry; null if there is none. */
    @Nullable
    Entry get(String key) throws IOException;

    /**
     * Stores a value if the entry still has the given version.
     *
     * @param version 0 if there must be no entry
     * @return false if the entry has another version
     */
    boolean replace(String key, byte[] value, long version) throws IOException;

    /** Stores a value. */
    void put(String key, byte[] value) throws IOException;

    /** Deletes an entry, if it exists. */
    void delete(String key) throws IOException;

    /** Returns the keys of all entries. */
    List<String> keys() throws IOException;
}
