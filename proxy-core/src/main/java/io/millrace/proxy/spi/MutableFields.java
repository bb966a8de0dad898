package io.millrace.proxy.spi;

/**
 * Fields that a hook may change. Each change is visible to the next read of this object.
 *
 * <p>The proxy itself writes the fields of message framing, of connections and of conditional requests, for example
 * Content-Length and Connection. A change of such a field fails with an IllegalArgumentException. One call may add at
 * most 64 lines and 16 KiB of names and values. A call beyond these limits fails with an IllegalStateException.
 */
public interface MutableFields extends Fields {
    /**
     * Replaces all lines with the given name by one line at the end.
     *
     * @throws IllegalArgumentException if the name or the value is not valid, or the proxy writes this field itself
     */
    void set(String name, String value);

    /**
     * Appends a line.
     *
     * @throws IllegalArgumentException as {@link #set}
     */
    void add(String name, String value);

    /**
     * Removes all lines with the given name.
     *
     * @throws IllegalArgumentException as {@link #set}
     */
    void remove(String name);
}
