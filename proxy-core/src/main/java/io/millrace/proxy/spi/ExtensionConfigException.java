package io.millrace.proxy.spi;

/** A fault in the configuration of an extension, with its place. */
public class ExtensionConfigException extends Exception {
    private static final long serialVersionUID = 1L;

    private final String place;
    private final String key;

    /**
     * Creates a fault. Extensions call {@link ExtensionConfig#problem}, which knows the place.
     *
     * @param place file, line and column, such as {@code millrace.yaml:12:3}; empty if unknown
     * @param key path of the key below {@code config} of the entry, such as {@code service.url}
     * @param message the fault, without place and key
     */
    public ExtensionConfigException(String place, String key, String message) {
        super(message);
        this.place = place;
        this.key = key;
    }

    /** File, line and column of the value; empty if unknown. */
    public final String place() {
        return place;
    }

    /** The path of the key below {@code config} of the entry. */
    public final String key() {
        return key;
    }
}
