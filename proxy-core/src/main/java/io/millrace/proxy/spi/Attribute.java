package io.millrace.proxy.spi;

/**
 * The key of a value that an extension attaches to a request. Two objects are different keys, even if their names are
 * equal, so an extension keeps each key in a constant. The value lives as long as the request.
 *
 * @param <T> type of the value
 */
@SuppressWarnings("UnusedTypeParameter") // used by the methods that take a key and its value
public final class Attribute<T> {
    private final String name;

    private Attribute(String name) {
        this.name = name;
    }

    /**
     * Creates a key.
     *
     * @param name for display only
     */
    public static <T> Attribute<T> of(String name) {
        return new Attribute<>(name);
    }

    /** The name. */
    @Override
    public String toString() {
        return name;
    }
}
