package io.millrace.proxy.spi;

import org.jspecify.annotations.Nullable;

/**
 * The fields of a message, as lines in their order (RFC 9110 section 5). The object is a view of bytes: texts are
 * created when a method returns them. Names are compared without regard to case. Values are decoded as ISO 8859-1.
 *
 * <p>Valid during the call of the hook only, and on its thread.
 */
public interface Fields {
    /** The number of lines. */
    int size();

    /** The name of a line, as it was received. */
    String name(int line);

    /** The value of a line, without white space around it. */
    String value(int line);

    /** Returns true if the name of a line is {@code name}. Creates no text. */
    boolean isNamed(int line, String name);

    /** Returns true if the value of a line is {@code value}, compared by bytes. Creates no text. */
    boolean hasValue(int line, String value);

    /**
     * Returns the index of the first line with the given name; -1 if there is none.
     *
     * @throws IllegalArgumentException if the text is not a field name
     */
    int find(String name);

    /** Returns the index of the next line with the given name after the line {@code after}; -1 if there is none. */
    int next(String name, int after);

    /** Returns true if there is a line with the name. */
    default boolean contains(String name) {
        return find(name) >= 0;
    }

    /** Returns the value of the first line with the given name; null if there is none. */
    default @Nullable String get(String name) {
        int line = find(name);
        return line < 0 ? null : value(line);
    }
}
